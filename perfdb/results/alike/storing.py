"""Storing runs that nobody has to be asked about, in the caller's transaction that holds the study."""

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from perfdb.results import binary, load
from perfdb.results.alike.batch import Prepared
from perfdb.results.alike.rows import Alike
from perfdb.results.alike.table import Flags
from perfdb.results.experiments import Stored, Vocabulary
from perfdb.results.models import Run, Study


def free(study: Study, prepared: Prepared) -> Flags:
    """The runs of whose name no other is stored, of those that nobody has to be asked about."""
    names = [each.run_id for each, good in zip(prepared.fragments, prepared.good, strict=True) if good]
    stored = set(Run.objects.filter(study=study, run_id__among=names).values_list("run_id", flat=True))
    if not stored:
        return prepared.good
    found: Flags = prepared.good & np.array([each.run_id not in stored for each in prepared.fragments])
    return found


def store(vocabulary: Vocabulary, upload: int, alike: Alike, chosen: Flags) -> None:
    """Write the runs that are ``chosen``, which are good ones, with what is to be said of them and of the upload."""
    prepared, rows = alike.runs, alike.rows
    good = rows.places.tolist()
    at = np.flatnonzero(chosen[rows.places]).tolist()
    experiments = vocabulary.experiments([rows.experiments[place] for place in at])
    keys = {each.pk: _keys(each) for each in experiments}
    runs = {place: keys[each.pk] + rows.runs[place] for place, each in zip(at, experiments, strict=True)}
    ids = dict(zip(at, load.new_ids(len(at)), strict=True))
    heads = {place: binary.int8(pk) for place, pk in ids.items()}
    _write("run", load.NEW_RUN, heads, runs.items())
    _write("run_evidence", load.EVIDENCE, heads, ((place, rows.evidence[place]) for place in at))
    _write("run_source", load.SOURCE, heads, ((place, rows.sources[place]) for place in at))
    if rows.traces:
        _write("trace", load.TRACE, heads, (each for each in rows.traces if each[0] in heads))
    numbered = ((place, binary.int4(alike.first + good[place]) + rows.outcomes[place]) for place in at)
    _write("upload_run", load.UPLOAD_RUN, heads, numbered)
    said = [(prepared.said[good[place]], pk) for place, pk in ids.items() if good[place] in prepared.said]
    load.copy_disagreements((each, pk) for record, pk in said for each in record.disagreements)
    load.copy_problems((each, pk, None) for record, pk in said for each in record.problems)
    load.copy_problems((each, None, upload) for record, _ in said for each in dict.fromkeys(record.problems))


def _keys(each: Stored) -> bytes:
    numbers = (each.pk, each.study_id, each.system_id, each.level_id, each.workload_id, each.device_id)
    return b"".join(map(binary.int8, numbers))


def _write(table: str, columns: Collection[str], heads: Mapping[int, bytes], rows: Iterable[tuple[int, bytes]]) -> None:
    """Write rows, each with the place of its run; ``heads`` has the first field of a row, the run's id, by these."""
    begin = binary.fields(len(columns))
    load.copy_bytes(table, columns, (begin + heads[place] + row for place, row in rows))
