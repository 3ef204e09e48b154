"""The rows of many runs in PostgreSQL's binary form, equal to those that `load` writes of single runs.

All that can be said without the database is made here: it is said while the database stores other runs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from json.encoder import encode_basestring_ascii as quoted
from typing import NamedTuple

import numpy as np

from importers.collate import content_digest
from importers.model import Fragment
from perfdb.analysis.metrics import Measure
from perfdb.results import binary
from perfdb.results.alike.batch import Prepared
from perfdb.results.alike.circumstances import Circumstances
from perfdb.results.alike.figures import DERIVED, Figures
from perfdb.results.alike.listings import trace_rows
from perfdb.results.alike.table import Flags, Whole
from perfdb.results.models import Run, UploadRun
from perfdb.results.runs.evidence import BETWEEN
from perfdb.results.runs.experiments import Wanted
from perfdb.results.runs.record import aware


class Common(NamedTuple):
    """What runs have in common; ``artifacts`` names each file's artifact, ``received`` is when the upload was."""

    study: int
    upload: int
    artifacts: Mapping[str, int]
    received: datetime


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of those of some runs that are good, which have these ``places`` among them.

    The first fields are missing: the run's id, then the keys of its experiment in a row of ``run``, and its number in
    the upload in an outcome. Of ``traces`` a run may have any number; each has the run's place among the good ones.
    """

    places: Whole
    experiments: Sequence[Wanted]
    runs: Sequence[bytes]
    evidence: Sequence[bytes]
    sources: Sequence[bytes]
    outcomes: Sequence[bytes]
    traces: Sequence[tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Alike:
    """Runs of a log each, worked out together, with their rows; ``first`` is the number of the first one."""

    first: int
    runs: Prepared
    rows: Rows


@dataclass(frozen=True, slots=True)
class _Batch:
    """Runs that are to be written, all in the same order; ``artifacts`` has that of each one's log."""

    common: Common
    fragments: Sequence[Fragment]
    artifacts: Sequence[int]
    circumstances: Sequence[Circumstances]
    fact_lines: Sequence[Sequence[int]]
    figures: Figures


def rows_of(runs: Prepared, common: Common, slots: Mapping[Measure, int]) -> Rows:
    """The rows of runs; ``slots`` are those of all measures that a good one has (`Prepared.measures`)."""
    places = np.flatnonzero(runs.good)
    at = places.tolist()
    fragments = [runs.fragments[place] for place in at]
    batch = _Batch(
        common,
        fragments,
        [common.artifacts[each.file] for each in fragments],
        [runs.circumstances[place] for place in at],
        [runs.fact_lines[place] for place in at],
        runs.figures.chosen(places, slots),
    )
    heads = [binary.int8(common.study) + binary.int8(artifact) for artifact in batch.artifacts] if runs.listings else []
    return Rows(
        places,
        _experiments(batch.circumstances),
        list(_run_rows(batch)),
        list(_evidence_rows(batch)),
        list(_source_rows(batch)),
        list(outcome_rows(common.upload, fragments, UploadRun.Outcome.NEW)),
        list(trace_rows(runs.listings, dict(zip(at, enumerate(heads), strict=False)))),
    )


def _experiments(circumstances: Sequence[Circumstances]) -> list[Wanted]:
    """The experiment of each run; most have theirs in common with others."""
    known = {id(each): each.configuration for each in circumstances}
    wanted = {key: Wanted.of(each) for key, each in known.items()}
    return [wanted[id(each)] for each in circumstances]


def _run_rows(batch: _Batch) -> Iterator[bytes]:
    """Rows of ``run`` from the experiment's circumstances on."""
    distinct = {id(each): each for each in batch.circumstances}
    around = {key: _around(each) for key, each in distinct.items()}
    hot, values = _hot(batch.figures), _values(batch.figures)
    for fragment, known, own, array in zip(batch.fragments, batch.circumstances, hot, values, strict=True):
        tags = known.tags
        yield b"".join(
            (
                *(around[id(known)], binary.moment(_started(fragment, batch.common.received)), own),
                *(binary.int2(fragment.trial or 1), binary.text(fragment.status), binary.text(_run_id(fragment))),
                *(array, binary.array(binary.TEXT, [binary.text(tag) for tag in tags]) if tags else binary.NULL),
            )
        )


def _around(known: Circumstances) -> bytes:
    """What a run repeats of its experiment."""
    each = known.configuration
    return b"".join(
        (
            *(binary.int4(each.mtu), binary.int4(each.users), binary.int2(each.layer), binary.text(each.campaign)),
            _factors(tuple(each.factors.items())),
        )
    )


# Many experiments have the same.
@lru_cache(4096)
def _factors(items: tuple[tuple[str, str], ...]) -> bytes:
    return binary.jsonb(json.dumps(dict(items)))


def _run_id(fragment: Fragment) -> str:
    return fragment.run_id or ""


def _started(fragment: Fragment, received: datetime) -> datetime:
    return received if fragment.taken is None else aware(fragment.taken, fragment.zone)


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


def _evidence_rows(batch: _Batch) -> Iterator[bytes]:
    """Rows of ``run_evidence``, as `origins` has them: of what has a value, by slot."""
    figures, table = batch.figures, batch.figures.table
    there = table.present
    counts = there.sum(axis=1)
    slots = np.array(figures.slots)[np.nonzero(there)[1]]
    derived = there & (figures.origins == DERIVED)
    formulas = binary.chosen_elements(figures.names, figures.formulas[derived])
    formula_counts = derived.sum(axis=1)
    kept = _kept_lines(figures)
    line_counts = kept.sum(axis=1)
    columns = zip(
        binary.arrays(binary.INT2, binary.whole_elements(slots, 2), 6 * counts, counts),
        _cut(figures.letters[figures.origins[there]].tobytes(), counts),
        _lines(table.texts[there].tolist(), counts),
        _told_once(batch),
        binary.arrays(binary.INT4, binary.whole_elements(table.lines[kept], 4), 8 * line_counts, line_counts),
        binary.arrays(binary.TEXT, formulas[0], _by_row(formulas[1], formula_counts), formula_counts),
        strict=True,
    )
    study = binary.int8(batch.common.study)
    for facts, about in zip(_facts(batch, np.where(kept, table.lines, 0), line_counts), columns, strict=True):
        yield b"".join((study, *about, facts))


