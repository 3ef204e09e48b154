"""The model that carries measured figures on."""

from typing import Any

from bench.simulate import HIT_MS, MISS_MS, Model, checked, levels


def figures(runs: int, **more: Any) -> dict[str, Any]:
    """Of an archive that needs 1,000 bytes a run, 2,000 of evidence, and a page for ten runs of a question to all."""
    pages = {"table: a whole workload": 100, "best per device over everything": runs // 10}
    found = {"runs": runs, "hot_bytes": 1000 * runs, "cold_bytes": 2000 * runs, "key_pages": 3, "pages": pages}
    return found | {"wal_bytes": 4000.0, "vacuum_bytes_per_s": 1e8} | more


def test_what_grows_in_a_line_is_carried_on() -> None:
    forecast = Model(figures(10_000), figures(100_000)).forecast(1_000_000)
    assert (forecast.hot_bytes, forecast.cold_bytes) == (1e9, 2e9)
    assert forecast.pages_over_all == 100_000
    assert forecast.vacuum_s == 10


def test_a_question_to_a_study_costs_a_page_for_each_new_level() -> None:
    forecast = Model(figures(10_000), figures(100_000)).forecast(100_000_000)
    new = levels(100_000_000) - levels(100_000)
    assert new > 0
    assert (forecast.key_pages, forecast.pages_in_study) == (3 + new, 100 + new)


def test_what_is_not_in_memory_is_read() -> None:
    forecast = Model(figures(10_000), figures(100_000)).forecast(10_000_000)
    assert (forecast.hit(20e9), forecast.hit(5e9)) == (1.0, 0.5)
    assert forecast.reading_s(1000, 20e9) == HIT_MS
    assert forecast.reading_s(1000, 5e9) == HIT_MS + MISS_MS / 2


def test_the_check_sets_measured_beside_foretold() -> None:
    forecast = Model(figures(10_000), figures(100_000)).forecast(1_000_000)
    found = checked(forecast, figures(1_000_000, hot_bytes=2e9))
    assert found["runs with indexes, GB"] == (1.0, 2.0)
