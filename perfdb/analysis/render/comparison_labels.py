"""A comparison as it is printed: one wording and one sign for pages, files and the terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfdb.analysis.comparison import verdict_words
from perfdb.analysis.comparison.comparison import Comparison
from perfdb.analysis.comparison.percent_difference import about, printed_percent
from perfdb.analysis.dimensions import say
from perfdb.analysis.render import labels
from perfdb.analysis.tables.table import Table


def _sources(tables: Sequence[Table]) -> Iterator[str]:
    """Where the noise of the comparisons comes from."""
    for table in tables:
        yield from (cell.comparison.noise.source.value for cell in table.cells.values() if cell.comparison)


@dataclass(frozen=True, slots=True)
class Diff:
    """``percent`` as studies print it, a ``symbol`` and ``words`` for the verdict; ``tone`` is better, worse or else.

    ``sentence`` says all of it, for a tooltip or a screen reader. ``symbol_ascii`` is for plain terminals. ``rule`` is
    the id of the declaration that explains the words.
    """

    percent: str
    symbol: str
    symbol_ascii: str
    words: str
    tone: str
    sentence: str
    rule: str

    @property
    def short(self) -> str:
        """For a cell: ``+19% ▲``."""
        return f"{self.percent} {self.symbol}"

    @property
    def ascii(self) -> str:
        """For a plain terminal: ``+19% ^``."""
        return f"{self.percent} {self.symbol_ascii}"


def diff_of(comparison: Comparison) -> Diff:
    """The comparison in print."""
    symbol = verdict_words.symbol(comparison)
    return Diff(
        percent=printed_percent(comparison.percent, plus=True),
        symbol=symbol,
        symbol_ascii=verdict_words.symbol(comparison, ascii_only=True),
        words=verdict_words.short(comparison).removeprefix(symbol).strip(),
        tone=comparison.effect.value,
        sentence=verdict_words.describe(comparison),
        rule=verdict_words.rule(comparison),
    )


def remarks(tables: Sequence[Table]) -> Iterator[str]:
    """What a reader of comparisons must know before any of them: the base, the sign rule, the practical size."""
    compared = [table for table in tables if any(cell.comparison for cell in table.cells.values())]
    if not compared:
        return
    yield f"compared with {labels.baseline_text(compared[0].query)}; % is of unrounded means"
    yield from dict.fromkeys(verdict_words.sign_rule(table.metric) for table in compared)
    yield f"same: within {about(compared[0].query.delta / 100)}; changed: q < 0.05 over the table"
    yield f"noise estimate: {', '.join(dict.fromkeys(_sources(compared)))}"
    for table in compared:
        for side, summary in table.summaries.items():
            if summary.ratio is not None:
                what = say(table.query.baseline, side)
                yield f"{labels.measure_title(table.measure)}, {what}: {verdict_words.summary_words(summary)}"
