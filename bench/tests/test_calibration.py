"""A small part of the calibration: verdicts keep what they promise, with generous limits."""

import json

import pytest

from bench.calibration import CHAPTERS, RESULT, Setting, calibrate, count_verdicts


@pytest.mark.parametrize(
    "setting",
    [
        Setting("nothing between days", earlier=3),
        Setting("days differ", day=0.01, earlier=3),
        Setting("whole days differ", common=0.01, earlier=3),
        Setting("3 against 3 campaigns", day=0.01, campaigns=(3, 3)),
        Setting("campaigns hold both sides", day=0.01, earlier=3, paired=True),
    ],
    ids=lambda setting: setting.title,
)
def test_days_that_are_known_raise_few_false_alarms(setting: Setting) -> None:
    _, (alarms, cover, _, found) = count_verdicts(setting, 40, (0.05, 0.20), seed=1)
    # Of 40 tables at most 6 % have an alarm; 6 of them are a chance of one in a hundred.
    assert alarms <= 12.5
    assert cover >= 92
    assert found >= 75


def test_trials_alone_raise_few_false_alarms() -> None:
    _, (alarms, cover, _, found) = count_verdicts(Setting("trials alone"), 60, (0.02, 0.05), seed=2)
    assert alarms <= 12
    assert cover >= 92
    assert found >= 90


def test_days_that_nobody_can_see_raise_them() -> None:
    """The reason why such verdicts are said of these runs only."""
    _, (alarms, *_) = count_verdicts(Setting("days", day=0.01), 20, (0.05, 0.1), seed=3)
    assert alarms > 80


def test_the_stored_result_has_every_row() -> None:
    stored = json.loads(RESULT.read_text(encoding="utf-8"))
    fresh = json.loads(json.dumps(calibrate(1)))
    for old, new, chapter in zip(stored["chapters"], fresh["chapters"], CHAPTERS, strict=True):
        assert [row["title"] for row in old["rows"]] == [row["title"] for row in new["rows"]]
        assert all(len(row["figures"]) == len(chapter.columns) for row in old["rows"])
