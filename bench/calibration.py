"""Calibration of verdicts: ``python -m bench.calibration [--tables N] [--show]``.

Tables are simulated and judged by the product's own code; false alarms, coverage and power are counted. The result is
the data of the page that explains the rules. Everything is seeded.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.instance import ROOT
from perfdb.analysis.insights.throughput_curve import Course, describe_curve
from perfdb.analysis.metrics import Better
from perfdb.analysis.verdicts.borrowing import Drawn
from perfdb.analysis.verdicts.cells import Cell, Comparison, Verdict
from perfdb.analysis.verdicts.flags import find_outliers
from perfdb.analysis.verdicts.judge import judge
from perfdb.analysis.verdicts.whole_table import Gate, gate

RESULT = ROOT / "perfdb" / "analysis" / "verdicts" / "calibration.json"
TABLES = 480
KINDS = 3
# Cells that differ in a table with changes.
CHANGED = 6

Floats = NDArray[np.float64]
Dice = np.random.Generator
# A function that draws the standard deviation of each of some cells.
_Spread = Callable[[Dice, int], Floats]


def _equal(sd: float) -> _Spread:
    return lambda dice, cells: np.full(cells, sd)


def _wide(dice: Dice, cells: int) -> Floats:
    return np.exp(dice.uniform(math.log(0.003), math.log(0.05), cells))


def _doubled(dice: Dice, cells: int) -> Floats:
    return 0.02 * 2 ** dice.uniform(-1, 1, cells)


def correlate(values: Floats, correlation: float) -> Floats:
    """Let values of the last axis depend on the one before, with equal variance."""
    for at in range(1, values.shape[-1]):
        values[..., at] = correlation * values[..., at - 1] + math.sqrt(1 - correlation**2) * values[..., at]
    return values


class Shape(NamedTuple):
    """How trials of one cell vary around their mean: share of slow runs, heavy tails, correlation."""

    slow: float = 0.0
    tails: bool = False
    correlation: float = 0.0

    def draw(self, dice: Dice, sd: float, count: int) -> Floats:
        """Return logarithms of trials."""
        logs = sd * (dice.standard_t(3, count) / math.sqrt(3) if self.tails else dice.normal(0, 1, count))
        correlate(logs, self.correlation)
        slow = dice.random(count) < self.slow
        found: Floats = logs + np.where(slow, np.log1p(-dice.uniform(0.05, 0.3, count)), 0.0)
        return found


_CALM, _PLAIN = _equal(0.005), Shape()


@dataclass(frozen=True)
class Setting:
    """A table to simulate.

    ``day`` and ``common`` are standard deviations of what a day changes in each cell, and in all. ``campaigns`` and
    ``trials`` are compared on each side, ``earlier`` campaigns of the base known beside. ``ratio`` multiplies the
    spread of the new side. In a ``paired`` table each campaign holds both sides.
    """

    title: str
    spread: _Spread = _CALM
    shape: Shape = _PLAIN
    day: float = 0.0
    common: float = 0.0
    earlier: int = 0
    trials: tuple[int, int] = (3, 3)
    campaigns: tuple[int, int] = (1, 1)
    paired: bool = False
    cells: int = 18
    ratio: float = 1.0

    def draw(self, dice: Dice, changes: Sequence[float]) -> list[Cell]:
        """Return a table whose cells differ by these logarithms."""
        spreads = self.spread(dice, self.cells)
        base = [f"a{at}" for at in range(self.campaigns[0])]
        new = base if self.paired else [f"b{at}" for at in range(self.campaigns[1])]
        earlier = [f"h{at}" for at in range(self.earlier)]
        campaigns = dict.fromkeys((*base, *new, *earlier))
        shifts = {name: dice.normal(0, self.common) if self.common else 0.0 for name in campaigns}

        def side(names: Sequence[str], trials: int, sd: float, middle: float) -> dict[Hashable, list[float]]:
            days = ((name, shifts[name] + (dice.normal(0, self.day) if self.day else 0.0)) for name in names)
            return {name: np.exp(middle + day + self.shape.draw(dice, sd, trials)).tolist() for name, day in days}

        cells = []
        for at in range(self.cells):
            level, sd = math.log(1000 * (at + 1)), spreads[at]
            here = side(base, self.trials[0], sd, level), side(earlier, self.trials[0], sd, level)
            there = side(new, self.trials[1], sd * self.ratio, level + changes[at])
            past = side(earlier, self.trials[1], sd * self.ratio, level + changes[at]) if self.paired else {}
            cells.append(Cell(here[0], there, here[1], past, kind=at % KINDS, better=Better.HIGHER))
        return cells


class Row(NamedTuple):
    """A row of the result."""

    title: str
    figures: tuple[float, ...]


class Chapter(NamedTuple):
    """A table of the result: columns, and a function that measures its rows."""

    title: str
    about: str
    columns: tuple[str, ...]
    measure: Callable[[int], Iterable[Row]]


def _percent(found: Sequence[bool]) -> float:
    return round(100 * sum(found) / len(found), 1) if found else 0.0


def _compare(setting: Setting, dice: Dice, changes: Sequence[float] = ()) -> Sequence[Comparison]:
    """Return the verdicts on a new table, by default one without changes."""
    return judge(setting.draw(dice, changes or [0.0] * setting.cells)).comparisons


def _is_changed(cell: Comparison) -> bool:
    return cell.q is not None and cell.q < 0.05


def count_verdicts(setting: Setting, tables: int, sizes: tuple[float, float], seed: int) -> Row:
    """Return false alarms, coverage, and changed cells found, in per cent."""
    dice = np.random.default_rng(seed)
    unchanged = [_compare(setting, dice) for _ in range(tables)]
    alarms = [any(map(_is_changed, found)) for found in unchanged]
    covered = [
        low <= 1 <= high for found in unchanged for cell in found if cell.interval for low, high in [cell.interval]
    ]
    powers = [list(_find_changed(setting, dice, size, max(1, tables // 4))) for size in sizes]
    return Row(setting.title, tuple(map(_percent, (alarms, covered, *powers))))


def _find_changed(setting: Setting, dice: Dice, size: float, tables: int) -> Iterator[bool]:
    """Yield whether each cell that differs by ``size`` is found."""
    some = min(CHANGED, setting.cells)
    for _ in range(tables):
        changes = np.zeros(setting.cells)
        changes[dice.permutation(setting.cells)[:some]] = math.log1p(size) * dice.choice([-1, 1], some)
        found = _compare(setting, dice, changes.tolist())
        yield from (_is_changed(cell) for cell, change in zip(found, changes, strict=True) if change)


DAYS_KNOWN = (
    *(
        Setting(f"days {day:g} %, whole days {common:g} %; {earlier} earlier campaigns", day=day / 100,
                common=common / 100, earlier=earlier)
        for earlier in (2, 3, 8)
        for day, common in ((0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 1.0), (0.5, 1.0))
    ),
    *(
        Setting(f"{title}, days 0.5 %; {earlier} earlier campaigns", spread, shape, 0.005, earlier=earlier)
        for earlier in (2, 8)
        for title, spread, shape in (
            ("cells 0.3 to 5 %", _wide, Shape()),
            ("cells 1 to 4 %", _doubled, Shape()),
            ("5 % slow runs", _equal(0.01), Shape(slow=0.05)),
            ("heavy tails", _equal(0.01), Shape(tails=True)),
            ("correlated trials", _equal(0.02), Shape(correlation=0.5)),
        )
    ),
    *(
        Setting(f"new side four times as noisy, {a} against {b} trials; 3 earlier campaigns", day=0.005, ratio=4.0,
                trials=(a, b), earlier=3)
        for a, b in ((5, 2), (2, 5))
    ),
    Setting("2 against 2 campaigns, days 1 %", day=0.01, campaigns=(2, 2)),
    Setting("3 against 1 campaign, days 1 %", day=0.01, campaigns=(3, 1)),
    Setting("3 against 3 campaigns, whole days 1 %", common=0.01, campaigns=(3, 3)),
    Setting("single runs, 3 against 3 campaigns, days 1 %", day=0.01, campaigns=(3, 3), trials=(1, 1)),
    Setting("both sides in one campaign, days 1 %; 3 earlier", day=0.01 / math.sqrt(2), earlier=3, paired=True),
    Setting("one cell, days 1 %; 8 earlier campaigns", day=0.01, earlier=8, cells=1),
)  # fmt: skip
TRIALS_ONLY = (
    *(Setting(f"equal cells, {n} trials", _equal(0.01), trials=(n, n)) for n in (2, 3, 5, 10)),
    *(Setting(f"cells 0.3 to 5 %, {n} trials", _wide, trials=(n, n)) for n in (2, 3, 5)),
    Setting("cells 1 to 4 %, 3 trials", _doubled),
    Setting("noise by kind of workload, 3 trials", lambda _, cells: np.resize([0.003, 0.01, 0.05], cells)),
    Setting("5 % slow runs, 5 trials", _equal(0.01), Shape(slow=0.05), trials=(5, 5)),
    Setting("heavy tails, 5 trials", _equal(0.01), Shape(tails=True), trials=(5, 5)),
    Setting("correlated trials, 3 trials", _equal(0.01), Shape(correlation=0.5)),
    Setting("trials vary by 0.5 and 2 %, 5 against 2 trials", trials=(5, 2), ratio=4.0),
    Setting("trials vary by 0.5 %, days by 0.5 %, which nobody can see", day=0.005),
    Setting("trials vary by 0.5 %, whole days by 1 %, which nobody can see", common=0.01),
)


def _measure_verdicts(settings: Sequence[Setting], sizes: tuple[float, float], seed: int, tables: int) -> Iterator[Row]:
    return (count_verdicts(setting, tables, sizes, number) for number, setting in enumerate(settings, seed))


def _measure_gate(tables: int) -> Iterator[Row]:
    setting = Setting("", day=0.005, earlier=3)
    for number, (worse, cells) in enumerate(((0.0, 0), (0.025, 18), (0.05, 1), (0.05, 18), (0.10, 1)), 200):
        dice = np.random.default_rng(number)
        changes = [math.log1p(-worse)] * cells + [0.0] * (setting.cells - cells)
        answers = [gate(setting.draw(dice, changes), 0.05).answer for _ in range(max(1, tables // 2))]
        title = "nothing changed" if not worse else f"{cells} of 18 cells worse by {100 * worse:g} %"
        each = (Gate.PASSES, Gate.REGRESSED, Gate.CANNOT_TELL)
        yield Row(title, tuple(_percent([answer is one for answer in answers]) for one in each))


def _measure_single(tables: int) -> Iterator[Row]:
    settings = (
        Setting("5 trials against one run", trials=(5, 1)),
        Setting("5 trials against one run that is four times as noisy", trials=(5, 1), ratio=4.0),
        Setting("5 trials against one run, days 1 % that nobody can see", trials=(5, 1), day=0.01),
        Setting("3 trials and 3 earlier campaigns against one run, days 1 %", trials=(3, 1), day=0.01, earlier=3),
    )
    likely = (Verdict.LIKELY_HIGHER, Verdict.LIKELY_LOWER)
    for number, setting in enumerate(settings, 300):
        dice = np.random.default_rng(number)
        said = [cell.verdict in likely for _ in range(max(1, tables // 2)) for cell in _compare(setting, dice)]
        yield Row(setting.title, (_percent(said),))


def _measure_advice(tables: int) -> Iterator[Row]:
    for number, spread in enumerate((0.01, 0.02)):
        setting = Setting("", _equal(spread))
        figures = []
        for seed, size in enumerate((0.0, 0.01, 0.02, 0.04), 400 + 10 * number):
            dice, changes = np.random.default_rng(seed), [math.log1p(size)] * setting.cells
            decided = [each for _ in range(max(1, tables // 40)) for each in _follow_advice(setting, dice, changes)]
            figures.append(_percent(decided))
        yield Row(f"trials vary by {100 * spread:g} %, 3 a side, advice followed once", tuple(figures))


def _follow_advice(setting: Setting, dice: Dice, changes: Sequence[float]) -> Iterator[bool]:
    """Yield for each undecided cell whether as many trials as advised decide."""
    for at, cell in enumerate(_compare(setting, dice, changes)):
        if cell.next is not None:
            again = replace(setting, trials=(cell.next.about, cell.next.about))
            yield _compare(again, dice, changes)[at].verdict is not Verdict.CANNOT_TELL


def _measure_outliers(tables: int) -> Iterator[Row]:
    settings = (
        Setting("equal cells of 1 %", _equal(0.01)),
        Setting("cells 0.3 to 5 %", _wide),
        Setting("heavy tails of 1 %", _equal(0.01), Shape(tails=True)),
    )
    for number, setting in enumerate(settings, 500):
        dice, campaigns = np.random.default_rng(number), range(max(1, tables // 4))
        flagged = [[_is_flagged(setting, dice, drop) for _ in campaigns] for drop in (0.0, 0.10, 0.20)]
        yield Row(f"{setting.title}, 5 trials", tuple(map(_percent, flagged)))


def _is_flagged(setting: Setting, dice: Dice, drop: float) -> bool:
    """Return whether the trial that is lower by ``drop``, or any, is flagged."""
    sds = setting.spread(dice, setting.cells)
    samples = [np.exp(setting.shape.draw(dice, sd, 5)).tolist() for sd in sds]
    samples[0][2] *= 1 - drop
    found = find_outliers(samples, [at % KINDS for at in range(setting.cells)], [None] * setting.cells)
    return any((each.cell, each.trial) == (0, 2) or not drop for each in found)


def _measure_curves(tables: int) -> Iterator[Row]:
    for number, spread in enumerate((0.01, 0.02, 0.05), 600):
        dice = np.random.default_rng(number)
        said = [
            [_is_described(dice, spread, trials, fall) for _ in range(2 * tables)]
            for trials, fall in ((1, 0.0), (3, 0.0), (3, 0.04), (3, 0.12))
        ]
        yield Row(f"noise {100 * spread:g} %", tuple(map(_percent, said)))


def _is_described(dice: Dice, spread: float, trials: int, fall: float) -> bool:
    """Return whether a curve that falls at the end by ``fall``, or is flat, is described as such."""
    users, values = (1, 5, 10, 20, 50), np.array([500.0, 850.0, 1000.0, 1000.0, 1000.0 * (1 - fall)])
    means = values * np.exp(dice.normal(0, spread / math.sqrt(trials), len(users)))
    points, noise = list(zip(users, means.tolist(), strict=True)), [Drawn(spread**2, 8.0)] * len(users)
    curve, _ = describe_curve(points, noise, [trials] * len(users))
    return curve.course in ((Course.FALLING, Course.SLIGHTLY_FALLING) if fall else (Course.FLAT, Course.NO_CHANGE_SEEN))


_COLUMNS = ("tables with a false change, %", "95 % intervals that hold the truth, %")
CHAPTERS = (
    Chapter(
        "Days known: verdicts hold for other days too",
        "Tables of 18 cells in three kinds of workload, three trials a side that vary by 0.5 % unless said, one "
        "campaign on each side. The first two columns are of tables without any change, the others of tables in which "
        "six cells differ.",
        (*_COLUMNS, "changed cells found that differ by 5 %, %", "by 10 %, %"),
        partial(_measure_verdicts, DAYS_KNOWN, (0.05, 0.10), 0),
    ),
    Chapter(
        "Days not known: verdicts hold in these runs",
        "Noise between trials alone is seen; it is 1 % unless said. The last rows show why the words say so: what days "
        "change looks like a difference.",
        (*_COLUMNS, "changed cells found that differ by 2 %, %", "by 5 %, %"),
        partial(_measure_verdicts, TRIALS_ONLY, (0.02, 0.05), 100),
    ),
    Chapter(
        "Single runs",
        "Of cells without any change, so many are called likely higher or lower.",
        ("likely, % of cells",),
        _measure_single,
    ),
    Chapter(
        "The gate at 5 %",
        "18 cells, three earlier campaigns of the base, days 0.5 %.",
        ("passes, %", "regressed, %", "cannot tell, %"),
        _measure_gate,
    ),
    Chapter(
        "What to measure next",
        "Undecided cells that are decided after about so many trials as advised, by how much they truly differ.",
        ("0 %", "1 %", "2 %", "4 %"),
        _measure_advice,
    ),
    Chapter(
        "Outliers",
        "Campaigns in which a trial is flagged: of clean trials, and one trial that is lower by 10 or 20 %.",
        ("clean, %", "by 10 %, %", "by 20 %, %"),
        _measure_outliers,
    ),
    Chapter(
        "The end of a curve",
        "Curves that are flat from 10 users on: called flat or without a change seen. Curves that fall at the end: "
        "called falling.",
        ("flat, one trial, %", "flat, three trials, %", "falls by 4 %, %", "falls by 12 %, %"),
        _measure_curves,
    ),
)


def calibrate(tables: int, chapters: Sequence[Chapter] = CHAPTERS) -> dict[str, object]:
    """Return all chapters with their rows."""
    found = [
        {"title": title, "about": about, "columns": columns, "rows": [row._asdict() for row in measure(tables)]}
        for title, about, columns, measure in chapters
    ]
    return {"date": datetime.now(UTC).date().isoformat(), "tables": tables, "chapters": found}


def main(chapters: Sequence[Chapter] = CHAPTERS, tables: int = TABLES, result: Path = RESULT) -> int:
    """Simulate, and write the result for the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=tables, help="unchanged tables, or series, for each row")
    parser.add_argument("--show", action="store_true", help="print the result instead of storing it")
    chosen = parser.parse_args()
    text = json.dumps(calibrate(chosen.tables, chapters), indent=1, ensure_ascii=False) + "\n"
    if chosen.show:
        sys.stdout.write(text)
    else:
        result.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
