"""The verdicts held against worked-out vectors, with all intermediate values."""

import json
import math
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pytest

from perfdb.analysis.insights.throughput_curve import describe_curve
from perfdb.analysis.metrics import Better
from perfdb.analysis.percent_difference import percent_difference
from perfdb.analysis.verdicts.borrowing import Drawn, Prior, Spread, Usual, fit_days, fit_trials
from perfdb.analysis.verdicts.cells import Cell, Comparison, Level, Scope, Verdict
from perfdb.analysis.verdicts.days import BASE, NEW, group_by_pauses
from perfdb.analysis.verdicts.distributions import false_discovery
from perfdb.analysis.verdicts.flags import find_outliers
from perfdb.analysis.verdicts.judge import (
    CampaignNoise,
    Judged,
    Judgement,
    campaigns_needed,
    find_shift,
    judge,
    trials_needed,
)
from perfdb.analysis.verdicts.whole_table import Gate, GateResult, gate, summarise

_VECTORS = json.loads(Path(__file__).with_name("verdict_vectors.json").read_text())
_BETTER = {1: Better.HIGHER, -1: Better.LOWER, None: Better.NEUTRAL}


def _vectors(*names: str) -> list[Any]:
    """Return the vectors whose name begins with one of these."""
    return [
        pytest.param(vector["given"], vector["expected"], id=f"{number}-{vector['name'][:40]}")
        for number, vector in enumerate(_VECTORS)
        if vector["name"].startswith(names)
    ]


def _about(value: object) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-7, abs=1e-14)


@pytest.mark.parametrize(("given", "expected"), _vectors("printed %"))
def test_percentages(given: dict[str, Any], expected: float | None) -> None:
    def mean(trials: list[float | None]) -> float | None:
        known = [trial for trial in trials if trial]
        return math.fsum(known) / len(known) if len(known) == len(trials) else None

    assert percent_difference(mean(given["base"]), mean(given["new"])) == _about(expected)


@pytest.mark.parametrize(("given", "expected"), _vectors("prior"))
def test_priors(given: dict[str, Any], expected: dict[str, Any] | None) -> None:
    count = len(given["s2"])
    groups, known = given.get("group", ["days"] * count), given.get("v", [0.0] * count)
    fit = fit_days if "v" in given else fit_trials
    prior = fit([Spread(*each) for each in zip(given["s2"], given["d"], groups, known, strict=True)])
    if expected is None:
        assert prior is None
        return
    assert prior is not None
    assert prior.freedom == expected["d0"]
    assert {group: usual.variance for group, usual in prior.usual.items()} == _about(expected["theta"])
    assert {group: usual.total for group, usual in prior.usual.items()} == expected["total"]
    assert list(prior.supports) == _about(list(expected["loglik"].values()))


@pytest.mark.parametrize(("given", "expected"), _vectors("drawn"))
def test_drawn_spreads(given: dict[str, Any], expected: list[float]) -> None:
    usual = Usual(given["usual"], given["total"])
    assert list(Prior(given["d0"], {}).draw(given["own"], given["d"], usual)) == _about(expected)


@pytest.mark.parametrize(("given", "expected"), _vectors("Benjamini"))
def test_adjusted_ps(given: dict[str, Any], expected: list[float]) -> None:
    assert false_discovery(given["p"]) == _about(expected)


def _cell(given: Mapping[str, Any]) -> Cell:
    return Cell(
        given["base"],
        given["new"],
        given.get("earlier") or {},
        given.get("earlier_new") or {},
        {number: Level(history) for number, history in enumerate(given.get("more") or (), 2)},
        given.get("metric", "m"),
        given.get("kind", "k"),
        _BETTER[given.get("better")],
        given.get("step"),
        tuple(given.get("mixed") or ()),
    )


_WORDS = {
    Verdict.IMPROVED: "improved",
    Verdict.REGRESSED: "regressed",
    Verdict.HIGHER: "higher",
    Verdict.LOWER: "lower",
    Verdict.SAME: "same",
    Verdict.CANNOT_TELL: "can't tell",
    Verdict.LIKELY_HIGHER: "likely higher",
    Verdict.LIKELY_LOWER: "likely lower",
    Verdict.WITHIN_NOISE: "no more than repeats differ",
    Verdict.NO_NOISE: "no noise known",
    Verdict.NOT_COMPARABLE: "not comparable",
    Verdict.MIXED: "mixed",
}
_WITHOUT_SCOPE = (Verdict.WITHIN_NOISE, Verdict.NO_NOISE, Verdict.NOT_COMPARABLE, Verdict.MIXED)


