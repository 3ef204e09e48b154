"""The histories of a study's experiments, as its trends judge them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from perfdb.analysis.query.query import Query, default_metrics
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.trends.histories import FACTS, History, TrendPoint, collect_histories
from perfdb.analysis.workloads import traffic_pattern
from perfdb.results.models import Study
from perfdb.results.queries.compare import read_facts
from perfdb.results.queries.observations import add_campaigns, find_patterns, read_observations

_NONE = Observations((), (), [])


@dataclass(frozen=True)
class StudyHistories:
    """All histories of a study with the runs behind."""

    histories: Sequence[History]
    found: Observations

    @cached_property
    def places(self) -> list[tuple[Any, ...]]:
        """Return what sorts the points of all histories, in order."""
        return sorted({point.place for history in self.histories for point in history.points})

    @cached_property
    def _point_of_run(self) -> Mapping[int, TrendPoint]:
        return {run: point for history in self.histories for point in history.points for run in point.runs}

    def position(self, point: TrendPoint) -> int:
        """Return the number of a point's campaign in the study."""
        return self._positions[point.place]

    @cached_property
    def _positions(self) -> Mapping[Hashable, int]:
        return {place: at for at, place in enumerate(self.places)}

    def find_position(self, run: int, began: str) -> int:
        """Return the number of the campaign that holds a run, or of the first one that began then or later."""
        if run in self._point_of_run:
            return self.position(self._point_of_run[run])
        later = (at for at, place in enumerate(self.places) if place[-2] >= began)
        return next(later, max(0, len(self.places) - 1))


def read_histories(study: Study) -> StudyHistories:
    """Return the histories of a study's rates and costs. Raise QueryError for more runs than can be read."""
    asked = Query().with_filter("study", study.slug)
    metrics = default_metrics(find_patterns(asked))
    if not metrics:
        return StudyHistories([], _NONE)
    found = add_campaigns(read_observations(asked.replace(metrics=metrics)))
    printed = {}
    if study.trend_order in FACTS:
        facts = read_facts([row[0] for row in found.rows])
        printed = {run: each[study.trend_order] for run, each in facts.items() if study.trend_order in each}
    histories = collect_histories(found, metrics, study.trend_order, printed)
    return StudyHistories([each for each in histories if _is_own(each)], found)


def _is_own(history: History) -> bool:
    """Return whether a history is of its workload's own rate or cost: others only repeat them in another unit."""
    pattern = traffic_pattern(history.dims.get("workload"))
    return not pattern or history.measure in default_metrics([pattern])
