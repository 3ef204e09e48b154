"""Claims of a study's document, compared with its runs."""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.urls import reverse

from perfdb.analysis import metrics
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Query
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.tables.observations import Key, Observations, finite_value
from perfdb.analysis.units import decimals_for, round_half_up
from perfdb.analysis.workloads import parse_workload, primary_metric
from perfdb.results.models import Claim
from perfdb.results.studies.report_answers import study_query

# Metrics behind a claim about throughput.
RATES = (Measure("trans_per_s"), Measure("mb_per_s"))


class CheckedClaim(NamedTuple):
    """A claim beside the results of its runs. ``holds`` is None if undecided."""

    claim: Claim
    about: str
    says: str
    holds: bool | None
    addresses: list[tuple[str, str]]


def claim_queries(claim: Claim) -> list[Query]:
    """Return the queries of a claim's runs and of its baseline. Raise QueryError."""
    measures = (Measure(claim.metric, claim.role or metrics.TOTAL),) if claim.metric else RATES
    texts = [claim.compared, claim.baseline] if claim.baseline else [claim.compared]
    return [study_query(claim.study, text).replace(metrics=measures) for text in texts]


def check_claim(claim: Claim, found: Sequence[Observations]) -> CheckedClaim:
    """Compare a claim with the observations of its queries: of its runs, and of its baseline, if any."""
    asked = [query.replace(metrics=()) for query in claim_queries(claim)]
    if claim.baseline:
        values = _against(claim, asked, found)
    else:
        values = [statistics.fmean(each) for each in _by_experiment(claim, found[0], []).values()]
    about = measure_title(claim_queries(claim)[0].metrics[0]) if claim.metric else "Throughput"
    addresses = [f"{reverse('web:runs')}?{query.encode()}&status=complete" for query in asked]
    links = list(zip(("the runs", "those compared with"), addresses, strict=False))
    return CheckedClaim(claim, about, _sentence(claim, found, values), _holds(claim, values), links)


def _against(claim: Claim, asked: Sequence[Query], found: Sequence[Observations]) -> list[float]:
    """Return the differences of matched experiments, in the claim's unit.

    Without matched experiments, compare the means of all. Dimensions whose filters differ need not match.
    """
    filters, others = (query.filters for query in asked)
    free = [name for name in {**filters, **others} if filters.get(name) != others.get(name)]
    new, old = (_by_experiment(claim, side, free) for side in found)
    pairs = [(statistics.fmean(new[key]), statistics.fmean(old[key])) for key in new if key in old]
    if not pairs and new and old and claim.metric:
        pairs = [(_mean(new), _mean(old))]
    return [_difference(claim.unit, one, other) for one, other in pairs if other]


def _mean(samples: Mapping[Key, Sequence[float]]) -> float:
    return statistics.fmean(value for values in samples.values() for value in values)


def _difference(unit: str, new: float, old: float) -> float:
    if unit == "points":
        return new - old
    return new / old if unit == "times" else 100 * (new / old - 1)


def _by_experiment(claim: Claim, found: Observations, free: Sequence[str]) -> dict[Key, list[float]]:
    """Return each experiment's values of the claim's metric, or of its workload's rate."""
    names = [name for name in found.dimensions if name not in REPEATS and name not in free]
    read, workload = found.key_reader(names), found.key_reader(["workload"])
    samples: dict[Key, list[float]] = defaultdict(list)
    for row in found.rows:
        measure = Measure(claim.metric, claim.role or metrics.TOTAL) if claim.metric else _rate(workload(row)[0])
        if (value := finite_value(row, found.measure_index(measure))) is not None:
            samples[read(row)].append(value)
    return samples


def _rate(workload: object) -> Measure:
    try:
        return Measure(primary_metric(parse_workload(str(workload)).pattern))
    except ValueError:
        return RATES[0]


def _sentence(claim: Claim, found: Sequence[Observations], values: Sequence[float]) -> str:
    """Return the runs' result in a sentence."""
    if not all(side.rows for side in found):
        return "No runs yet."
    if not values:
        return "No two experiments are equal in all else." if claim.baseline else "No run has this figure."
    mean, low, high = (_text(claim, value) for value in (statistics.fmean(values), min(values), max(values)))
    what = "pair" if claim.baseline else "experiment"
    if len(values) == 1:
        return f"{mean}, from one {what}."
    return f"{low} to {high} in {len(values)} {what}s; their mean is {mean}."


def _text(claim: Claim, value: float) -> str:
    if claim.unit in ("times", "%", "points") and claim.baseline:
        number = round_half_up(value, decimals_for([value], 2 if claim.unit == "times" else 1))
        return f"{number}{claim.unit if claim.unit == '%' else f' {claim.unit}'}"
    metric = metrics.BY_NAME[claim.metric] if claim.metric else metrics.BY_NAME[RATES[0].metric]
    return f"{round_half_up(value, decimals_for([value], metric.decimals))} {metric.unit}"


def _holds(claim: Claim, values: Sequence[float]) -> bool | None:
    """Return whether the runs confirm a claim within its rounding, or None if undecided."""
    if not values:
        return None
    decimals = len(repr(claim.value).removesuffix(".0").partition(".")[2])
    half = 0.5 * 10.0**-decimals
    mean, low, high = statistics.fmean(values), min(values), max(values)
    if claim.relation == "is":
        return abs(mean - claim.value) <= half
    if claim.relation == "up to":
        return abs(high - claim.value) <= half
    if claim.relation in ("at least", "more than"):
        return low >= claim.value - half
    return high <= claim.value + half if claim.relation == "less than" else None


def list_claim_queries(claims: Sequence[Claim]) -> list[Query]:
    """Return the queries of all claims, without invalid ones."""
    found = []
    for claim in claims:
        try:
            found += claim_queries(claim)
        except QueryError:
            continue
    return found
