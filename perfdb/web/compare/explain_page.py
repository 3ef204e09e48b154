"""Page that explains a difference in words and links, and suggests next steps."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import DIMENSIONS, FACTOR, Value, describe_values, dimension
from perfdb.analysis.insights.bottleneck import Bottleneck
from perfdb.analysis.metrics import BY_NAME
from perfdb.analysis.percent_difference import printed_percent, short_percent
from perfdb.analysis.query.parameters import spell_value
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.labels import make_diff, measure_title
from perfdb.analysis.units import round_half_up, significant_text
from perfdb.analysis.verdicts import words
from perfdb.analysis.verdicts.cells import Comparison, Scope, Verdict, Workings
from perfdb.analysis.verdicts.cells import Side as Evidence
from perfdb.results.models import Run
from perfdb.results.queries.compare import ChosenSides
from perfdb.results.queries.explain import Explanation, Moved
from perfdb.results.queries.explain import Side as Found
from perfdb.results.runs.experiments import read_configuration
from perfdb.web.compare import compare_page
from perfdb.web.compare.compare_page import split_differences
from perfdb.web.links import to_run, to_runs_compared
from perfdb.web.studies.coverage_matrix import command

# More runs are only counted.
MOST_RUNS = 12


class Side(NamedTuple):
    """One side of the difference. ``runs``: (value, run id, trial, address)."""

    name: str
    title: str
    mean: str
    runs: list[tuple[str, str, object, str]]
    more: int
    limit: Bottleneck | None


def build_explanation(found: Explanation) -> dict[str, Any]:
    """Return an explanation as the page shows it.

    ``step``: how to confirm the answer. ``test``: (term, text); ``still``: metrics without a confirmed change.
    ``where``: values that both sides share among those of their table.
    """
    comparison = found.comparison
    sides = [_side("Old", found.old), _side("New", found.new)]
    differs, minor = split_differences(found.differs)
    return {
        "sentence": _sentence(found, sides),
        "step": words.next_words(comparison.next, comparison.delta),
        "scope": words.scope_words(comparison),
        "title": measure_title(found.measure),
        "unit": BY_NAME[found.measure.metric].unit,
        "where": describe_values(found.where.keys(), found.where.values()),
        "diff": make_diff(comparison),
        "sides": sides,
        "test": list(_test(comparison)),
        "compared": [(dimension(name).title, _text(old), _text(new)) for name, old, new in found.compared],
        "differs": differs,
        "minor": minor,
        "moved": [_moved(each) for each in found.moved if each.decided],
        "still": [_moved(each) for each in found.moved if not each.decided],
    }


def _sentence(found: Explanation, sides: Sequence[Side]) -> str:
    """Return the answer: ``Throughput of HiperSockets is 49% lower than of Guest LAN: 118.1 → 60.2 MB/s.``."""
    (old, new), metric = sides, BY_NAME[found.measure.metric]
    values = f"{old.mean} → {new.mean} {metric.unit}"
    percent = found.comparison.percent
    title = measure_title(found.measure)
    if percent is None:
        return f"{title}: {values}."
    if found.comparison.verdict in words.LIKELY | words.CHANGED:
        size = short_percent(abs(percent) / 100)
        return f"{title} of {new.title} is {size} {'higher' if percent > 0 else 'lower'} than of {old.title}: {values}."
    return f"{title} of {new.title} against {old.title}: {words.verdict_words(found.comparison)} ({values})."


def _text(value: object) -> str:
    return "none" if value is None else str(value)


def _side(name: str, side: Found) -> Side:
    values = [point.value for point in side.sample]
    runs: list[tuple[str, str, object, str]] = [
        (significant_text(point.value), point.run_id, point.trial, to_run(point.run))
        for point in side.sample[:MOST_RUNS]
    ]
    mean = significant_text(sum(values) / len(values)) if values else "–"
    return Side(name, side.title, mean, runs, len(values) - len(runs), side.limit)


def _moved(each: Moved) -> dict[str, Any]:
    """Return another metric's change. ``beyond``: size in standard errors, "" if unknown."""
    return {
        "title": measure_title(each.measure),
        "unit": BY_NAME[each.measure.metric].unit,
        "old": "–" if each.old is None else significant_text(each.old),
        "new": "–" if each.new is None else significant_text(each.new),
        "diff": make_diff(each.comparison),
        "beyond": "" if each.beyond is None else f"{round_half_up(each.beyond, 1)} ×",
    }


