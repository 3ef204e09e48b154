"""A run among the trials of its experiment, for its page: a strip of dots for each metric, and the trials in a table.

The strips are drawn here, as coordinates: they stand on paper and without a script too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from perfdb.analysis.comparison.percent_difference import short_percent
from perfdb.analysis.comparison.trial_checks import Flag
from perfdb.analysis.insights.run_vs_trials import RunVsTrials
from perfdb.analysis.units import decimals_for, round_half_up
from perfdb.results.models import Run

# The strip's own units, which its element scales: the values lie between the margins.
WIDTH, HEIGHT, _MARGIN = 240.0, 24.0, 10.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A trial on a strip: where it lies, which run it is, and whether it is the page's own."""

    x: float
    run: int
    text: str
    here: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """One metric of the run among its trials, in print; positions are in the strip's own units."""

    title: str
    unit: str
    value: str
    mean: str
    trials: int
    percent: str
    dots: list[Dot]
    mean_at: float | None
    interval: tuple[float, float] | None
    said: str
    flags: list[Flag]


def strips(standings: Iterable[RunVsTrials], run: Run) -> list[Strip]:
    """The strips of a run's main metrics."""
    return [_strip(each, run) for each in standings]


def _strip(found: RunVsTrials, run: Run) -> Strip:
    values = {trial.run: trial.value for trial in found.trials} | {run.pk: found.value}
    numbers = {trial.run: trial.trial for trial in found.trials} | {run.pk: run.trial}
    reach = [*values.values(), *(found.interval or ())]
    least, most = min(reach), max(reach)
    decimals = decimals_for(values.values(), found.metric.decimals)

    def at(value: float) -> float:
        share = (value - least) / (most - least) if most > least else 0.5
        return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 2)

    def said(value: float) -> str:
        return round_half_up(value, decimals)

    dots = [
        Dot(at(value), pk, f"trial {numbers[pk]}: {said(value)} {found.metric.unit}", pk == run.pk)
        for pk, value in values.items()
        if isinstance(pk, int)
    ]
    return Strip(
        title=found.metric.title,
        unit=found.metric.unit,
        value=said(found.value),
        mean="" if found.mean is None else said(found.mean),
        trials=len(found.trials),
        percent="" if found.percent is None else short_percent(found.percent / 100, plus=True),
        # The run's own last: it lies above those that are where it is.
        dots=sorted(dots, key=lambda dot: dot.here),
        mean_at=None if found.mean is None else at(found.mean),
        interval=None if found.interval is None else (at(found.interval[0]), at(found.interval[1])),
        said=_in_words(found, said),
        flags=list(found.flags),
    )


def _in_words(found: RunVsTrials, said: Callable[[float], str]) -> str:
    parts = [f"{said(found.value)} {found.metric.unit}"]
    if found.mean is not None:
        parts.append(f"the mean of {len(found.trials)} trials is {said(found.mean)}")
    if found.interval is not None:
        parts.append(f"95 % of means: {said(found.interval[0])} to {said(found.interval[1])}")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Sibling:
    """A trial in the table: its row, whether it is the page's own run, and the question that holds it against that."""

    row: dict[str, Any]
    here: bool
    compare: str


def siblings(run: Run, rows: Sequence[dict[str, Any]]) -> list[Sibling]:
    """The trials of a run's experiment, each with the way to compare it with this run."""
    return [Sibling(row, row["id"] == run.pk, _against(run, row)) for row in rows]


def _against(run: Run, row: dict[str, Any]) -> str:
    """Both runs by what tells them apart, this one as the base; empty for itself and what enters no table."""
    counting = run.status == row["status"] == Run.Status.COMPLETE
    if row["id"] == run.pk or not counting:
        return ""
    name = "run_id" if row["run_id"] != run.run_id else "trial"
    base = run.run_id if name == "run_id" else run.trial
    asked = [("run", run.pk), ("run", row["id"]), ("rows", name), ("baseline", f"{name}:{base}")]
    return f"{reverse('web:charts')}?{urlencode(asked)}"
