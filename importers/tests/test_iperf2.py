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


_DASHES = "-" * 60
_HEADING = (
    f"{_DASHES}\nClient connecting to 10.9.0.2, TCP port 5001\nTCP window size: 85.0 KByte (default)\n{_DASHES}\n"
)
_UDP = f"{_DASHES}\nClient connecting to 10.9.0.2, UDP port 5001\nSending 1470 byte datagrams\n{_DASHES}\n"
_COLUMNS = "[ ID] Interval       Transfer     Bandwidth\n"


def _connection(number: int) -> str:
    return f"[  {number}] local 10.9.0.1 port 4000{number} connected with 10.9.0.2 port 5001\n"


@pytest.mark.parametrize("interval", ["0.0- 0.0", "0.00-0.00", "0.0000-0.0000"])
def test_bytes_moved_in_no_time_are_a_result_without_seconds(interval: str) -> None:
    log = f"{_HEADING}{_connection(3)}{_COLUMNS}[  3]  {interval} sec   512 KBytes  4.11 Gbits/sec\n"
    (fragment,) = parse(log).fragments
    assert fragment.status is Status.COMPLETE
    assert {each.name: each.text for each in fragment.readings} == {"mb_per_s": "4.11", "bytes_sent": "512"}


def _reports(*connections: int) -> str:
    rows = "".join(f"[  {each}]  0.0- 4.0 sec   977 KBytes  2.00 Mbits/sec\n" for each in (3, 4))
    reports = "".join(
        f"[  {each}] Server Report:\n"
        f"[  {each}]  0.0- 4.1 sec   96{each} KBytes  1.9{each} Mbits/sec   0.1{each}0 ms    {each}/  680 (0.5%)\n"
        for each in connections
    )
    return _UDP + _connection(3) + _connection(4) + _COLUMNS + rows + reports


def test_server_reports_of_connections_are_added_up() -> None:
    (fragment,) = parse(_reports(3, 4)).fragments
    assert fragment.status is Status.COMPLETE
    found = {each.name: each.text for each in fragment.readings}
    assert found["mb_per_s"] == "1.93 Mbits/sec + 1.94 Mbits/sec"
    assert (found["packets_lost"], fragment.fact_text("datagrams")) == ("3 + 4", "680 680")
    assert "loss_percent" not in found


def test_a_missing_server_report_is_named() -> None:
    parsed = parse(_reports(4))
    assert [each.status for each in parsed.fragments] == [Status.INCOMPLETE]
    assert "connection 3" in parsed.problems[0].message


def test_connections_that_were_all_refused_are_one_test() -> None:
    rows = "".join(f"{_connection(n)}{_COLUMNS}[  {n}]  0.0- 0.0 sec  0.00 Bytes  0.00 bits/sec\n" for n in (3, 4, 5))
    (fragment,) = parse(f"connect failed: Connection refused\nwrite1 failed: Broken pipe\n{_HEADING}{rows}").fragments
    assert (fragment.status, fragment.fact_text("error")) == (Status.FAILED, "connect failed: Connection refused")
    assert fragment.fact_text("users") == "3"


def test_ports_of_csv_tell_the_way() -> None:
    there = "20260301101500,10.9.0.1,40003,10.9.0.2,5001,3,0.0-2.0,1000,4000\n"
    back = "20260301101500,10.9.0.1,5001,10.9.0.2,40010,4,0.0-2.0,3000,12000\n"
    (fragment,) = parse(there + back).fragments
    assert fragment.fact_text("workload") == "STRB"
    assert {(each.name, each.role): each.text for each in fragment.readings}["mb_per_s", "to_client"] == "12000"


def test_csv_without_a_report_keeps_the_sent_rate() -> None:
    line = "19700101000000,10.9.0.1,40003,10.9.0.2,5001,1,0.0-3.0,120,320,0.000,0,-1,-0.000,0\n"
    (fragment,) = parse(f"{line}read failed: Connection refused\n").fragments
    assert (fragment.status, fragment.fact_text("sent_rate")) == (Status.INCOMPLETE, "320 bits/s")
    assert not fragment.readings


def test_latency_of_datagrams_is_kept_as_one_way() -> None:
    report = (
        "[  3]  0.0- 4.1 sec   963 KBytes  1.93 Mbits/sec   0.130 ms 3/680 (0.44%) 0.71/0.52/1.80/0.06 ms 170 pps 9\n"
    )
    sent = "[  3]  0.0- 4.0 sec   977 KBytes  2.00 Mbits/sec\n[  3] Server Report:\n"
    log = f"{_UDP}{_connection(3)}{_COLUMNS}{sent}{report}"
    (fragment,) = parse(log).fragments
    assert fragment.fact_text("one_way_latency_ms") == "0.71/0.52/1.80/0.06"