def _words(found: Comparison) -> str:
    here = " in these runs" * (found.scope is Scope.THESE_RUNS and found.verdict not in _WITHOUT_SCOPE)
    return _WORDS[found.verdict] + here


_TABLES = [
    pytest.param(vector["given"], vector["expected"], id=vector["name"])
    for vector in _VECTORS
    if isinstance(vector["given"], dict) and "delta" in vector["given"]
]


@pytest.mark.parametrize(("given", "expected"), _TABLES)
def test_tables(given: dict[str, Any], expected: dict[str, Any]) -> None:
    judgement = judge([_cell(each) for each in given["cells"]], given["delta"], given["look"])
    for place, (found, right) in enumerate(zip(judgement.comparisons, expected["cells"], strict=True)):
        assert _words(found).split(":")[0] == right["verdict"].split(":")[0]
        if right.get("problem"):
            assert place not in judgement.judged
            continue
        _check_cell(judgement.judged[place], found, right)
    for (metric, paired), prior in judgement.priors.items():
        shared = expected["shared"][f"{metric}/paired" if paired else metric]
        _check_shared(judgement, (metric, paired), prior, shared)


def _check_cell(judged: Judged, found: Comparison, right: dict[str, Any]) -> None:
    contrast = judged.contrast
    sides = found.base, found.new
    assert contrast.paired == right["paired"]
    assert [side.campaigns for side in sides] == right["campaigns"]
    assert [side.trials for side in sides] == right["trials"]
    assert contrast.difference == _about(right["d"])
    assert [side.variance for side in sides] == _about(right["s2"])
    assert [side.freedom for side in sides] == right["df"]
    assert (judged.scope is Scope.DAYS_KNOWN) == right.get("unconditional", False)
    if found.verdict is Verdict.NO_NOISE:
        return
    assert [side.used for side in sides] == [_about(each) for each in right["used"]]
    assert [side.used_freedom for side in sides] == [_about(each) for each in right["f"]]
    assert judged.error == _about(right["se"])
    assert judged.freedom == _about(right["freedom"])
    assert judged.shift_allowance == _about(right["allowance_days"])
    assert contrast.rounding == _about(right["allowance_rounding"])
    assert judged.is_tested == right["told"]
    assert {reason.value: part for reason, part in judged.parts.items()} == _about(right["parts"])
    if "lam" in right and right["unconditional"]:
        assert judged.factor is not None
        assert judged.factor.variance == _about(right["lam"])
        if right.get("db"):
            assert judged.own is not None
            assert list(judged.own) == _about([right["b2"], right["db"]])
        arms = contrast.arms
        assert [len(arm.compared) * arm.noise for arm in arms] == _about(right["v1"])
    if "band" in right:
        assert judged.half_width(0.975) == _about(right["band"])
    if right["told"]:
        assert found.p == _about(right["p"])
        assert found.q == _about(right["q"])
        assert list(judged.interval(0.975)) == _about(right["i95"])
        assert list(judged.interval(0.95)) == _about(right["i90"])
        assert found.is_small == (right["verdict"].startswith("same") and right["changed"])
    if right.get("reason"):
        assert found.reason == right["reason"]
    if right.get("against") is not None:
        assert judged.against == _about(right["against"])
    if "stands_out" in right:
        assert found.stands_out == right["stands_out"]


def _check_shared(judgement: Judgement, key: tuple[Any, bool], prior: Prior | None, right: dict[str, Any]) -> None:
    if right["d0"] is None:
        assert prior is None
    else:
        assert prior is not None
        assert prior.freedom == right["d0"]
        groups: Any = prior.usual
        usual = {f"{kind}/{side}": each for (kind, side), each in groups.items()}
        assert {name: each.variance for name, each in usual.items()} == _about(right["s0"])
        assert {name: each.total for name, each in usual.items()} == right["total"]
    days = judgement.days[key]
    assert days.known == right["known"]
    assert days.freedom == right["freedom_days"]
    numbers = {BASE: 0, NEW: 1}
    shifts = {f"{numbers.get(at, at)}:{campaign}": shift for (at, campaign), shift in days.shifts.items()}  # type: ignore[call-overload]
    assert shifts == _about({at: shift for at, shift in right["shifts"].items() if shift})
    if days.known:
        assert days.usual == _about(right["tau2"])
        assert days.spread_freedom == right["d0_days"]
        assert days.total == right["total_days"]
        assert days.omega == _about(right["omega"])
    members = [each for each in judgement.judged.values() if each.days is days]
    shift = find_shift(members)
    assert shift is not None
    assert math.log(shift.ratio) == _about(right["shift"])
    assert (shift.up, shift.down) == (right["up"], right["down"])
    assert shift.allowance == _about(right["shift_allowance"])


