"""The trials of configurations by level and campaign, from which verdicts learn the noise of days."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from perfdb.analysis.metrics import BY_NAME, Better, Measure
from perfdb.analysis.query.query import REPEATS
from perfdb.analysis.tables.observations import Key, Observations, finite_value
from perfdb.analysis.tables.table import Point
from perfdb.analysis.verdicts.cells import NO_HISTORY, Cell, History, Level

# Dimensions in which campaigns of one configuration may differ.
COUPLED = frozenset({"level", "campaign"})

_ByCampaign = dict[Hashable, list[float]]


class CampaignHistory:
    """Runs by configuration, level and campaign.

    A configuration is all dimensions and factors of a run but level, campaign and those that repeat. ``runs`` hold
    the compared runs and all others of the same studies.
    """

    def __init__(self, runs: Observations) -> None:
        self._runs = runs
        names = [name for name in runs.dimensions if name not in COUPLED | REPEATS]
        read, level_of = runs.key_reader(names), runs.key_reader(["level"])
        self._configurations: dict[int, tuple[Key, Hashable]] = {
            row[0]: (read(row), level_of(row)[0]) for row in runs.rows
        }
        self._known: dict[Measure, Mapping[Key, Mapping[Hashable, _ByCampaign]]] = {}

    def cell(
        self,
        measure: Measure,
        base: Sequence[Point],
        new: Sequence[Point],
        *,
        group: Hashable,
        kind: Hashable,
        step: float | None,
        mixes: tuple[str, ...] = (),
    ) -> Cell:
        """Return a cell of ``group``, judged together, with earlier campaigns and other levels."""
        sides = self._by_campaign(base), self._by_campaign(new)
        if mixes or not all(sides):
            return Cell(*sides, metric=group, kind=kind, better=_better(measure), step=step, mixes=mixes)
        (configuration, level), (other, other_level) = (self._configurations[side[0].run] for side in (base, new))
        known = self._histories(measure)
        mine, theirs = known.get(configuration, {}), known.get(other, {})
        compared = set().union(*sides)
        levels = {
            each: Level(history, theirs.get(each, NO_HISTORY))
            for each, history in mine.items()
            if each not in (level, other_level)
        }
        # Campaigns compared with each other have one history, which is that of the base.
        past = NO_HISTORY if (configuration, level) == (other, other_level) else theirs.get(other_level, NO_HISTORY)
        return Cell(
            *sides,
            self._earlier(mine.get(level, NO_HISTORY), compared),
            self._earlier(past, compared),
            levels,
            group,
            kind,
            _better(measure),
            step,
        )

    def _by_campaign(self, points: Sequence[Point]) -> _ByCampaign:
        of_run, found = self._runs.campaigns.of_run, defaultdict[Hashable, list[float]](list)
        for point in points:
            found[of_run[point.run]].append(point.value)
        return dict(found)

    def _earlier(self, history: History, compared: set[Hashable]) -> History:
        """Return the campaigns that are not compared and began before all compared ones."""
        begins = self._runs.campaigns.begins
        first = min(begins[each] for each in compared)
        return {each: values for each, values in history.items() if each not in compared and begins[each] < first}

    def _histories(self, measure: Measure) -> Mapping[Key, Mapping[Hashable, _ByCampaign]]:
        if measure not in self._known:
            place, of_run = self._runs.measure_index(measure), self._runs.campaigns.of_run
            found: dict[Key, dict[Hashable, _ByCampaign]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
            for row in self._runs.rows:
                if (value := finite_value(row, place)) is not None:
                    configuration, level = self._configurations[row[0]]
                    found[configuration][level][of_run[row[0]]].append(value)
            self._known[measure] = found
        return self._known[measure]


def _better(measure: Measure) -> Better:
    return BY_NAME[measure.metric].better
