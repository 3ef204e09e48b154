"""Runs that come again: what is brought is stored already, so that nothing but its file and its outcome is noted."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from importers.collate import content_digest
from importers.model import Fragment
from perfdb.results.ingest.fragment_claims import versions
from perfdb.results.models import Run, RunSource, Study

_Digests = Mapping[int, set[str]]
"""What runs are made of, by their ids."""


def stored_again(study: Study, fragments: Sequence[Fragment], places: Sequence[int]) -> dict[int, int]:
    """The stored runs that are made of one of these fragments and of nothing else, by the fragments' places.

    Only those at some ``places`` are looked at. Left out are those about which more has to be known: several runs of
    the name are made of it, two of the fragments are of one run, or an importer has changed since a file of such a run
    was read. Withdrawn runs do not count. Every condition is one of `placing` or stricter.
    """
    named = {place: fragments[place].run_id for place in places}
    runs = _of_names(study, {name for name in named.values() if name is not None})
    found = {place: _made_of(fragments[place], runs.get(name or "", {})) for place, name in named.items()}
    taken = Counter(found.values())
    return {place: run for place, run in found.items() if run is not None and taken[run] == 1}


def _made_of(fragment: Fragment, runs: _Digests) -> int | None:
    digest = content_digest(fragment)
    holding = [run for run, digests in runs.items() if digest in digests]
    return holding[0] if len(holding) == 1 and runs[holding[0]] == {digest} else None


def _of_names(study: Study, names: Collection[str]) -> dict[str, _Digests]:
    """The runs of these names, but for names of which a file would be read otherwise today."""
    if not names:
        return {}
    sources = RunSource.objects.filter(study=study, run__study=study, run__run_id__among=list(names))
    rows = sources.exclude(run__status=Run.Status.WITHDRAWN)
    current, stale = versions(), set()
    found: dict[str, dict[int, set[str]]] = defaultdict(dict)
    columns = ("run__run_id", "run_id", "digests", "format", "format_version")
    for name, run, digests, kind, version in rows.values_list(*columns):
        found[name].setdefault(run, set()).update(digests)
        if current.get(kind, version) != version:
            stale.add(name)
    return {name: runs for name, runs in found.items() if name not in stale}
