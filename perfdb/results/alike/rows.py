"""The rows of many runs in PostgreSQL's binary form, equal to those that `load` writes of single runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from json.encoder import encode_basestring_ascii as quoted
from typing import NamedTuple

import numpy as np

from importers.model import Fragment
from perfdb.analysis.metrics import Measure
from perfdb.results import binary, load
from perfdb.results.alike.circumstances import Circumstances
from perfdb.results.alike.figures import DERIVED, Figures
from perfdb.results.alike.table import Whole
from perfdb.results.experiments import Stored
from perfdb.results.models import Run, UploadRun
from perfdb.results.origins import BETWEEN
from perfdb.results.record import aware


class Row(NamedTuple):
    """A run: its log, what follows from its circumstances, the lines that say them, its main figures, and its number.

    ``shown`` are the figures as its summary has them; ``number`` is its place in the upload.
    """

    fragment: Fragment
    circumstances: Circumstances
    fact_lines: Sequence[int]
    shown: str
    number: int


class Common(NamedTuple):
    """What runs have in common; ``artifacts`` names each file's artifact, ``received`` is when the upload was."""

    study: int
    upload: int
    artifacts: Mapping[str, int]
    received: datetime


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that are to be written, all in the same order: their ids, experiments, and the digests of their logs."""

    common: Common
    rows: Sequence[Row]
    figures: Figures
    ids: Sequence[int]
    experiments: Sequence[Stored]
    digests: Sequence[str]

    @property
    def artifacts(self) -> list[int]:
        """The artifact of each run's log."""
        return [self.common.artifacts[row.fragment.file] for row in self.rows]


def run_rows(batch: Batch) -> Iterator[bytes]:
    """Rows of ``run``."""
    begin = binary.fields(len(load.NEW_RUN))
    distinct = {each.pk: each for each in batch.experiments}
    around = {pk: (_references(each), _dimensions(each), _factors(each)) for pk, each in distinct.items()}
    hot, values = _hot(batch.figures), _values(batch.figures)
    for pk, experiment, row, own, array in zip(batch.ids, batch.experiments, batch.rows, hot, values, strict=True):
        references, dimensions, factors = around[experiment.pk]
        fragment, tags = row.fragment, row.circumstances.tags
        identity = binary.int2(fragment.trial or 1) + binary.text(str(fragment.status)) + binary.text(_run_id(fragment))
        yield b"".join(
            (
                *(begin, binary.int8(pk), references, binary.moment(_started(fragment, batch.common.received)), own),
                *(dimensions, identity, factors, array),
                binary.array(binary.TEXT, [binary.text(tag) for tag in tags]) if tags else binary.NULL,
            )
        )


def _run_id(fragment: Fragment) -> str:
    return fragment.run_id or ""


def _started(fragment: Fragment, received: datetime) -> datetime:
    return received if fragment.taken is None else aware(fragment.taken, fragment.zone)


def _references(each: Stored) -> bytes:
    keys = (each.pk, each.study_id, each.system_id, each.level_id, each.workload_id, each.device_id)
    return b"".join(map(binary.int8, keys))


def _dimensions(each: Stored) -> bytes:
    return binary.int4(each.mtu) + binary.int4(each.users) + binary.int2(each.layer)


def _factors(each: Stored) -> bytes:
    return binary.text(each.campaign) + binary.jsonb(json.dumps(each.factors))


def _hot(figures: Figures) -> list[bytes]:
    """The measures that have columns of their own."""
    values = np.column_stack([figures.table.number(Measure(name)) for name in Run.HOT])
    return binary.pieces(*binary.float_fields(values, ~np.isnan(values), np.full(len(values), len(Run.HOT))))


def _values(figures: Figures) -> list[bytes]:
    """The arrays of all values by slot, each no longer than its last value."""
    slots = np.array(figures.slots, np.int64)
    values = np.full((figures.table.rows, slots.max(initial=0)), np.nan)
    values[:, slots - 1] = figures.table.values
    present = ~np.isnan(values)
    lengths = (figures.table.present * slots).max(axis=1, initial=0)
    content, sizes = binary.float_fields(values, present, lengths)
    return binary.arrays(binary.FLOAT8, content, sizes, lengths, nulls=True)


