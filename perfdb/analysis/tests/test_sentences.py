"""The answer of a comparison in sentences."""

from collections.abc import Sequence

import pytest

from perfdb.analysis.metrics import BY_NAME, Better
from perfdb.analysis.render.sentences import (
    describe_answer,
    describe_cost,
    describe_places,
    describe_ranking,
    find_answer,
)
from perfdb.analysis.tables.baseline_comparison import answer
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, parsed
from perfdb.analysis.verdicts.cells import Cell
from perfdb.analysis.verdicts.judge import judge

ASKED = "metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device&baseline=device:LAN"


def said(*pairs: tuple[Sequence[float], Sequence[float]]) -> tuple[str, str, str]:
    """Return the sentences on OSA against LAN, a pair for each number of users; the cost is 1,000 / rate."""
    rows: list[Row] = []
    for users, sides in enumerate(pairs, 1):
        for device, trials in zip(("LAN", "OSA"), sides, strict=True):
            for trial, rate in enumerate(trials, 1):
                key = ("demo", "RR", device, 1500, users, trial, f"{device}{users}", "2.4.7")
                rows.append((len(rows), *key, rate, 1000 / rate, None))
    tables = answer(parsed(ASKED), Observations(DIMENSIONS, MEASURES, rows))
    throughput, cost = (find_answer(table, ("OSA",)) for table in tables)
    return describe_answer(throughput, "OSA", "LAN"), describe_cost(cost), describe_places(throughput)


RATE = "transactions per second"
CALM = (100.0, 100.2, 99.9)
HALF, LESS, MORE = (50.0, 50.1, 49.9), (70.0, 70.2, 69.9), (130.0, 130.3, 129.8)


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([(CALM, HALF), (CALM, LESS)], f"OSA is slower than LAN in both matched pairs: 30–50% fewer {RATE}."),
        ([(CALM, MORE)], f"OSA is faster than LAN: 30% more {RATE}."),
        ([(CALM, CALM), (CALM, CALM)], "OSA and LAN are the same within 2% in both matched pairs."),
        ([(CALM, MORE), (CALM, HALF), (CALM, CALM)],
         "Mixed: OSA is faster than LAN in 1 and slower in 1 of 3 matched pairs, same in 1."),
        ([(CALM, LESS), (CALM, CALM)],
         f"OSA is slower than LAN in 1 of 2 matched pairs, same in 1: 30% fewer {RATE}."),
        ([([100.0], [150.0])], "No answer yet: the pair is not repeated (50% apart)."),
        ([([100.0, 140.0], [120.0, 150.0])],
         "Can't tell whether OSA differs from LAN: the difference is within the noise."),
        ([(CALM, [70.0]), (CALM, [60.0])],
         f"OSA is likely slower than LAN in both matched pairs: 30–40% fewer {RATE}."),
        ([([100.0], []), ([100.0], [])], f"OSA and LAN have no comparable value of {RATE}."),
    ],
)  # fmt: skip
def test_the_first_sentence_answers(pairs: list[tuple[list[float], list[float]]], sentence: str) -> None:
    assert said(*pairs)[0] == sentence


def test_the_cost_follows() -> None:
    assert said((CALM, HALF), (CALM, LESS))[1] == "It needs 43–100% more CPU time per transaction."
    assert said((CALM, CALM))[1] == "CPU time per transaction is the same."
    assert said((CALM, MORE), (CALM, HALF))[1] == "CPU time per transaction: 1 higher, 1 lower of 2 pairs."


def test_where_the_difference_is_largest_is_said_if_it_varies() -> None:
    assert said((CALM, HALF), (CALM, LESS), (CALM, LESS))[2] == "Largest at 1 user (−50%), smallest at 2 users (−30%)."
    assert said((CALM, LESS), (CALM, LESS), (CALM, LESS))[2] == ""


def test_who_is_best_is_said_with_its_ties() -> None:
    def ranked(*sides: Sequence[float]) -> str:
        judged = judge([Cell({"a": sides[0]}, {"b": side}, better=Better.HIGHER) for side in sides[1:]]).comparisons
        means = [(f"D{at}", sum(side) / len(side)) for at, side in enumerate(sides)]
        named = [(*mean, standing) for mean, standing in zip(means, [None, *judged], strict=True)]
        return describe_ranking(BY_NAME["trans_per_s"], named, "Device")

    assert ranked(CALM) == "D0: 100.0 transactions per second."
    assert ranked(MORE, CALM, LESS) == "D0 is fastest of 3 devices: 130.0 transactions per second."
    assert ranked(MORE, [100.0]) == "D0 is likely fastest of 2 devices: 130.0 transactions per second."
    assert ranked(CALM, CALM, HALF) == (
        "D0 and D1 are tied for first of 3 devices: 100.0 transactions per second, "
        "and the difference is within the noise."
    )
    assert ranked([130.0], [100.0]) == (
        "D0 has the best result of 2 devices: 130.0 transactions per second. "
        "Nothing was repeated, so the order can be chance."
    )
