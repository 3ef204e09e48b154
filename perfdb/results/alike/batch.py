"""Many runs at once: those that nobody has to be asked about are written straight from columns, all others are left.

A run is told by one log that names it, and is taken here where nothing has to be put together or asked: no other file
of its run, no other run of its name, no problem of reading it, nothing given. The columns tell which runs the checks
and the audit may have something to say about, and these are looked at one by one. Every condition errs on the careful
side: what is left goes the way of single runs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress

import numpy as np

from importers.collate.drafts import has_usable_names
from importers.collate.kinds import is_client
from importers.model import Fragment, RunDraft, Severity
from perfdb.analysis import units_columns
from perfdb.analysis.audit.columns import PrintedColumn, PrintedRuns, audit_columns
from perfdb.analysis.audit.figures import Method
from perfdb.analysis.audit.rules import audited_measures
from perfdb.analysis.checks.quiet import Figure, Summaries, quiet
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.units_columns import Numbers
from perfdb.results.alike.circumstances import COUNTED, Circumstances, Known
from perfdb.results.alike.deriving import derived
from perfdb.results.alike.figures import DERIVED, Figures, add_given, figures_of
from perfdb.results.alike.listings import Listings, listings_of, quiet_listings
from perfdb.results.alike.table import Flags, Table, Whole, table_of
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.normalize.reading_problems import FoundProblems
from perfdb.results.runs.normalize.run_audit import CHECKED_BEFORE, SAME, add_audit
from perfdb.results.runs.normalize.run_checks import of_log
from perfdb.results.runs.record import RunRecord

_NEVER = datetime.min
FEWEST = 16
"""Fewer runs are written one by one as fast."""

_SUMMED = ("transactions", "driver_s", "trans_per_s", "mb_per_s", "response_ms")
"""What a driver's log is checked against itself by."""


def are_apart(fragments: Sequence[Fragment]) -> bool:
    """Whether each of these fragments is a run of its own."""
    names = {(each.run_id, each.trial) for each in fragments}
    return len(names) == len(fragments) and all(map(_names_its_run, fragments))


def _names_its_run(fragment: Fragment) -> bool:
    return is_client(fragment) and fragment.run_id is not None and has_usable_names(fragment)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Runs with all that is known of them; those that are not ``good`` have to go by themselves.

    ``said`` has the problems of those that have any, by row.
    """

    fragments: Sequence[Fragment]
    circumstances: Sequence[Circumstances]
    fact_lines: Sequence[Sequence[int]]
    figures: Figures
    listings: Sequence[Listings]
    good: Flags
    said: dict[int, RunRecord] = field(default_factory=dict)

    @property
    def measures(self) -> Set[Measure]:
        """Those that any of the good runs has."""
        table = self.figures.table
        return set(compress(table.measures, np.any(table.present[self.good], axis=0)))


def prepared(fragments: Sequence[Fragment], problems: FoundProblems) -> Prepared:
    """Work out all of these runs. ``problems``: what reading the files found amiss.

    Which artifact a file is makes no difference here, and need not be known: files are told apart by their order.
    """
    artifacts = {file: number for number, file in enumerate(dict.fromkeys(each.file for each in fragments), start=1)}
    table = table_of(fragments)
    listings, twice = listings_of(fragments)
    table.odd |= np.array([bool(each.counters) for each in fragments]) | twice
    table.odd |= _named_twice(fragments) | are_named(fragments, problems)
    known = Known(artifacts)
    counts = zip(*(_floats(table.number(measure)) for measure in COUNTED), strict=True)
    found = [known.of(fragment, own) for fragment, own in zip(fragments, counts, strict=True)]
    circumstances = [own for own, _ in found]
    table.odd |= np.array([own.odd for own in circumstances]) | (table.number(Measure("transactions")) == 0)
    fits, records_fit = _quiet(table, circumstances, listings)
    given = add_given(table, circumstances)
    figures = figures_of(table, given, derived(table, circumstances, table.odd))
    good = ~table.odd
    suspected = np.zeros(len(fragments), bool)
    suspected[good] = _suspected(figures, circumstances, np.flatnonzero(good))
    runs = Prepared(fragments, circumstances, [lines for _, lines in found], figures, listings, good)
    for row in np.flatnonzero(good & ~(fits & records_fit & ~suspected)).tolist():
        _look_at(runs, row, artifacts, records=not records_fit[row], audit=bool(suspected[row]))
    return runs


def _look_at(runs: Prepared, row: int, artifacts: Mapping[str, int], *, records: bool, audit: bool) -> None:
    """Say of a run what checks and audit have to say; one that contradicts itself is left.

    ``records``, ``audit``: whether there may be something to say about the records of its log, and by the audit.
    """
    fragment, known = runs.fragments[row], runs.circumstances[row]
    record = RunRecord(
        run_id=fragment.run_id or "",
        trial=fragment.trial or 1,
        status=fragment.status,
        started=_NEVER,
        configuration=known.configuration,
        values=runs.figures.values(row, artifacts[fragment.file]) if audit else {},
        facts=dict(known.facts),
        has_driver=True,
    )
    record.problems += of_log(record, fragment, records=records or not _in_one_unit(fragment))
    if audit:
        add_audit(record, artifacts)
    if any(each.severity is Severity.ERROR for each in record.problems):
        runs.good[row] = False
    else:
        runs.said[row] = record


def _in_one_unit(fragment: Fragment) -> bool:
    """Whether the records of a log print their response times in the unit of its summary.

    Otherwise they decide which unit is usual there, and so what there is to say about the summary.
    """
    said = {each.unit for each in fragment.readings if each.name == "response_ms"}
    return said >= {unit for each in fragment.listings for name, unit in each.columns if name == "resp_avg"}


def _floats(values: Numbers) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124 - NaN is not itself


def _named_twice(fragments: Sequence[Fragment]) -> Flags:
    """Runs with a name of others, unless each says which trial it is."""
    names = Counter(each.run_id for each in fragments)
    unsure = {each.run_id for each in fragments if each.trial is None}
    return np.array([names[each.run_id] > 1 and each.run_id in unsure for each in fragments])


def are_named(fragments: Sequence[Fragment], problems: FoundProblems) -> Flags:
    """Runs about which reading found something amiss."""
    if not problems:
        return np.zeros(len(fragments), bool)
    drafts = (RunDraft(each.run_id or "", each.trial, driver=each) for each in fragments)
    return np.array([bool(problems.of(draft)) for draft in drafts])


def _printed(table: Table, measure: Measure) -> tuple[Numbers, Numbers]:
    """A figure as printed, and half of one in its last digit; NaN where there is none."""
    at = table.column(measure)
    if at is None:
        nothing = np.full(table.rows, np.nan)
        return nothing, nothing
    there = np.flatnonzero(~np.isnan(table.printed[:, at]))
    half = np.full(table.rows, np.nan)
    half[there] = units_columns.half_steps(table.texts[there, at].tolist())
    return table.printed[:, at], half


def _quiet(table: Table, circumstances: Sequence[Circumstances], listings: Sequence[Listings]) -> tuple[Flags, Flags]:
    """Whether the checks of a driver's log have nothing to say, about its summary and about its records."""
    runs = [each.figures for each in circumstances]
    logs = Summaries(
        transactions=_printed(table, Measure("transactions"))[0],
        seconds=table.number(Measure("driver_s")),
        trans_per_s=Figure(*_printed(table, Measure("trans_per_s"))),
        mb_per_s=Figure(*_printed(table, Measure("mb_per_s"))),
        response_ms=table.number(Measure("response_ms")),
        users=_column([each.users for each in runs]),
        message_bytes=_column([each.request_bytes for each in runs]) + _column([each.response_bytes for each in runs]),
        mb_bytes=2**20,
        never_pause=np.array([each.think_ms == 0 for each in runs]),
    )
    others = [at for at, each in enumerate(table.measures) if each.metric in _SUMMED and each.role != TOTAL]
    unsure = table.present[:, others].any(axis=1)
    records_fit = quiet_listings(listings, logs.transactions, logs.users, logs.never_pause)
    return quiet(logs) & ~unsure, records_fit & ~unsure


