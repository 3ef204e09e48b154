"""Fill an instance with the synthetic archive: ``python -m bench.fill RUNS``, in the instance's environment.

Runs are written by perfdb's own writer. A study that is there is not made again, so a cut-off filling goes on.
"""

import sys
from itertools import islice

import django
from django.db import connection, transaction


def main(runs: int) -> None:
    """Make the studies that are missing, each in one transaction, and let the planner look at them."""
    django.setup()
    from bench import archive
    from perfdb.results.models import Study
    from perfdb.results.runs.experiments import Vocabulary
    from perfdb.results.runs.write import write

    present = set(Study.objects.values_list("slug", flat=True))
    missing = [study for study in range(archive.studies(runs)) if archive.slug(study) not in present]
    left = runs - archive.RUNS_PER_STUDY * (archive.studies(runs) - len(missing))
    for study in missing:
        with transaction.atomic():
            row = Study.objects.create(slug=archive.slug(study), title=f"Synthetic study {study}")
            made = list(islice(archive.records(study), left))
            write(Vocabulary(row), [(record, ()) for record in made])
            left -= len(made)
    if missing:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    main(int(sys.argv[1]))
