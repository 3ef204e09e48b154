"""Whether the runs of an upload can be stored straight away: showing them first takes as long as storing them.

An upload is shown before it is stored so that a person can be asked about runs that are in conflict. Of very many runs
that are told apart by their names alone it is known beforehand that none is: they are new, or stored as they come.
"""

from collections.abc import Container, Iterator, Sequence
from itertools import chain, islice

from importers import run_records
from importers.model import Fragment
from perfdb.results.alike.again import stored_again
from perfdb.results.ingest.fragment_spool import Fragments
from perfdb.results.ingest.make_records import pattern_of
from perfdb.results.models import Run, Study, Upload
from perfdb.results.runs.aliases import aliases_of

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
    return fragments.are_distinct and _are_new_or_the_same(upload.study, fragments)


def are_told_by_logs(upload: Upload) -> bool:
    """Whether nothing is known of its runs but what their logs say."""
    given = upload.facts or upload.corrections or upload.study.run_id_pattern
    return not given and not aliases_of(upload.study).meanings


def _are_new_or_the_same(study: Study, fragments: Fragments) -> bool:
    """Whether each run is one that is not stored under any number, or that is stored with this very evidence."""
    runs = Run.objects.filter(study=study)
    some = (runs.filter(run_id__among=names) for names in _some(iter(fragments.run_ids)))
    stored = frozenset(chain.from_iterable(each.values_list("run_id", flat=True).distinct() for each in some))
    return not stored or all(_are_the_same(study, batch, stored) for batch in fragments.batches(pattern_of(study)))


def _are_the_same(study: Study, fragments: Sequence[Fragment], names: Container[str | None]) -> bool:
    """Whether those of these fragments that have such names are each all of a stored run."""
    places = [place for place, each in enumerate(fragments) if each.run_id in names]
    return len(stored_again(study, fragments, places)) == len(places)


def _some(names: Iterator[str]) -> Iterator[list[str]]:
    while some := list(islice(names, _AT_ONCE)):
        yield some
