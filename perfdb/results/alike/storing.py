"""Storing runs that nobody has to be asked about, in the caller's transaction that holds the study."""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from importers.collate import content_digest
from perfdb.results import binary, load
from perfdb.results.alike.batch import Prepared
from perfdb.results.alike.circumstances import Circumstances
from perfdb.results.alike.listings import trace_rows
from perfdb.results.alike.rows import Batch, Common, Row, evidence_rows, outcome_rows, run_rows, source_rows
from perfdb.results.alike.table import Flags
from perfdb.results.experiments import Stored, Vocabulary
from perfdb.results.measures import ensure_slots
from perfdb.results.models import Run, Study


def free(study: Study, prepared: Prepared) -> Flags:
    """The runs of whose name no other is stored, of those that nobody has to be asked about."""
    names = [each.run_id for each, good in zip(prepared.fragments, prepared.good, strict=True) if good]
    stored = set(Run.objects.filter(study=study, run_id__among=names).values_list("run_id", flat=True))
    if not stored:
        return prepared.good
    found: Flags = prepared.good & np.array([each.run_id not in stored for each in prepared.fragments])
    return found


def _experiments(vocabulary: Vocabulary, circumstances: Sequence[Circumstances]) -> list[Stored]:
    """The experiments of runs, most of which have theirs in common with others."""
    distinct = {id(each): each.configuration for each in circumstances}
    found = dict(zip(distinct, vocabulary.experiments(list(distinct.values())), strict=True))
    return [found[id(each)] for each in circumstances]


def store(vocabulary: Vocabulary, common: Common, prepared: Prepared, numbers: Sequence[int], chosen: Flags) -> None:
    """Write the runs that are ``chosen``; ``numbers`` are their places in the upload."""
    rows = np.flatnonzero(chosen)
    own = [
        Row(
            *(prepared.fragments[at], prepared.circumstances[at], prepared.fact_lines[at]),
            *(prepared.shown[at], numbers[at]),
        )
        for at in rows.tolist()
    ]
    table = prepared.figures.table
    used: Flags = np.any(table.present[chosen], axis=0)
    batch = Batch(
        common,
        own,
        prepared.figures.chosen(rows, ensure_slots(compress(table.measures, used))),
        load.new_ids(len(own)),
        _experiments(vocabulary, [row.circumstances for row in own]),
        [content_digest(row.fragment) for row in own],
    )
    load.copy_bytes("run", load.NEW_RUN, run_rows(batch))
    load.copy_bytes("run_evidence", load.EVIDENCE, evidence_rows(batch))
    load.copy_bytes("run_source", load.SOURCE, source_rows(batch))
    if prepared.listings:
        heads = (
            binary.int8(pk) + binary.int8(common.study) + binary.int8(artifact)
            for pk, artifact in zip(batch.ids, batch.artifacts, strict=True)
        )
        of_rows = dict(zip(rows.tolist(), heads, strict=True))
        load.copy_bytes("trace", load.TRACE, trace_rows(prepared.listings, of_rows))
    load.copy_bytes("upload_run", load.UPLOAD_RUN, outcome_rows(batch))
    said = [(prepared.said[row], pk) for row, pk in zip(rows.tolist(), batch.ids, strict=True) if row in prepared.said]
    load.copy_disagreements((each, pk) for record, pk in said for each in record.disagreements)
    load.copy_problems((each, pk, None) for record, pk in said for each in record.problems)
    load.copy_problems((each, None, common.upload) for record, _ in said for each in dict.fromkeys(record.problems))
