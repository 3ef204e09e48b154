"""Words around numbers: titles, headings with units, captions and printed comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.percent_difference import printed_percent, short_percent
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Key, Note
from perfdb.analysis.tables.table import Cell, Noted, Table
from perfdb.analysis.units import significant_text
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Comparison, Scope
from perfdb.analysis.verdicts.whole_table import FEWEST_CELLS


def measure_title(measure: Measure) -> str:
    """Return the metric's title, with the role unless total: ``CPU utilisation, client``."""
    title = metrics.BY_NAME[measure.metric].title
    return title if measure.role == TOTAL else f"{title}, {measure.role}"


def measure_heading(measure: Measure) -> str:
    """Return the title with unit: ``Transactions per second (trans/s)``."""
    return f"{measure_title(measure)} ({metrics.BY_NAME[measure.metric].unit})"


def axis_title(name: str) -> str:
    """Return a dimension's title with its unit: ``MTU (bytes)``."""
    dimension = dimensions.dimension(name)
    return f"{dimension.title} ({dimension.unit})" if dimension.unit else dimension.title


def value_text(value: Value, name: str = "") -> str:
    """Return a value of the dimension ``name``; a dash if missing."""
    return "–" if value is None else str(dimensions.display_value(name, value))


def split_text(table: Table) -> str:
    """Return the table's values of the split, empty without split."""
    # A table without runs has no key.
    return dimensions.describe_values(table.query.split, table.split) if table.split else ""


def table_title(table: Table) -> str:
    """Return measure and split of a table."""
    return " · ".join(part for part in (measure_heading(table.measure), split_text(table)) if part)


def values_text(values: Mapping[str, Value]) -> str:
    """Join values of dimensions: ``RR · MTU 1492``."""
    return dimensions.describe_values(values.keys(), values.values())


def common_text(values: Mapping[str, Value], query: Query) -> str:
    """Join the values that runs share, without options of load tools unless filtered."""
    told = {name: value for name, value in values.items() if not dimensions.is_option(name) or name in query.filters}
    return values_text(told)


def comparison_text(table: Table, comparison: Comparison) -> str:
    """Return a comparison in a line: ``against QDIO GbE: +19%; higher; better; …``."""
    return f"against {values_text(table.query.baseline)}: {words.describe_comparison(comparison)}"


def table_caption(table: Table) -> str:
    """Return the runs' common values and the pick: ``best Transactions per second per Device``."""
    parts = [common_text(table.common, table.query)]
    if pick := table.query.pick:
        titles = " and ".join(dimensions.dimension(name).title for name in pick.dimensions)
        parts.append(f"best {measure_title(pick.measure)} per {titles}")
    return " · ".join(filter(None, parts))


def range_text(cell: Cell) -> str:
    """Return the range of a cell of mixed work, ``512.3 … 1021.7``, or ""."""
    if cell.range is None:
        return ""
    low, high = map(significant_text, cell.range)
    return f"{low} … {high}"


def mix_note(name: str, values: tuple[Value, ...]) -> Note:
    """Return a note on mixed values: ``mixes MTU 1500 and 9000``."""
    return Note("mixes", f"mixes {dimensions.dimension(name).title} {join_values(name, values)}")


# More values are no text to read.
_MOST_JOINED = 8


def join_values(name: str, values: Sequence[Value]) -> str:
    """Join values: ``1500, 8192 and 9000``; of very many the first and last."""
    if len(values) > _MOST_JOINED:
        return f"{len(values)} values from {value_text(values[0], name)} to {value_text(values[-1], name)}"
    *texts, last = [value_text(value, name) for value in values]
    return f"{', '.join(texts)} and {last}" if texts else last


def note_text(noted: Noted) -> str:
    """Return a person's note in a line: ``note on NMGBR950, trial 1: cable replaced``."""
    trial = "" if noted.trial is None else f", trial {noted.trial}"
    return f"note on {noted.run_id or f'run {noted.run}'}{trial}: {' '.join(noted.text.split())}"


def cell_notes(cell: Cell) -> tuple[str, ...]:
    """Return all notes of a cell: mixes, warnings, people's notes."""
    mixed = [mix_note(name, values) for name, values in cell.mixes.items()]
    return (*(note.message for note in (*mixed, *cell.warnings)), *map(note_text, cell.noted))


@dataclass(frozen=True, slots=True)
class Diff:
    """A printed comparison.

    ``percent`` is printed as in studies; ``symbol`` and ``words`` are of the verdict; ``tone`` is better, worse or
    neither. ``outlined``: the verdict holds in these runs, or is likely. ``sentence`` is for tooltips and screen
    readers, ``symbol_ascii`` for terminals. ``rule`` is the id of the statement that explains the verdict.
    """

    percent: str
    symbol: str
    symbol_ascii: str
    words: str
    tone: str
    outlined: bool
    sentence: str
    rule: str

    @property
    def short(self) -> str:
        """Return the text for a cell: ``+19% ▲``."""
        return f"{self.percent} {self.symbol}"


def make_diff(comparison: Comparison) -> Diff:
    """Return the printed comparison."""
    return Diff(
        percent=printed_percent(comparison.percent, plus=True),
        symbol=words.symbol(comparison),
        symbol_ascii=words.symbol(comparison, ascii_only=True),
        words=words.short_verdict(comparison),
        tone=comparison.effect.value,
        outlined=words.is_tentative(comparison),
        sentence=words.describe_comparison(comparison),
        rule=words.rule_id(comparison),
    )


def comparison_remarks(tables: Sequence[Table]) -> Iterator[str]:
    """Yield remarks for readers of comparisons: common shift, base, meaning of signs, scope, summaries."""
    compared = [table for table in tables if any(cell.comparison for cell in table.cells.values())]
    if not compared:
        return
    comparisons = [cell.comparison for table in compared for cell in table.cells.values() if cell.comparison]
    for table in compared:
        for side, shift in table.shifts.items():
            if shift.cells >= FEWEST_CELLS:
                yield f"{_side_text(table, side)}: {words.shift_words(shift)}"
    yield f"compared with {values_text(compared[0].query.baseline)}; % is of unrounded means"
    yield from dict.fromkeys(words.sign_rule(table.metric) for table in compared)
    yield f"same: within {short_percent(compared[0].query.delta / 100)}; changed: q < 0.05 over all metrics"
    # What the verdicts cover, each once.
    judged = [each for each in comparisons if each.noise.freedom is not None]
    known = {each.campaigns for each in judged if each.scope is Scope.DAYS_KNOWN}
    if known:
        yield f"days: noise of {max(known)} campaigns"
    if any(each.scope is Scope.THESE_RUNS for each in judged):
        yield "in these runs: day-to-day variation unknown; 2 more campaigns of the baseline would tell"
    for table in compared:
        for side, summary in table.summaries.items():
            if summary.ratio is not None:
                yield f"{_side_text(table, side)}: {words.summary_words(summary)}"


def _side_text(table: Table, side: Key) -> str:
    return f"{measure_title(table.measure)}, {dimensions.describe_values(table.query.baseline, side)}"