@pytest.mark.parametrize(("given", "expected"), _vectors("trials a side"))
def test_trials_needed(given: list[dict[str, Any]], expected: list[int]) -> None:
    found = [trials_needed(tuple(each["used"]), each["d0"], each["rounding"], 0.02) for each in given]
    assert found == expected


@pytest.mark.parametrize(("given", "expected"), _vectors("campaigns a side"))
def test_campaigns_needed(given: list[dict[str, Any]], expected: list[int]) -> None:
    found = [
        campaigns_needed(
            CampaignNoise(
                each["lam"],
                each["tau2"],
                tuple(each["v1"]),
                each["freedom"],
                each["omega"],
                each["freedom_days"],
                tuple(each["campaigns"]),
            ),
            0.02,
        )
        for each in given
    ]
    assert found == expected


_GATE = {"pass": Gate.PASSES, "fail": Gate.REGRESSED, "can't tell": Gate.CANNOT_TELL}


@pytest.mark.parametrize(("given", "expected"), _vectors("gate"))
def test_gates(given: dict[str, Any], expected: dict[str, Any]) -> None:
    cells = [_cell(each) for each in given["cells"]]
    found = gate(cells, given["limit"], accept_unknown_days=given["days"] == "accept")
    assert found.answer is _GATE[expected["total"]]
    for cell, right in zip(found.cells, expected["cells"], strict=True):
        assert cell is not None
        assert cell.answer is _GATE[right["gate"]]
        if cell.worse is not None and "p1" in right:
            assert list(cell)[1:] == _about([right[key] for key in ("limit", "w", "p1", "q1", "worst")])


def _gated(changed: float, look: int = 0) -> GateResult:
    """The gate's answer on trials of three days that all changed by a factor."""
    base: dict[Hashable, list[float]] = {
        f"day {day}": [100 + day + trial / 10 for trial in range(3)] for day in range(3)
    }
    new: dict[Hashable, list[float]] = {f"{day} later": [each * changed for each in base[day]] for day in base}
    cells = [Cell(base, new, better=Better.HIGHER)]
    return gate(cells, 0.05, accept_unknown_days=True, look=look)


@pytest.mark.parametrize(("changed", "code"), [(1.0, 0), (0.5, 1), (0.955, 2)])
def test_the_gate_is_an_exit_code(changed: float, code: int) -> None:
    assert _gated(changed).exit_code == code


def test_a_later_look_needs_more_evidence() -> None:
    worst = [(cell and cell.worst) or 0.0 for look in range(4) for cell in _gated(1.0, look).cells]
    assert worst == sorted(set(worst))


@pytest.mark.parametrize(("given", "expected"), _vectors("summary"))
def test_summaries(given: dict[str, Any], expected: dict[str, Any]) -> None:
    side = judge([Cell({"a": [1.0]}, {"b": [1.0]})]).comparisons[0].base
    cells = [Comparison(Verdict.SAME, Scope.THESE_RUNS, side, side, ratio=math.exp(d)) for d in given["d"]]
    found = summarise(cells, given["shift_allowance"])
    assert found.cells == expected["K"]
    assert [found.ratio, *(found.interval or ()), found.smallest, found.largest] == _about(
        [expected["ratio"], *expected["interval"], expected["smallest"], expected["largest"]]
    )
    assert (found.scope is Scope.THESE_RUNS) == expected["conditional"]


@pytest.mark.parametrize(("given", "expected"), _vectors("campaigns of", "campaigns:"))
def test_campaigns_by_pauses(given: dict[str, Any], expected: list[int]) -> None:
    assert group_by_pauses(given["starts"], given.get("ends")) == expected


@pytest.mark.parametrize(("given", "expected"), _vectors("outlier", "no outlier"))
def test_outliers(given: dict[str, Any], expected: list[list[float]]) -> None:
    found = find_outliers(given["samples"], given["groups"], [None] * len(given["samples"]))
    assert [list(each) for each in found] == [_about(each) for each in expected]


@pytest.mark.parametrize(("given", "expected"), _vectors("curve"))
def test_curves(given: dict[str, Any], expected: dict[str, Any]) -> None:
    points = list(zip(given["users"], given["values"], strict=True))
    noises = [Drawn(given["s"] ** 2, given["f"]) if given["s"] else None] * len(points)
    found, _ = describe_curve(points, noises, [given["n"]] * len(points))
    unknown = " (noise unknown)" * (given["s"] is None)
    assert found.course + unknown == expected["course"]
    assert (found.after, found.start) == (expected.get("after"), expected.get("start"))
    assert found.change == _about(expected["d"])
    assert found.unseen == _about(expected.get("half"))
