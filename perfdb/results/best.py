"""What stands behind the best experiments that a query picks, and what limited them, from the database."""

from dataclasses import dataclass

from perfdb.analysis.best import Evidence, evidence
from perfdb.analysis.bottleneck import Bottleneck
from perfdb.analysis.query import Query, Summary
from perfdb.analysis.table import Observations, key_order
from perfdb.results.limits import limits_of
from perfdb.results.models import Run


@dataclass(frozen=True, slots=True)
class Best:
    """The best experiment of one group: its evidence, its runs in the order of their trials, what limited them."""

    evidence: Evidence
    runs: list[Run]
    limit: Bottleneck


def best_of(query: Query, found: Observations) -> list[Best]:
    """The best of each group that a query picks from ``found``, in natural order of the groups.

    Evidence is about experiments: there is none without a pick, and none where the best is a single run.
    """
    if query.pick is None or query.summary is Summary.TRIAL:
        return []
    behind = sorted(evidence(query, found).values(), key=lambda each: key_order(each.group))
    related = Run.objects.select_related("workload", "device", "system")
    runs = related.in_bulk([run for each in behind for run in each.runs])
    samples = [sorted((runs[run] for run in each.runs), key=lambda run: (run.trial, run.pk)) for each in behind]
    return [Best(*known) for known in zip(behind, samples, limits_of(samples), strict=True)]
