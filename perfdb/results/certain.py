"""Whether the runs of an upload can be stored straight away: showing them first takes as long as storing them.

An upload is shown before it is stored so that a person can be asked about runs that are in conflict. Of very many runs
that are told apart by their names alone it is known beforehand that none is.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from importers import run_records
from perfdb.results.fragments import Fragments
from perfdb.results.models import Run, Study, Upload

_AT_ONCE = 10_000


def is_whole(upload: Upload) -> bool:
    """Whether all its runs are stored or none: run records are, for they come from scripts."""
    return not upload.files.exclude(format=run_records.NAME).exists()


def is_certain(upload: Upload, fragments: Fragments) -> bool:
    """Whether nobody has to be asked about the runs that these fragments make.

    Runs that are all stored or none may be tried: those that cannot be are shown afterwards. What a person corrected
    may have given runs the names of others.
    """
    if upload.preview_asked or upload.corrections:
        return False
    if is_whole(upload):
        return True
    return fragments.are_distinct and not _any_stored(upload.study, fragments.run_ids)


def _any_stored(study: Study, run_ids: Iterable[str]) -> bool:
    runs = Run.objects.filter(study=study)
    return any(runs.filter(run_id__among=some).exists() for some in _some(iter(run_ids)))


def _some(names: Iterator[str]) -> Iterator[list[str]]:
    while some := list(islice(names, _AT_ONCE)):
        yield some
