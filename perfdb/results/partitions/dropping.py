"""Dropping all runs of a study that has a part of its own, which takes as long for a million as for one."""

from django.db import connection, transaction

from perfdb.results.models import DimensionCount, Experiment, RunCount, Study, StudyActivity
from perfdb.results.partitions import RUN, TABLES, execute, references


class SharedPartError(Exception):
    """The study stands in a part with others, or in the rest."""


def drop(study: Study) -> None:
    """Drop a study's runs with their evidence, what people attached to them, its experiments and its counts.

    Its uploads and their files stay, and so does the study. Raises SharedPartError.
    """
    part = _part_of(study)
    with transaction.atomic():
        execute(f"LOCK TABLE {', '.join(TABLES)} IN ACCESS EXCLUSIVE MODE")
        for table, column in references.to_runs():
            if table not in TABLES:
                execute(f'DELETE FROM {table} WHERE "{column}" IN (SELECT id FROM {RUN}_{part})')
        for table in reversed(TABLES):
            execute(f"DROP TABLE {table}_{part}")
        RunCount.objects.filter(experiment__study=study).delete()
        Experiment.objects.filter(study=study).delete()
        for counts in (DimensionCount, StudyActivity):
            counts._default_manager.filter(study=study).delete()


def _part_of(study: Study) -> str:
    """The number of the part that a study has for itself."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT substring(relname FROM '[0-9]+$') FROM pg_inherits JOIN pg_class ON oid = inhrelid "
            "WHERE inhparent = %s::regclass AND pg_get_expr(relpartbound, oid) = %s",
            [RUN, f"FOR VALUES IN ('{study.pk}')"],
        )
        found = cursor.fetchone()
    if found is None:
        raise SharedPartError(f"{study.title} has no part of its own")
    return str(found[0])
