"""wrk: cases and cut reports."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.load_tools import wrk
from importers.model import SourceFile, Status
from importers.tests.fixture_cases import LOGS, assert_case, cases, readings_of

REPORT = (LOGS / "wrk" / "latency" / "wrk.txt").read_text()


@pytest.mark.parametrize("folder", cases("wrk"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_a_report_cut_anywhere_is_not_complete() -> None:
    for at in range(len(REPORT)):
        (reading,) = read_files([SourceFile("a.txt", REPORT[:at].encode())])
        assert [each for each in reading.fragments if each.status is Status.COMPLETE] == [], f"cut at {at}"
        assert reading.problems


def test_line_ends_of_windows_change_nothing() -> None:
    plain, other = read_files(
        [SourceFile("a", REPORT.encode()), SourceFile("b", REPORT.replace("\n", "\r\n").encode())]
    )
    assert readings_of(plain.fragments[0]) == readings_of(other.fragments[0])
    assert other.problems == []


@pytest.mark.parametrize(
    "text", ["Running tests @ home\n", "unable to connect to the server\n", "Requests/sec: 1.00\n"]
)
def test_other_text_is_not_recognised(text: str) -> None:
    decoded = decode("a.txt", text.encode()).text
    assert decoded is not None
    assert not wrk.recognise(decoded)


def test_a_report_without_its_first_line_is_one() -> None:
    lines = [line for line in REPORT.splitlines() if not line.startswith("Running")]
    texts = REPORT, "\n".join([*lines, ""])
    whole, headless = read_files([SourceFile("a.txt", text.encode()) for text in texts])
    assert [readings_of(each) for each in headless.fragments] == [readings_of(each) for each in whole.fragments]


@pytest.mark.parametrize("error", ["unable to connect to web:http Refused", "unable to resolve web:http Unknown name"])
def test_a_run_without_connection_is_failed(error: str) -> None:
    (reading,) = read_files([SourceFile("a.txt", f"{error}\n".encode())])
    assert [each.status for each in reading.fragments] == [Status.FAILED]
    assert error in reading.problems[0].message