def _cut(letters: bytes, counts: Whole) -> Iterator[bytes]:
    """The letters of each row as a text."""
    return (binary.encoded(letters[start:end]) for start, end in pairwise([0, *np.cumsum(counts).tolist()]))


def _lines(texts: Sequence[str], counts: Whole) -> Iterator[bytes]:
    """The texts of each row, one below the other."""
    bounds = pairwise([0, *np.cumsum(counts).tolist()])
    return (binary.text(BETWEEN.join(texts[start:end])) for start, end in bounds)


def _told_once(batch: _Batch) -> Iterator[bytes]:
    """The artifact of all that a row's log tells."""
    arrays = {artifact: binary.array(binary.INT8, [binary.int8(artifact)]) for artifact in set(batch.artifacts)}
    none = binary.array(binary.INT8, [])
    for artifact, is_told in zip(batch.artifacts, np.any(batch.figures.told, axis=1).tolist(), strict=True):
        yield arrays[artifact] if is_told else none


def _kept_lines(figures: Figures) -> Flags:
    """Of which figures the line is kept: of each, or of one where all that a row's log tells stands in one line."""
    lines, told = figures.table.lines, figures.told
    first: Flags = told & (np.cumsum(told, axis=1) == 1)
    at_first = np.where(first, lines, 0).sum(axis=1)
    in_one = np.all(~told | (lines == at_first[:, None]), axis=1)
    kept: Flags = np.where(in_one[:, None], first, figures.table.present)
    return kept


def _by_row(sizes: Whole, counts: Whole) -> Whole:
    """How many bytes the elements of each row take together."""
    ends = np.cumsum(counts)
    upto = np.concatenate([[0], np.cumsum(sizes)])
    found: Whole = upto[ends] - upto[ends - counts]
    return found


def _facts(batch: _Batch, lines: Whole, counts: Whole) -> Iterator[bytes]:
    """The facts of each row as `origins` has them.

    ``lines`` are those that are kept of its figures, and 0 of others; ``counts`` says how many. Of a fact in the only
    line that is kept the text is enough; every fact has a line, and 0 is none.
    """
    only = np.where(counts == 1, lines.sum(axis=1), 0).tolist()
    alone: dict[int, bytes] = {}
    known: dict[int, list[str]] = {}
    by_run = zip(batch.circumstances, batch.artifacts, batch.fact_lines, only, strict=True)
    for each, artifact, own, line in by_run:
        if own.count(line) == len(own):
            # All facts stand there.
            if (content := alone.get(id(each))) is None:
                entries = [_entry(key, fact.text) for key, fact in each.facts.items()]
                content = alone[id(each)] = binary.jsonb(f"{{{', '.join(entries)}}}")
            yield content
            continue
        if (said := known.get(id(each))) is None:
            said = known[id(each)] = [_said(key, fact.text, artifact) for key, fact in each.facts.items()]
        entries = [
            _entry(key, fact.text) if place == line else f"{before}{place}}}"
            for (key, fact), before, place in zip(each.facts.items(), said, own, strict=True)
        ]
        yield binary.jsonb(f"{{{', '.join(entries)}}}")


# Many runs say the same.
@lru_cache(1024)
def _entry(key: str, text: str) -> str:
    """What is stored of a fact in the line of all figures."""
    return f"{quoted(key)}: {quoted(text)}"


def _said(key: str, text: str, artifact: int) -> str:
    """What is stored of a fact in another line, up to its number."""
    return f'{quoted(key)}: {{"text": {quoted(text)}, "artifact": {artifact}, "line": '


def _source_rows(batch: _Batch) -> Iterator[bytes]:
    """Rows of ``run_source``: a log of a run of its own."""
    known: dict[tuple[str, str, int], bytes] = {}
    # All digests are as long.
    before, driver = binary.array(binary.TEXT, [binary.text(32 * "0")])[:-32], binary.boolean(True)
    for fragment, artifact in zip(batch.fragments, batch.artifacts, strict=True):
        kind = fragment.file, fragment.format, fragment.format_version
        if (about := known.get(kind)) is None:
            about = known[kind] = _about(batch.common, artifact, *kind) + before
        lines = binary.span(fragment.first_line, fragment.last_line)
        yield b"".join((about, content_digest(fragment).encode(), lines, driver))


def _about(common: Common, artifact: int, file: str, name: str, version: int) -> bytes:
    """What a source begins with: what its file is, and in which form it is."""
    numbers = binary.int8(common.study) + binary.int8(artifact) + binary.int8(common.upload)
    return numbers + binary.text(file) + binary.text(name) + binary.int2(version)


def outcome_rows(upload: int, fragments: Sequence[Fragment], outcome: UploadRun.Outcome) -> Iterator[bytes]:
    """Rows of ``upload_run`` without the runs' ids and numbers; the runs themselves are their summaries."""
    begin = binary.int8(upload) + binary.NULL + binary.text("") + binary.boolean(True)
    became, summary = binary.text(outcome), binary.jsonb("{}")
    for fragment in fragments:
        about = binary.text(_run_id(fragment)), binary.int2(fragment.trial or 1), became, binary.text(fragment.status)
        yield b"".join((begin, *about, summary))
