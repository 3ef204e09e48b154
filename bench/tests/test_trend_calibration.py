"""A small part of the calibration of trends, with generous limits."""

import json

import numpy as np
import pytest

from bench.trend_calibration import CHAPTERS, LENGTHS, NOISES, OURS, PEERS, RESULT, count_alarms, count_steps, find_step

KINDS = range(len(NOISES))


@pytest.mark.parametrize("number", KINDS, ids=list(NOISES))
def test_unchanged_series_are_quiet(number: int) -> None:
    """At most 5 % have a change; of 200 series more than 9 % is a chance of one in a hundred."""
    assert all(count_alarms(detector, number, 50, 200) <= 9 for detector in OURS)


def test_steps_are_found() -> None:
    together, likely, alone = OURS
    assert count_steps(0.10, together, 0, 50, 200) >= 90
    assert count_steps(0.05, likely, 0, 50, 200) >= 80
    assert count_steps(0.10, alone, 1, 50, 200) >= 80


@pytest.mark.parametrize("number", KINDS, ids=list(NOISES))
def test_each_noise_has_the_spread_that_is_said(number: int) -> None:
    logs = list(NOISES.values())[number](np.random.default_rng(1), (400, 100))
    assert logs.shape == (400, 100)
    spread = float(np.median(np.std(logs, axis=1)))
    assert 0.008 <= spread <= 0.06


def test_steps_are_ten_points_from_the_end() -> None:
    assert [find_step(points) for points in LENGTHS] == [5, 10, 40, 90, 190]


def test_the_stored_result_has_every_row() -> None:
    stored = json.loads(RESULT.read_text(encoding="utf-8"))
    assert [each["title"] for each in stored["chapters"]] == [chapter.title for chapter in CHAPTERS]
    ours = {detector.title for detector in OURS}
    for each in stored["chapters"]:
        of_peer = each["title"].partition(": ")[2] not in ours
        assert [row["title"] for row in each["rows"]] in ([list(NOISES)] + ([[]] if of_peer else []))
        assert all(len(row["figures"]) == len(LENGTHS) for row in each["rows"])
    assert len(PEERS) == 2