def evidence_rows(batch: Batch) -> Iterator[bytes]:
    """Rows of ``run_evidence``, as `origins` has them: of what has a value, by slot."""
    figures, table = batch.figures, batch.figures.table
    there = table.present
    counts = there.sum(axis=1)
    slots = np.array(figures.slots)[np.nonzero(there)[1]]
    derived = there & (figures.origins == DERIVED)
    formulas = binary.chosen_elements(figures.names, figures.formulas[derived])
    formula_counts = derived.sum(axis=1)
    columns = zip(
        binary.arrays(binary.INT2, binary.whole_elements(slots, 2), 6 * counts, counts),
        _cut(figures.letters[figures.origins[there]].tobytes(), counts),
        _lines(table.texts[there].tolist(), counts),
        _told_once(batch),
        _told_lines(figures),
        binary.arrays(binary.TEXT, formulas[0], _by_row(formulas[1], formula_counts), formula_counts),
        strict=True,
    )
    begin, study = binary.fields(len(load.EVIDENCE)), binary.int8(batch.common.study)
    for pk, row, about in zip(batch.ids, batch.rows, columns, strict=True):
        facts = binary.jsonb(_facts(row.circumstances.said, row.fact_lines))
        yield b"".join((begin, binary.int8(pk), study, *about, facts))


def _cut(letters: bytes, counts: Whole) -> Iterator[bytes]:
    """The letters of each row as a text."""
    return (binary.encoded(letters[start:end]) for start, end in pairwise([0, *np.cumsum(counts).tolist()]))


def _lines(texts: Sequence[str], counts: Whole) -> Iterator[bytes]:
    """The texts of each row, one below the other."""
    bounds = pairwise([0, *np.cumsum(counts).tolist()])
    return (binary.text(BETWEEN.join(texts[start:end])) for start, end in bounds)


def _told_once(batch: Batch) -> Iterator[bytes]:
    """The artifact of all that a row's log tells."""
    counts = batch.figures.told.sum(axis=1).tolist()
    for artifact, is_told in zip(batch.artifacts, counts, strict=True):
        yield binary.array(binary.INT8, [binary.int8(artifact)] if is_told else [])


def _told_lines(figures: Figures) -> list[bytes]:
    """The line of each figure; the one of all that a row's log tells, where they are in one line."""
    lines, told, there = figures.table.lines, figures.told, figures.table.present
    first = told & (np.cumsum(told, axis=1) == 1)
    at_first = np.where(first, lines, 0).sum(axis=1)
    in_one = np.all(~told | (lines == at_first[:, None]), axis=1)
    kept = np.where(in_one[:, None], first, there)
    counts = kept.sum(axis=1)
    return binary.arrays(binary.INT4, binary.whole_elements(lines[kept], 4), 8 * counts, counts)


def _by_row(sizes: Whole, counts: Whole) -> Whole:
    """How many bytes the elements of each row take together."""
    ends = np.cumsum(counts)
    upto = np.concatenate([[0], np.cumsum(sizes)])
    found: Whole = upto[ends] - upto[ends - counts]
    return found


def _facts(said: Sequence[str], lines: Sequence[int]) -> str:
    return "{" + ", ".join([f"{fact}{line}}}" for fact, line in zip(said, lines, strict=True)]) + "}"


def source_rows(batch: Batch) -> Iterator[bytes]:
    """Rows of ``run_source``: a log of a run of its own."""
    begin = binary.fields(len(load.SOURCE))
    study, upload = binary.int8(batch.common.study), binary.int8(batch.common.upload)
    for pk, row, artifact, digest in zip(batch.ids, batch.rows, batch.artifacts, batch.digests, strict=True):
        fragment = row.fragment
        yield b"".join(
            (
                *(begin, binary.int8(pk), study, binary.int8(artifact), upload, binary.text(fragment.file)),
                *(binary.text(fragment.format), binary.int2(fragment.format_version)),
                binary.array(binary.TEXT, [binary.text(digest)]),
                binary.span(fragment.first_line, fragment.last_line),
                binary.boolean(True),
            )
        )


def outcome_rows(batch: Batch) -> Iterator[bytes]:
    """Rows of ``upload_run``: all of them new."""
    begin = binary.fields(len(load.UPLOAD_RUN)) + binary.int8(batch.common.upload)
    before = binary.NULL + binary.text("")
    new, loaded = binary.text(UploadRun.Outcome.NEW.value), binary.boolean(True)
    for pk, row in zip(batch.ids, batch.rows, strict=True):
        fragment = row.fragment
        yield b"".join(
            (
                *(begin, binary.int8(pk), before, binary.int4(row.number), loaded, binary.text(_run_id(fragment))),
                *(binary.int2(fragment.trial or 1), new, binary.text(str(fragment.status))),
                binary.jsonb(_summary(row)),
            )
        )


def _summary(row: Row) -> str:
    """As `summary.summary_of` and `summary.gaps_of` have it."""
    fragment, known = row.fragment, row.circumstances
    file = quoted(fragment.file)
    return (
        f'{{"dimensions": {known.dimensions}, "figures": [{row.shown}], "files": [{file}], '
        f'"place": [{file}, {fragment.first_line}, {fragment.last_line}], "lacks": {known.lacks}, '
        '"assumed": [], "given": {}}'
    )