def _column(numbers: Iterable[float | None]) -> Numbers:
    return np.array([np.nan if each is None else each for each in numbers], float)


def _suspected(figures: Figures, circumstances: Sequence[Circumstances], rows: Whole) -> Flags:
    """Whether the audit may find something in these rows."""
    found = np.zeros(len(rows), bool)
    shown = _shown(figures, rows)
    processors = figures.table.number(PROCESSORS)[rows]
    for places in _grouped(circumstances, rows):
        known = circumstances[rows[places[0]]]
        runs = PrintedRuns(
            {measure: PrintedColumn(value[places], half[places]) for measure, (value, half) in shown.items()},
            len(places),
            known.configuration.workload,
            users=_column([circumstances[row].configuration.users for row in rows[places].tolist()]),
            processors=None if np.isnan(processors[places]).all() else processors[places],
            think_ms=known.figures.think_ms,
            method=Method.REPORT,
        )
        found[places] = audit_columns(runs, CHECKED_BEFORE)
    return found


def _grouped(circumstances: Sequence[Circumstances], rows: Whole) -> list[Whole]:
    """The places among these rows of runs with the same workload and the same pauses."""
    kinds: dict[int, list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        kinds.setdefault(circumstances[row].kind, []).append(place)
    groups: dict[object, list[int]] = {}
    for places in kinds.values():
        known = circumstances[rows[places[0]]]
        groups.setdefault((known.configuration.workload, known.figures.think_ms), []).extend(places)
    return [np.array(places) for places in groups.values()]


def _shown(figures: Figures, rows: Whole) -> dict[Measure, tuple[Numbers, Numbers]]:
    """The figures of these rows that the audit looks at: printed in the metric's own unit, or derived and printed."""
    table = figures.table
    shown = {}
    for measure in audited_measures(frozenset(table.measures)):
        at = table.measures.index(measure)
        printed, half = (column[rows] for column in _printed(table, measure))
        with np.errstate(invalid="ignore"):
            same = np.abs(printed - table.values[rows, at]) <= SAME * np.abs(printed)
        own = figures.told[rows, at] & (same | (figures.origins[rows, at] == DERIVED))
        shown[measure] = np.where(own, printed, np.nan), half
    return shown
