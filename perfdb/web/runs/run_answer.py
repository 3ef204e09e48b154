"""The answer of a run's page: a sentence, and tiles with the trials as dots on a line."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.text import capfirst

from perfdb.analysis.insights.bottleneck import Bottleneck, Verdict
from perfdb.analysis.insights.run_vs_trials import RunVsTrials
from perfdb.analysis.metrics import Measure
from perfdb.analysis.percent_difference import short_percent
from perfdb.analysis.units import significant_text
from perfdb.analysis.verdicts.flags import TRIALS_DISAGREE, trials_apart
from perfdb.results.changes.provenance import Figure
from perfdb.results.models import Run
from perfdb.results.queries.run_siblings import main_measures
from perfdb.web.links import to_runs_compared

# In units of the SVG element, which scales.
_WIDTH, _MARGIN = 160.0, 8.0


class Trial(NamedTuple):
    """A trial to draw: value, text at the pointer if any, and whether the page is about this run."""

    value: float
    text: str = ""
    here: bool = False


class Dot(NamedTuple):
    """A drawn trial."""

    x: float
    text: str
    here: bool


class Strip(NamedTuple):
    """A drawn strip. ``label`` is for screen readers; ``interval`` are the ends of a bar, if any."""

    label: str
    dots: list[Dot]
    mean_at: float
    interval: tuple[float, float] | None


def draw_strip(
    trials: Sequence[Trial],
    mean: float,
    label: str,
    *,
    interval: tuple[float, float] | None = None,
    reach: tuple[float, float] | None = None,
) -> Strip:
    """Return the strip of some trials.

    ``interval`` is drawn as a bar. ``reach`` are the values at the ends, by default the extremes of trials and
    interval; trials beyond the ends are drawn at the ends.
    """
    values = [trial.value for trial in trials]
    low, high = reach or (min([*values, *(interval or ())]), max([*values, *(interval or ())]))

    def place(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(_MARGIN + max(0.0, min(1.0, share)) * (_WIDTH - 2 * _MARGIN), 2)

    # The page's own run is drawn last, on top.
    dots = sorted((Dot(place(each.value), each.text, each.here) for each in trials), key=lambda dot: dot.here)
    return Strip(label, dots, place(mean), interval and (place(interval[0]), place(interval[1])))


# Rate -> the rate in a sentence, its cost per unit of work, and the cost in a sentence.
_RATES = {
    "trans_per_s": ("{} transactions per second", "cpu_ms_per_trans", "{}\u00a0ms CPU each"),
    "mb_per_s": ("{}\u00a0MB/s", "cpu_ms_per_mb", "{}\u00a0ms CPU per MB"),
}
_NOT_COUNTED = {
    Run.Status.FAILED: "This run failed; no table counts it.",
    Run.Status.INCOMPLETE: "This run is incomplete; no table counts it.",
    Run.Status.WITHDRAWN: "This run is withdrawn; no table counts it.",
}


def answer_run(
    run: Run, figures: Iterable[Figure], standings: Sequence[RunVsTrials], limit: Bottleneck
) -> dict[str, Any]:
    """Return the answer of a run's page: the sentence, the second line and a tile for each main value.

    ``flags``: remarks on the trials; ``main``: number of the cost.
    """
    numbered = {figure.measure: (number, figure) for number, figure in enumerate(figures)}
    beside = {each.measure: each for each in standings}
    shown = [measure for measure in main_measures(run) if measure in numbered]
    rate = next((Measure(name) for name in _RATES if Measure(name) in shown), None)
    standing = beside.get(rate) if rate else None
    said = (_sentence(rate, numbered), _NOT_COUNTED.get(Run.Status(run.status)), _normal(standing))
    cost = Measure(_RATES[rate.metric][1]) if rate else None
    bottleneck = "" if limit.verdict is Verdict.UNKNOWN else f"{capfirst(limit.sentence)}."
    return {
        "sentence": " ".join(filter(None, said)),
        "more": " ".join(filter(None, (_spread(standing), bottleneck))),
        "tiles": [_tile(*numbered[measure], beside.get(measure), run) for measure in shown],
        "flags": [flag for each in standings for flag in each.flags],
        "main": next((numbered[measure][0] for measure in (cost, rate) if measure in numbered), None),
    }


def _sentence(rate: Measure | None, figures: Mapping[Measure, tuple[int, Figure]]) -> str:
    """Return rate and cost: ``13 230 transactions per second at 0.1461 ms CPU each.``"""
    if rate is None:
        return "No throughput is known of this run."
    words, cost, cost_words = _RATES[rate.metric]
    said = words.format(significant_text(figures[rate][1].value))
    spent = figures.get(Measure(cost))
    return f"{said} at {cost_words.format(significant_text(spent[1].value))}." if spent else f"{said}."


def _normal(standing: RunVsTrials | None) -> str:
    usual = standing.is_usual if standing else None
    if standing is None or usual is None:
        return ""
    if not usual:
        return "Differs from its repeats."
    return "Its trials disagree." if _apart(standing) > TRIALS_DISAGREE else "Normal for this experiment."


def _apart(standing: RunVsTrials) -> float:
    return trials_apart([trial.value for trial in standing.trials])


def _spread(standing: RunVsTrials | None) -> str:
    """Return the distance from the repeats, and how far the trials lie apart."""
    if standing is None or standing.percent is None:
        return ""
    count = len(standing.trials)
    differ = f"; the {count} trials differ by {short_percent(_apart(standing))}" if count > 1 else ""
    return f"{capfirst(_beside(standing))}{differ}."


def _beside(standing: RunVsTrials) -> str:
    """Return ``0.5% below its 2 repeats``."""
    repeats = "its repeat" if standing.others == 1 else f"the mean of its {standing.others} repeats"
    if not standing.percent:
        return f"as {repeats}"
    return f"{short_percent(abs(standing.percent) / 100)} {'above' if standing.percent > 0 else 'below'} {repeats}"


def _tile(number: int, figure: Figure, standing: RunVsTrials | None, run: Run) -> dict[str, Any]:
    """Return a main value of the run. ``number``: place among the page's figures; ``beside``: against the repeats."""
    shown = significant_text(figure.value)
    tile = {"figure": figure, "number": number, "value": shown}
    if standing is None or standing.percent is None:
        return tile
    unit, mean, interval = figure.metric.unit, standing.mean or 0.0, standing.interval
    values = {trial.run: (trial.trial, trial.value) for trial in standing.trials} | {
        run.pk: (run.trial, standing.value)
    }
    trials = [
        Trial(value, f"trial {trial}: {significant_text(value)} {unit}", pk == run.pk)
        for pk, (trial, value) in values.items()
    ]
    label = f"{shown} {unit}; the mean of {len(standing.trials)} trials is {significant_text(mean)}"
    if interval:
        label += f"; 95% of means: {significant_text(interval[0])} to {significant_text(interval[1])}"
    return tile | {"beside": _beside(standing), "strip": draw_strip(trials, mean, label, interval=interval)}


def list_siblings(run: Run, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the trials of a run's experiment, each with a comparison's address.

    ``here``: the page's own run. The address is "" if one of both does not count.
    """
    found = []
    for row in rows:
        here, counting = row["id"] == run.pk, run.status == row["status"] == Run.Status.COMPLETE
        compare = to_runs_compared([run.pk, row["id"]]) if counting and not here else ""
        found.append({"row": row, "here": here, "compare": compare})
    return found
