"""iperf 2 as text and CSV: cases, cuts, output of other tools."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.iperf2 import log as iperf2
from importers.iperf3 import log as iperf3
from importers.model import Status
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, parse_with

CASES = cases("iperf2")
COMPLETE = [
    *("tcp_2.0", "tcp_enhanced", "parallel_short_sum", "udp", "dualtest", "reverse", "full_duplex", "bounceback"),
]


def content(case: str, name: str = "client.txt") -> str:
    return (LOGS / "iperf2" / case / name).read_text(encoding="utf-8")


def parse(log: str) -> Parsed:
    text = decode("client.txt", log.encode()).text
    assert text is not None
    return parse_with(iperf2, text)


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


def _facts(log: str) -> dict[str, str]:
    (fragment,) = parse(log).fragments
    return {fact.key: fact.text for fact in fragment.facts}


def _rates(log: str) -> dict[str, str]:
    (fragment,) = parse(log).fragments
    return {each.role: each.text for each in fragment.readings if each.name == "mb_per_s"}


def _csv(own: str, other: str, row_id: int, rest: str, time: str = "20260301101500") -> str:
    return f"{time},{own},{other},{row_id},{rest}\n"


_CLIENT, _SERVER, _ONCE = "10.9.0.1,40003", "10.9.0.2,5001", "19700101000000"


@pytest.mark.parametrize(
    ("log", "role", "workload"),
    [
        (_csv(_CLIENT, _SERVER, 3, "0.0-2.0,1000,4000"), "client", "STRP"),
        (_csv(_CLIENT, _SERVER, 1, "0.0-2.0,1000,4000", _ONCE), "client", "STRP"),
        (_csv(_SERVER, _CLIENT, 1, "0.0-2.0,1000,4000", _ONCE), "client", "STRG"),
        (_csv(_SERVER, _CLIENT, 3, "0.0-2.0,1000,4000"), "server", None),
        (_csv(_CLIENT, _SERVER, 1, "0.0-2.0,1000,4000,0.1,2,50,4.0,0", _ONCE), "server", "STRP"),
        (
            _csv(_SERVER, "::,0", 1, "0.0-2.0,900,3600", _ONCE) + _csv(_CLIENT, _SERVER, 1, "0.0-2.0,1000,4000", _ONCE),
            "client",
            "STRB",
        ),
    ],
)
def test_ends_in_csv_tell_side_and_direction(log: str, role: str, workload: str | None) -> None:
    """Version 2.1 writes the sender first, 2.0 its own end; 2.1 has no time for a single line."""
    (fragment,) = parse(log).fragments
    assert (fragment.role, fragment.fact_text("workload")) == (role, workload)


def test_a_report_on_one_machine_is_told_by_the_ports() -> None:
    log = _csv("::1,40003", "::1,5001", 3, "0.0-2.0,2000,8000") + _csv(
        "::1,5001", "::1,40003", 3, "0.0-2.1,1000,4000,0.2,5,10,50.0,0"
    )
    assert _rates(log) == {"total": "4000"}


def test_a_way_back_that_began_later_in_csv_is_a_test_of_its_own() -> None:
    there = _csv(_CLIENT, _SERVER, 3, "0.0-2.0,1000,4000")
    back = _csv("10.9.0.1,5001", "10.9.0.2,40010", 4, "0.0-2.0,3000,12000", "20260301101502")
    assert [each.fact_text("workload") for each in parse(there + back).fragments] == ["STRP", "STRG"]


def test_the_sum_of_both_ways_is_of_no_way() -> None:
    back = "".join(f"[  {n}] local 10.9.0.1 port 5001 connected with 10.9.0.2 port 4100{n}\n" for n in (5, 6))
    rows = "".join(f"[  {n}] 0.0000-2.0{n}00 sec  {n}0.0 MBytes   {n}00 Mbits/sec\n" for n in (3, 4, 5, 6))
    listener = f"{_DASHES}\nServer listening on TCP port 5001\n{_DASHES}\n"
    sums = "[SUM] 0.0000-2.0500 sec   180 MBytes  1.80 Gbits/sec\n"
    log = f"{_HEADING}{_connection(3)}{listener}{_connection(4)}{back}{_COLUMNS}{rows}{sums}"
    assert _rates(log) == {"to_server": "300 Mbits/sec + 400 Mbits/sec", "to_client": "500 Mbits/sec + 600 Mbits/sec"}
    assert (_facts(log)["ports"], _facts(log)["users"]) == ("40003-5001 40004-5001 5001-41005 5001-41006", "2")


def test_datagrams_per_second_are_no_retransmits() -> None:
    log = f"{_UDP}{_connection(3)}{_COLUMNS}[  3] 0.0000-2.0100 sec   515 KBytes  2.10 Mbits/sec  359/0      360 pps\n"
    (fragment,) = parse(log).fragments
    assert "retransmits" not in [name for listing in fragment.listings for name, _ in listing.columns]


@pytest.mark.parametrize(
    ("printed", "key", "text"),
    [
        ("TCP window size:  416 KByte (WARNING: requested  208 KByte)", "window", "208 KByte"),
        ("TCP window size: 64.0 KByte", "window", "64.0 KByte"),
        ("TCP window size: 2.50 MByte (default)", "default_window", "2.50 MByte"),
        ("UDP buffer size:  416 KByte (WARNING: requested  200 KByte)", "window", "200 KByte"),
        ("TOS set to 0x0 and nodelay (Nagle off)", "nodelay", "on"),
        ("TCP congestion control set to cubic", "factor.congestion_control", "cubic"),
        ("Sending 1470 byte datagrams, IPG target: 1121.52 us (kalman adjust)", "rate", "1 every 1121.52 us"),
    ],
)
def test_options_that_change_the_work_are_facts(printed: str, key: str, text: str) -> None:
    heading = _HEADING.replace("TCP window size: 85.0 KByte (default)", printed)
    facts = _facts(f"{heading}{_connection(3)}{_COLUMNS}[  3]  0.0- 2.1 sec   515 KBytes  2.10 Mbits/sec\n")
    assert facts[key] == text
    assert ("window" in facts) is (key == "window")


def test_a_server_tells_both_directions() -> None:
    heading = f"{_DASHES}\nServer listening on TCP port 5001\n{_DASHES}\n"
    connection = "[  1] local 10.9.0.2 port 5001 connected with 10.9.0.1 port 40003 (full-duplex)\n"
    rows = "[  1] 0.00-2.01 sec  100 MBytes  417 Mbits/sec\n[ *1] 0.00-2.01 sec  200 MBytes  835 Mbits/sec\n"
    assert _rates(heading + connection + _COLUMNS + rows) == {"to_server": "417", "to_client": "835"}


def test_bytes_without_a_rate_are_no_result() -> None:
    parsed = parse(f"{_HEADING}{_connection(3)}{_COLUMNS}[  3]  0.0- 0.0 sec   512 KBytes  0.00 bits/sec\n")
    assert [each.status for each in parsed.fragments] == [Status.INCOMPLETE]
    assert [each.code for each in parsed.problems] == ["iperf2.no-rate"]
