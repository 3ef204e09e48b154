"""iperf 2 as text and CSV: cases, cuts, output of other tools."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.iperf2 import log as iperf2
from importers.iperf3 import log as iperf3
from importers.model import Parsed, Status
from importers.tests.expectations import LOGS, assert_as_expected, cases

CASES = cases("iperf2")
COMPLETE = [
    *("tcp_2.0", "tcp_enhanced", "parallel_short_sum", "udp", "dualtest", "reverse", "full_duplex", "bounceback"),
]


def content(case: str, name: str = "client.txt") -> str:
    return (LOGS / "iperf2" / case / name).read_text(encoding="utf-8")


def parse(log: str) -> Parsed:
    text = decode("client.txt", log.encode()).text
    assert text is not None
    return iperf2.parse(text)


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "iperf2")


@pytest.mark.parametrize("case", COMPLETE)
def test_text_cut_anywhere_is_never_complete(case: str) -> None:
    """Cut before the line end of the last result; later lines add nothing."""
    log = content(case)
    (whole,) = parse(log).fragments
    result = max(reading.line for reading in whole.readings if reading.name.startswith(("mb_per_s", "transactions")))
    end = sum(len(line) for line in log.splitlines(keepends=True)[:result])
    for at in range(1, end):
        parsed = parse(log[:at])
        assert [each for each in parsed.fragments if each.status is Status.COMPLETE] == [], f"cut at {at}"
        assert not parsed.fragments or parsed.problems
    assert parse(log[:end]).fragments[0].readings == whole.readings


@pytest.mark.parametrize("case", ["csv_sum", "csv_udp", "csv_two_tests"])
def test_csv_cut_inside_a_line_is_never_complete(case: str) -> None:
    """A cut between lines looks like a test with fewer connections."""
    log = content(case, "client.csv")
    for at in (at for at in range(1, len(log)) if log[at - 1] != "\n"):
        fragments = parse(log[:at]).fragments
        assert not fragments or fragments[-1].status is Status.INCOMPLETE


def test_results_one_after_another_are_trials() -> None:
    log = content("tcp_enhanced")
    assert [(each.trial, each.status) for each in parse(log * 3).fragments] == [
        (trial, Status.COMPLETE) for trial in (1, 2, 3)
    ]


def test_an_error_before_the_next_heading_is_of_the_next_test() -> None:
    fragments = parse(content("tcp_2.0") + content("refused")).fragments
    assert [each.status for each in fragments] == [Status.COMPLETE, Status.FAILED]


def test_a_first_second_alone_may_be_an_interval() -> None:
    log = content("tcp_2.0")
    first = log[: log.index("[ ID]", log.index("0.0- 1.0"))]
    (fragment,) = parse(first).fragments
    assert fragment.status is Status.INCOMPLETE
    (fragment,) = parse(first.replace("0.0- 1.0", "0.0-10.0")).fragments
    assert fragment.status is Status.COMPLETE


def test_a_server_that_only_listens_has_no_test() -> None:
    server = content("server", "server.txt")
    assert parse(server[: server.index("[  1]")]).fragments == []


@pytest.mark.parametrize(
    "other",
    [
        "-----------------------------------------------------------\nServer listening on 5201 (test #1)\n",
        "Connecting to host lnxb, port 5201\n[ ID] Interval           Transfer     Bitrate\n",
        "Client connecting to lnxb, TCP port 5001\n",
        "20231114,10.9.0.1,1,2,3\n",
    ],
)
def test_what_is_of_another_tool_is_not_recognised(other: str) -> None:
    text = decode("a", other.encode()).text
    assert text is not None
    assert not iperf2.recognise(text)


def test_iperf3_leaves_it_alone() -> None:
    for folder in CASES:
        for path in folder.glob("*.[tc]*"):
            text = decode(path.name, path.read_bytes()).text
            assert text is not None
            assert not iperf3.recognise(text)


def test_a_row_whose_figure_is_no_number_is_no_row() -> None:
    log = content("reverse")
    figure = next(line for line in log.splitlines() if " sec " in line and "Bytes" in line).split(" sec ")[1].split()[0]
    assert "." in figure
    broken = parse(log.replace(f" {figure} ", f" {figure}{figure} "))
    assert all(each.status is not Status.COMPLETE for each in broken.fragments)
