"""Storing runs that nobody has to be asked about, in the caller's transaction that holds the study.

While it goes on the database waits for it, so that what is done for each run is done in C.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TypeVar

import numpy as np

from perfdb.results import binary
from perfdb.results.alike.batch import Prepared
from perfdb.results.alike.rows import Alike, outcome_rows
from perfdb.results.alike.table import Flags
from perfdb.results.models import Run, Study, UploadRun
from perfdb.results.runs import write
from perfdb.results.runs.experiments import Stored, Vocabulary

_T = TypeVar("_T")


def free(study: Study, prepared: Prepared) -> Flags:
    """The runs of whose name no other is stored, of those that nobody has to be asked about."""
    names = [each.run_id for each, good in zip(prepared.fragments, prepared.good.tolist(), strict=True) if good]
    stored = set(Run.objects.filter(study=study, run_id__among=names).values_list("run_id", flat=True))
    if not stored:
        return prepared.good
    found: Flags = prepared.good & np.array([each.run_id not in stored for each in prepared.fragments])
    return found


def store(vocabulary: Vocabulary, upload: int, alike: Alike, chosen: Flags) -> None:
    """Write the runs that are ``chosen``, which are good ones, with what is to be said of them and of the upload."""
    prepared, rows = alike.runs, alike.rows
    at = np.flatnonzero(chosen[rows.places]).tolist()
    places = rows.places[at].tolist()
    keys = _keys(vocabulary.experiments(_at(rows.experiments, at)))
    ids = write.new_ids(len(at))
    heads = list(map(binary.int8, ids))
    _write("run", write.NEW_RUN, heads, keys, _at(rows.runs, at))
    _write("run_evidence", write.EVIDENCE, heads, _at(rows.evidence, at))
    _write("run_source", write.SOURCE, heads, _at(rows.sources, at))
    if rows.traces:
        of_place = dict(zip(at, heads, strict=True))
        traces = [(of_place[place], row) for place, row in rows.traces if place in of_place]
        _write("trace", write.TRACE, [head for head, _ in traces], [row for _, row in traces])
    numbers = map(binary.int4, (rows.places[at] + alike.first).tolist())
    _write("upload_run", write.UPLOAD_RUN, heads, numbers, _at(rows.outcomes, at))
    said = [(prepared.said[place], pk) for place, pk in zip(places, ids, strict=True) if place in prepared.said]
    write.copy_disagreements((each, pk) for record, pk in said for each in record.disagreements)
    write.copy_problems((each, pk, None) for record, pk in said for each in record.problems)
    write.copy_problems((each, None, upload) for record, _ in said for each in dict.fromkeys(record.problems))


def note_again(upload: int, alike: Alike, stored: Mapping[int, int]) -> None:
    """Note the file of runs that are stored already, and what became of them; ``stored``: their ids by their places."""
    rows = alike.rows
    at = np.flatnonzero(np.isin(rows.places, list(stored))).tolist()
    places = rows.places[at].tolist()
    heads = [binary.int8(stored[place]) for place in places]
    _write("run_source", write.SOURCE, heads, _at(rows.sources, at))
    numbers = [binary.int4(alike.first + place) for place in places]
    fragments = [alike.runs.fragments[place] for place in places]
    outcomes = outcome_rows(upload, fragments, UploadRun.Outcome.ALREADY_THERE)
    _write("upload_run", write.UPLOAD_RUN, heads, numbers, outcomes)


def _at(items: Sequence[_T], places: Sequence[int]) -> Sequence[_T]:
    """Those at some places in their order; mostly it is all of them."""
    return items if len(places) == len(items) else [items[place] for place in places]


def _keys(experiments: Sequence[Stored]) -> list[bytes]:
    """The keys of each run's experiment in a row of ``run``."""
    known = {
        pk: b"".join(
            map(binary.int8, (pk, each.study_id, each.system_id, each.level_id, each.workload_id, each.device_id))
        )
        for pk, each in {each.pk: each for each in experiments}.items()
    }
    return [known[each.pk] for each in experiments]


def _write(table: str, columns: Collection[str], heads: Sequence[bytes], *parts: Iterable[bytes]) -> None:
    """Write rows of which each is made of a head, which is the run's id, and of one of each of the parts."""
    begins = repeat(binary.fields(len(columns)), len(heads))
    write.copy_bytes(table, columns, chain.from_iterable(zip(begins, heads, *parts, strict=True)))