def _test(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield (term, sentence) of the comparison; skip unknown terms."""
    effect = "" if comparison.verdict in (Verdict.IMPROVED, Verdict.REGRESSED) else words.effect_words(comparison)
    yield "Verdict", ", ".join(filter(None, (words.verdict_words(comparison), effect)))
    if comparison.percent is not None:
        yield "Difference", f"{printed_percent(comparison.percent, plus=True)}, of unrounded means"
    new, old = _side_words(comparison.new), _side_words(comparison.base)
    yield "Measurements", "1 run each" if new == old == "1" else f"{new} of the new side, {old} of the old side"
    if comparison.interval:
        yield "95% CI", f"the true difference lies between {_range(comparison.interval)}"
    if comparison.band:
        yield "Noise range", f"repeats of the same setup differ by {_range(comparison.band)}"
    if comparison.p is not None and comparison.q is not None:
        yield (
            "Student’s t",
            f"p = {_p(comparison.p)}: probability of so large a difference by chance; "
            f"q = {_p(comparison.q)} among all cells and metrics of the table, and changed means q < 0.05",
        )
    yield "Days", words.scope_words(comparison)
    yield "Noise", words.noise_words(comparison)
    if work := comparison.workings:
        yield "Calculation", _calculation(comparison, work)
    if needed := words.next_words(comparison.next, comparison.delta):
        yield "To confirm", needed


def _side_words(side: Evidence) -> str:
    return str(side.trials) if side.campaigns < 2 else f"{side.trials} (in {side.campaigns} campaigns)"


# A smaller allowance for rounding, as a share, comes from binary numbers alone.
_LEAST_ROUNDING = 1e-9


def _calculation(comparison: Comparison, work: Workings) -> str:
    """Return the intermediate values of the test, as logarithms in per cent."""
    texts = [
        f"d = ln(new ÷ baseline) = {short_percent(work.difference)}",
        f"se = {short_percent(work.error)}",
        f"f = {work.freedom:.3g}",
    ]
    for name, side in (("A", comparison.base), ("B", comparison.new)):
        if side.used is not None:
            texts.append(f"s of one trial of {name} = {short_percent(math.sqrt(side.used))}")
    if comparison.scope is Scope.DAYS_KNOWN:
        texts.append(f"τ of days = {short_percent(math.sqrt(work.usual_days or 0.0))}, λ = {work.factor or 1.0:.3g}")
        texts.append(f"allowance for whole days = {short_percent(work.shift)}")
    if work.rounding > _LEAST_ROUNDING:
        texts.append(f"allowance for rounding = {short_percent(work.rounding)}")
    return "; ".join(texts)


def _range(ratios: tuple[float, float]) -> str:
    low, high = (short_percent(ratio - 1, plus=True) for ratio in ratios)
    return f"{low} and {high}"


def _p(value: float) -> str:
    return "less than 0.001" if value < 0.001 else f"{value:.2g}"


# Enough trials for a first estimate of the noise.
_FIRST_TRIALS = 3
# More trials than this are not suggested.
_MOST_TRIALS = 50
# Kept as filters if both runs agree.
_KEPT = ("study", "workload")


class Step(NamedTuple):
    """A suggested next step. ``command``: start of the command that measures."""

    text: str
    address: str = ""
    command: str = ""


def next_steps(old: int, new: int, comparison: Comparison) -> list[Step]:
    """Return suggestions to settle the difference between two runs."""
    runs = Run.objects.select_related("study", *(f"experiment__{name}" for name in _READ)).in_bulk([old, new])
    left, right = runs[old], runs[new]
    beside = Step("Compare both runs", to_runs_compared([old, new]))
    return [*_series(left, right), beside, *_trials(left, right, comparison)]


_READ = ("workload", "device", "system", "level")


def _named(run: Run) -> dict[str, Value]:
    """Return a run's known dimensions."""
    found = {**read_configuration(run.experiment).dimensions(), "study": run.study.slug}
    return {name: value for name, value in found.items() if value is not None and name not in REPEATS}


def _series(left: Run, right: Run) -> Iterator[Step]:
    """Yield comparisons of each dimension in which the runs differ."""
    old, new = _named(left), _named(right)
    kept = Query(filters={name: (old[name],) for name in _KEPT if name in old and old[name] == new.get(name)})
    factors = sorted(name for name in {*old, *new} if name.startswith(FACTOR))
    # A campaign's name contains its level.
    names = [each.name for each in DIMENSIONS if each.name != "campaign"]
    for name in (*names, *factors):
        if name in old and name in new and old[name] != new[name]:
            say = dimension(name).describe
            chosen = ChosenSides(name, spell_value(old[name]), (spell_value(new[name]),))
            text = f"Compare {say(old[name])} → {say(new[name])} over all their runs"
            yield Step(text, compare_page.compare_address(kept, Drawing(), chosen))


def _trials(left: Run, right: Run, comparison: Comparison) -> Iterator[Step]:
    """Yield steps that measure more trials, or one that advises against more trials."""
    step = comparison.next
    if step is not None and step.kind == "campaigns":
        yield Step(f"Measure both on further days, one after the other: about {step.about} campaigns a side in all")
        return
    more = max((step.about if step else 0) - min(comparison.base.trials, comparison.new.trials), _FIRST_TRIALS)
    if more > _MOST_TRIALS:
        yield Step(f"Measure longer, or reduce the noise first: about {more} more trials of each would decide")
        return
    for side, run in (("old", left), ("new", right)):
        yield Step(f"Run {more} more trials of the {side} one", command=command(run.study, _named(run), more))
