"""perftest: cases, columns of versions, tests in one file, growth."""

from pathlib import Path

import pytest

from importers.tests.fixture_cases import LOGS, assert_case, cases, facts_of, read_text, readings_of

SWEEP = (LOGS / "perftest" / "sweep" / "write_bw.txt").read_text()
LATENCY = (LOGS / "perftest" / "latency" / "send_lat.txt").read_text()


@pytest.mark.parametrize("folder", cases("perftest"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_tests_one_behind_another_keep_their_own_settings() -> None:
    found = read_text(SWEEP + LATENCY).fragments
    assert [facts_of(each)["users"] for each in found] == ["2", "2", "2", "1"]
    assert [facts_of(each)["workload"] for each in found] == ["STRP", "STRP", "STRP", "RR"]


def test_equal_tests_are_trials() -> None:
    found = read_text(SWEEP + SWEEP.replace("11019.83", "11020.02")).fragments
    assert [each.trial for each in found] == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        ("#bytes #iterations t_min[usec] t_max[usec] t_typical[usec]", "2 1000 0.81 3.10 0.85", "latency_p50_ms"),
        ("#bytes   #iterations   BW average[MB/sec]   MsgRate[Mpps]", "1048576 93205 23302.26 0.023302", "mb_per_s"),
        (
            "#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps] CPU_Util[%]",
            "64 9 1.00 2.00 3.00 4.00",
            "cpu_util@client",
        ),
    ],
)
def test_columns_of_other_versions_and_options(head: str, row: str, expected: str) -> None:
    (fragment,) = read_text(f" Send BW Test\n{head}\n {row}\n").fragments
    assert expected in readings_of(fragment)


def test_settings_without_blanks_and_with_tabs() -> None:
    text = SWEEP.replace("Number of qps   : 2\t\t", "Number of qps: 2      ")
    assert facts_of(read_text(text).fragments[0])["users"] == "2"


def test_a_server_that_waited_in_vain_has_no_result() -> None:
    (fragment,) = read_text(
        "************************************\n* Waiting for client to connect... *\n" + SWEEP[: SWEEP.index(" #bytes")]
    ).fragments
    assert fragment.status == "incomplete"


def test_a_row_with_other_cells_than_its_head_is_left_out_and_named() -> None:
    reading = read_text(SWEEP.replace(" 1024       5000 ", " 1024 "))
    assert len(reading.fragments) == 2
    assert [problem.code for problem in reading.problems] == ["perftest.unknown-lines"]
