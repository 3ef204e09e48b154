"""What to do after two single runs were explained: ask more of what is stored, or measure more."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from perfdb.analysis.comparison.comparison import Comparison
from perfdb.analysis.dimensions import DIMENSIONS, FACTOR, Value, dimension
from perfdb.analysis.query.parameters import spell_value
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.models import Run
from perfdb.results.queries.compare import ChosenSides
from perfdb.results.runs.experiments import read_configuration
from perfdb.web.compare import compare_page
from perfdb.web.studies.coverage_matrix import command

# Without an estimate of the noise nobody knows how many it takes; with so many there is one.
_TO_BEGIN_WITH = 3
# Nobody measures more than so many again: what makes runs vary is to be found first.
_BEARABLE = 50
# What keeps a comparison among runs that were measured alike, as far as both runs agree in it.
_KEPT = ("study", "workload")


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do, in words, and where; ``command`` is the beginning of the line that measures it."""

    text: str
    address: str = ""
    command: str = ""


def next_steps(old: int, new: int, comparison: Comparison) -> list[Step]:
    """What to do about the difference between two runs."""
    runs = Run.objects.select_related("study", *(f"experiment__{name}" for name in _READ)).in_bulk([old, new])
    left, right = runs[old], runs[new]
    beside = Step("View both runs beside each other", f"{reverse('web:compare')}?runs={old},{new}")
    return [*_series(left, right), beside, *_trials(left, right, comparison)]


_READ = ("workload", "device", "system", "level")


def _named(run: Run) -> dict[str, Value]:
    """What a run was, by dimension; what is not known of it is not there."""
    found = {**read_configuration(run.experiment).dimensions(), "study": run.study.slug}
    return {name: value for name, value in found.items() if value is not None and name not in REPEATS}


def _series(left: Run, right: Run) -> Iterator[Step]:
    """For each dimension in which the runs differ, both values over all experiments that are otherwise equal."""
    old, new = _named(left), _named(right)
    kept = Query()
    for name in _KEPT:
        if name in old and old.get(name) == new.get(name):
            kept = kept.with_filter(name, old[name])
    factors = sorted(name for name in {*old, *new} if name.startswith(FACTOR))
    # A campaign is named after its level, so whoever compares one compares the other.
    names = [each.name for each in DIMENSIONS if each.name != "campaign"]
    for name in (*names, *factors):
        if name in old and name in new and old[name] != new[name]:
            say = dimension(name).describe
            chosen = ChosenSides(name, spell_value(old[name]), (spell_value(new[name]),))
            text = f"Compare {say(old[name])} → {say(new[name])} over all their runs"
            yield Step(text, compare_page.address(kept, Drawing(), chosen))


def _trials(left: Run, right: Run, comparison: Comparison) -> Iterator[Step]:
    """The lines that measure more trials of both, or why that is not the way."""
    needed = comparison.trials_needed or 0
    more = max(needed - min(comparison.n_base, comparison.n), _TO_BEGIN_WITH)
    if more > _BEARABLE:
        why = f"{more:,} more trials of each would decide it by repeating"
        yield Step(f"Measure longer, or find first what makes runs vary: {why}")
        return
    for side, run in (("old", left), ("new", right)):
        yield Step(f"Run {more} more trials of the {side} one", command=command(run.study, _named(run), more))
