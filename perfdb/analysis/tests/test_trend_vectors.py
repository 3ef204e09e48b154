"""The judgement of histories, against vectors computed apart from this code."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.events import Placed, cluster_changes, describe_rule, find_rule
from perfdb.analysis.trends.judge import Judged, Series, judge_series
from perfdb.analysis.trends.splits import rank_p, size_p, size_quantile
from perfdb.analysis.trends.states import OPEN, KnownChange, Reason, look
from perfdb.analysis.verdicts.distributions import false_discovery

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "trend_vectors.json").read_text(encoding="utf-8"))


def of(kind: str) -> list[Any]:
    """The vectors of a kind, with their names."""
    return [pytest.param(each, id=each["name"]) for each in VECTORS if each["kind"] == kind]


def told(judged: Judged) -> dict[str, Any]:
    """A judged series in the words of the vectors."""
    return {
        "n": judged.points,
        "judged": judged.judged,
        "scale": "log" if judged.logarithmic else "linear",
        "rho": judged.rho,
        "p": judged.p,
        "q": judged.q,
        "changes": [_change(judged, at) for at in range(len(judged.findings))],
        "smallest_percent": None if judged.smallest is None else 100 * judged.smallest,
        "tail": {"p": judged.tail.p, "points": judged.tail.points, "suspect": judged.tail.suspect},
    }


def _change(judged: Judged, at: int) -> dict[str, Any]:
    change, q, state, small = (finding := judged.findings[at]).change, finding.q, finding.state, finding.small
    ends = {"low": change.low, "high": change.high}
    size: dict[str, Any] = {"difference": change.difference, **ends}
    if judged.logarithmic:
        size = {"percent": 100 * math.expm1(change.difference), "small": small}
        size |= {name: 100 * math.expm1(end) for name, end in ends.items()}
    return {
        "k": change.k,
        "shape": str(change.shape),
        "place": list(change.place),
        "p": change.p,
        "q": q,
        "state": str(state),
        "steps": change.steps,
        **size,
    }


def assert_as(found: Any, expected: Any, path: str = "") -> None:
    """Compare what is expected, to 1e-5 of a number."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert_as(found[name], value, f"{path}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for at, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_as(one, other, f"{path}[{at}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-9), path
    else:
        assert found == expected, path


@pytest.mark.parametrize("vector", of("alone"))
def test_a_series_alone(vector: dict[str, Any]) -> None:
    means = [math.fsum(trials) / len(trials) for trials in vector["trials"]]
    (judged,) = judge_series([Series(means)])
    assert_as(told(judged), vector["expect"])


@pytest.mark.parametrize("vector", of("together"))
def test_series_together(vector: dict[str, Any]) -> None:
    judged = judge_series([Series(means) for means in vector["series"]])
    assert_as([told(each) for each in judged], vector["expect"])


@pytest.mark.parametrize("vector", of("bh"))
def test_many_ps(vector: dict[str, Any]) -> None:
    assert_as(false_discovery(vector["p"]), vector["expect"])


@pytest.mark.parametrize("vector", of("p"))
def test_the_p_of_a_best_split(vector: dict[str, Any]) -> None:
    for case in vector["cases"]:
        statistic = np.array([case["T"]])
        assert float(size_p(statistic, case["n"])[0]) == pytest.approx(case["size"], rel=1e-5)
        assert float(rank_p(statistic, case["n"])[0]) == pytest.approx(case["rank"], rel=1e-5)


def test_the_quantile_is_the_inverse_of_p() -> None:
    for points in (6, 17, 100, 900):
        statistic = np.array([size_quantile(0.02, points)])
        assert float(size_p(statistic, points)[0]) == pytest.approx(0.02)


@pytest.mark.parametrize("vector", of("cluster"))
def test_places_become_events(vector: dict[str, Any]) -> None:
    placed = [Placed(each["lo"], each["hi"], each["k"]) for each in vector["changes"]]
    assert_as([list(event) for event in cluster_changes(placed)], vector["expect"])


@pytest.mark.parametrize("vector", of("shared"))
def test_what_members_share(vector: dict[str, Any]) -> None:
    rule = find_rule(vector["dims"], vector["members"], vector["judged"])
    expected = vector["expect"]
    terms = None if expected["rule"] is None else tuple(map(tuple, expected["rule"]))
    assert rule.terms == terms
    assert (rule.hits, rule.matching) == (expected["hits"], expected["matching"])
    assert rule.f1 == pytest.approx(expected["f1"], rel=1e-5)
    words = vector["words"].partition(":")[0]
    assert describe_rule(rule, len(vector["members"])).lower() == words.lower()


@pytest.mark.parametrize("vector", of("states"))
def test_states_over_looks(vector: dict[str, Any]) -> None:
    known: list[KnownChange] = []
    acts = {points: Reason(reason) for points, reason in vector["acts"]}
    shown, log = list[Any](), list[Any]()
    for points in range(6, len(vector["values"]) + 1):
        before = {id(each): each.phase for each in known}
        look([Series(vector["values"][:points])], [known])
        for each in known:
            if id(each) not in before:
                log.append([points, 0, "suspect", each.change.k])
            if each.phase != before.get(id(each), "suspect"):
                log.append([points, 0, str(each.phase), each.change.k])
            if points in acts and each.phase in OPEN:
                each.close(acts[points])
        state = sorted([each.change.k, str(each.phase), each.frozen] for each in known)
        if not shown or state != shown[-1][1]:
            shown.append([points, state])
    assert shown == vector["expect"]
    assert log == vector["expect_log"]


def test_unchanged_series_of_any_group_are_quiet() -> None:
    random = np.random.default_rng(7)
    series = [Series((1500 * np.exp(random.normal(0, 0.02, 40))).tolist(), at % 2) for at in range(200)]
    judged = judge_series(series)
    shown = [finding for each in judged for finding in each.findings if finding.state != "not shown"]
    assert len(shown) <= 12
    assert not any(finding.state == "confirmed" for finding in shown)


def test_series_of_unequal_lengths_are_judged_by_themselves_and_together() -> None:
    step = [100.0 + at % 3 for at in range(20)] + [90.0 + at % 3 for at in range(20)]
    short, long = judge_series([Series(step[10:30]), Series(step)])
    assert [(finding.change.k, finding.change.shape) for finding in short.findings] == [(10, Shape.STEP)]
    assert [(finding.change.k, finding.change.shape) for finding in long.findings] == [(20, Shape.STEP)]
