"""Monitors' reports in a run's record: roles, means, windows, and what must not be worked out."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from fixtures.tests.cases.report_listings import (
    PERFKIT_DRIVER,
    PERFKIT_WINDOW,
    SCREEN,
    VMPRF_DRIVER,
    VMPRF_WINDOW,
    Page,
    controlled,
    perfkit_pages,
    vmprf_pages,
)
from importers.collate.drafts import collate
from importers.formats import read_files
from importers.model import SourceFile
from perfdb.analysis.metrics import Measure
from perfdb.results.runs.derive import derive_into
from perfdb.results.runs.normalize import Context, prepare
from perfdb.results.runs.record import RunRecord

VMPRF = controlled(vmprf_pages(), VMPRF_WINDOW)
PAGES = {page.name: page for page in perfkit_pages()}
PERFKIT = controlled([*PAGES.values()], PERFKIT_WINDOW)


def record_of(*texts: str, given: Mapping[str, str] | None = None) -> RunRecord:
    names = {f"file{number}.txt": number for number in range(1, len(texts) + 1)}
    readings = read_files(SourceFile(name, text.encode()) for name, text in zip(names, texts, strict=True))
    collated = collate(fragment for reading in readings for fragment in reading.fragments)
    (draft,) = collated.drafts
    problems = [problem for reading in readings for problem in reading.problems]
    record = prepare(draft, Context(names, given or {}, datetime(2026, 1, 1, tzinfo=UTC), problems))
    derive_into(record)
    return record


def value(record: RunRecord, measure: str) -> float | None:
    found = record.values.get(Measure.parse(measure))
    return found.value if found else None


def codes(record: RunRecord) -> set[str]:
    return {problem.code for problem in record.problems}


def perfkit(*pages: Page) -> str:
    return controlled(pages, PERFKIT_WINDOW)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("cpu_util", 43.225),
        ("virtual_cpu_util", 32.4),
        ("cp_cpu_util", 10.825),
        ("elapsed_s", 120),
        ("cpu_ms_per_trans", 43.225 * 2 * 10 / 1000),
        ("cp_cpu_ms_per_trans", (43.225 - 32.4) * 2 * 10 / 1000),
        ("processor_util@tcpipa", 41.7),
        ("virtual_processor_util@tcpipa", 25.8),
        ("run_wait@tcpipa", 41.7 + 18.3),
        ("cpu_ms_per_trans@tcpipa", 50 / 120 * 1000 / 1000),
        ("cp_cpu_ms_per_trans@tcpipb", (29 - 19) / 120 * 1000 / 1000),
        ("processor_util@nontcp", 28 / 120 * 100),
        ("virtual_cpu_ms_per_trans@nontcp", 20 / 120 * 1000 / 1000),
    ],
)
def test_a_run_with_vmprf_reports(measure: str, expected: float) -> None:
    assert value(record_of(VMPRF_DRIVER, VMPRF, given={"processors": "2"}), measure) == pytest.approx(expected)


def test_guests_that_play_no_part_are_named_and_left_out() -> None:
    record = record_of(VMPRF_DRIVER, VMPRF)
    assert {measure.role for measure in record.values} <= {"total", "lpar", "tcpipa", "tcpipb", "nontcp"}
    (note,) = [problem.message for problem in record.problems if problem.code == "report.users-left-out"]
    assert "MONWRITE" in note
    assert "SYCLI01" not in note


def test_a_person_names_the_parts_of_guests() -> None:
    record = record_of(VMPRF_DRIVER, VMPRF, given={"roles": "client=sycli* monitor=MONWRITE"})
    assert value(record, "processor_util@client") == pytest.approx(14 / 120 * 100)
    assert value(record, "processor_util@nontcp") == pytest.approx(14 / 120 * 100)
    assert value(record, "processor_util@monitor") == 0
    assert "report.below-precision" in codes(record)


def test_without_processors_nothing_of_the_system_and_a_proposal() -> None:
    record = record_of(VMPRF_DRIVER, VMPRF)
    assert value(record, "cpu_ms_per_trans") is None
    assert value(record, "cpu_ms_per_trans@tcpipa") is not None
    (warning,) = [problem for problem in record.problems if problem.code == "report.no-processors"]
    assert "processors=3" in warning.remedy


def test_a_report_of_another_time_gives_facts_and_no_values() -> None:
    record = record_of(VMPRF_DRIVER, VMPRF.replace(" 09:1", " 11:1"), given={"processors": "2"})
    (warning,) = [problem.message for problem in record.problems if problem.code == "report.other-window"]
    assert warning == (
        "The report covers 11:10:00 to 11:12:00, but the driver log of this run covers 09:09:20 to 09:12:40: "
        "they do not overlap, so no CPU per transaction is worked out."
    )
    assert not [measure for measure in record.values if "cpu" in measure.metric]
    assert "other_window.cpu_util mean" in record.facts
    assert record.status == "complete"


def test_a_report_that_reaches_beyond_the_run_is_used_with_a_warning() -> None:
    record = record_of(VMPRF_DRIVER.replace("09:09:20", "09:11:00"), VMPRF)
    assert "report.partial-window" in codes(record)
    assert value(record, "cpu_util") == pytest.approx(43.225)


def test_a_mean_that_the_rows_do_not_have_is_pointed_out() -> None:
    record = record_of(VMPRF_DRIVER, VMPRF.replace("   43.4   32.5", "   93.4   32.5"))
    assert "report.mean" in codes(record)


def test_the_order_of_files_does_not_matter() -> None:
    one, other = record_of(VMPRF_DRIVER, VMPRF), record_of(VMPRF, VMPRF_DRIVER)
    assert {m: v.value for m, v in one.values.items()} == {m: v.value for m, v in other.values.items()}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("processor_util", 40.4),
        ("virtual_processor_util", 20.4),
        ("cpu_util", 20.2),
        ("cpu_ms_per_trans", 40.4 * 10 / 10_000),
        ("virtual_cpu_ms_per_trans", 20.4 * 10 / 10_000),
        ("cp_cpu_ms_per_trans", 20.0 * 10 / 10_000),
        ("processors@lpar", 2),
        ("processor_util@client", 40.5),
        ("cpu_ms_per_trans@client", 24.3 * 1000 / 60 / 10_000),
        ("run_wait@client", 45.5),
        ("elapsed_s", 60),
    ],
)
def test_a_run_with_a_performance_toolkit_listing(measure: str, expected: float) -> None:
    assert value(record_of(PERFKIT_DRIVER, PERFKIT), measure) == pytest.approx(expected)


def test_the_most_exactly_printed_report_counts_whatever_the_order() -> None:
    names = {"sypk2101.fcx100.txt": 1, "driver.log": 2, "listing.txt": 3}
    texts = (SCREEN, PERFKIT_DRIVER, PERFKIT)
    readings = read_files(SourceFile(name, text.encode()) for name, text in zip(names, texts, strict=True))
    (draft,) = collate(fragment for reading in readings for fragment in reading.fragments).drafts
    record = prepare(draft, Context(names, {}, datetime(2026, 1, 1, tzinfo=UTC)))
    assert len(draft.reports) == 2
    assert value(record, "processor_util") == pytest.approx(40.4)


def test_the_coarse_ratio_serves_where_nothing_better_was_made() -> None:
    record = record_of(PERFKIT_DRIVER, perfkit(PAGES["SYSSUMLG"]))
    assert value(record, "cpu_ms_per_trans") == pytest.approx(20.2 * 2 * 10 / 10_000)
    assert value(record, "virtual_cpu_ms_per_trans") == pytest.approx(20.2 / 1.98 * 2 * 10 / 10_000)
    assert record.values[Measure("virtual_cpu_ms_per_trans")].formula == "virtual_cpu_ms_per_trans.ratio/1"


def test_a_cut_report_is_not_replaced_by_a_coarse_one() -> None:
    text = perfkit(PAGES["SYSSUMLG"], PAGES["PROCLOG"])
    record = record_of(PERFKIT_DRIVER, text[: text.index(">>Mean>>   1") + 22])
    assert value(record, "cpu_util") == 20.2
    assert not [str(measure) for measure in record.values if "_per_trans" in measure.metric]


def test_without_mean_rows_the_intervals_average_by_their_length() -> None:
    text = "".join(line for line in PERFKIT.splitlines(keepends=True) if ">>Mean>>" not in line)
    record = record_of(PERFKIT_DRIVER, text)
    assert value(record, "processor_util") == pytest.approx(40.4)
    assert value(record, "virtual_processor_util") == pytest.approx(20.4)


def test_intervals_are_traces_in_the_runs_own_time() -> None:
    traces = {(each.listing, each.column): each for each in record_of(PERFKIT_DRIVER, PERFKIT).traces}
    assert traces["syssumlg", "t1"].samples == [100, 130]
    assert traces["syssumlg", "cpu_util"].samples == pytest.approx([20.2, 20.2])


def test_intervals_over_midnight() -> None:
    text = PERFKIT.replace("2006/05/09 14:21:10", "2006/05/10 00:00:30").replace("14:21:10", "00:00:30")
    text = text.replace("2006/05/09 14:20:10", "2006/05/09 23:59:30").replace("14:20:40", "00:00:00")
    driver = PERFKIT_DRIVER.replace("14:19:00", "23:58:20").replace("2006-05-09 14:22:20", "2006-05-10 00:01:40")
    traces = {(each.listing, each.column): each for each in record_of(driver, text).traces}
    assert traces["syssumlg", "t1"].samples == [100, 130]


def test_the_reports_processors_count_before_the_given_ones() -> None:
    record = record_of(PERFKIT_DRIVER, PERFKIT, given={"processors": "4"})
    assert value(record, "processors@lpar") == 2
    assert "given.not-needed" in codes(record)
