"""mtr: cases, forms, columns, hosts that do not answer, growth."""

from pathlib import Path

import pytest

from importers.model import Status
from importers.tests.fixture_cases import LOGS, assert_case, cases, read_text, readings_of

REPORT = (LOGS / "mtr" / "report" / "mtr.txt").read_text()
JSON = (LOGS / "mtr" / "json" / "mtr.json").read_text()


@pytest.mark.parametrize("folder", cases("mtr"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_the_start_has_the_printed_zone() -> None:
    (fragment,) = read_text(REPORT).fragments
    assert (str(fragment.taken), fragment.zone) == ("2026-03-04 09:15:02", "+0100")


def test_a_start_without_zone_is_local() -> None:
    (fragment,) = read_text(REPORT.replace("2026-03-04T09:15:02+0100", "Wed Mar  4 09:15:02 2026")).fragments
    assert (str(fragment.taken), fragment.zone) == ("2026-03-04 09:15:02", "")


def test_every_hop_is_a_row_with_the_columns_that_were_chosen() -> None:
    text = (
        "HOST: load1                       Drop   Rcv  Jttr   Avg\n"
        "  1.|-- gw.lab                        0     4   0.1   0.4\n"
        "  2.|-- db3.lab                       1     3   0.2   2.5\n"
    )
    (fragment,) = read_text(text).fragments
    (hops,) = fragment.listings
    assert hops.columns == (
        ("hop", ""),
        ("host", ""),
        ("lost", ""),
        ("received", ""),
        ("jttr_ms", "ms"),
        ("latency_mean_ms", "ms"),
    )
    assert [list(row) for row in hops.rows] == [
        ["1", "gw.lab", "0", "4", "0.1", "0.4"],
        ["2", "db3.lab", "1", "3", "0.2", "2.5"],
    ]
    assert readings_of(fragment) == {"response_ms": "2.5 ms", "latency_mean_ms": "2.5 ms"}


def test_a_report_for_each_start_and_each_head_line() -> None:
    found = read_text(REPORT + REPORT.replace("09:15:02", "10:15:02")).fragments
    assert [fragment.trial for fragment in found] == [1, 2]
    head, *hops = REPORT.splitlines(keepends=True)[2:]
    assert len(read_text("".join([head, *hops, head, *hops])).fragments) == 2


def test_another_address_than_the_one_asked_for_is_no_answer() -> None:
    reading = read_text(JSON.replace('"host": "10.30.1.3"', '"host": "10.30.0.1"'))
    assert [problem.code for problem in reading.problems] == ["mtr.no-answer"]
    assert not reading.fragments[0].readings
    assert read_text(JSON.replace('"host": "10.30.1.3"', '"host": "db3.lab"')).fragments[0].status is Status.COMPLETE


def test_json_that_breaks_off_is_incomplete() -> None:
    (fragment,) = read_text(JSON[: JSON.index('"StDev": 0.5')]).fragments
    assert fragment.status is Status.INCOMPLETE
    assert not fragment.readings


@pytest.mark.parametrize("line", ["HOST: load1 is down", "Start: 09:15", "mtr version 0.95"])
def test_other_texts_are_not_recognised(line: str) -> None:
    assert read_text(f"{line}\nand more\n").format != "mtr"


def test_rows_with_other_cells_than_the_head_are_named_once() -> None:
    text = (LOGS / "mtr" / "csv" / "mtr.csv").read_text()
    reading = read_text(text.replace("0.31,0.38", "0.38").replace("0.30,0.36", "0.36"))
    assert [problem.code for problem in reading.problems] == ["mtr.unknown-lines"]
    assert len(reading.fragments) == 2
