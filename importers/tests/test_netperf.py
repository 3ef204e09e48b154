"""netperf: cases, cut logs, and figures after conversion."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.model import SourceFile, Status
from importers.netperf import log as netperf
from importers.tests.fixture_cases import LOGS, assert_case, cases, facts_of, readings_of

RR = (LOGS / "netperf" / "rr_cpu" / "netperf.txt").read_text()
STREAM = (LOGS / "netperf" / "stream_v2" / "netperf.txt").read_text()
KEYED = (LOGS / "netperf" / "selectors_k" / "netperf.txt").read_text()


def status_of(text: str, name: str = "netperf.01.txt") -> list[Status]:
    (reading,) = read_files([SourceFile(name, text.encode())])
    assert reading.problems or all(each.status is Status.COMPLETE for each in reading.fragments)
    return [fragment.status for fragment in reading.fragments]


@pytest.mark.parametrize("folder", cases("netperf"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_a_log_cut_anywhere_is_not_complete() -> None:
    for at in range(len(RR)):
        assert status_of(RR[:at]) != [Status.COMPLETE], f"cut at {at}"


def test_a_log_cut_behind_its_figures_is_complete_only_between_tables() -> None:
    end = STREAM.index("Alignment")
    for at in range(len(STREAM)):
        complete = status_of(STREAM[:at]) == [Status.COMPLETE]
        has_row = STREAM[:at].rstrip()[-1:].isdigit()
        assert complete == (at >= end - 1 and STREAM[at - 1] == "\n" and has_row), f"cut at {at}"


def test_keys_that_the_command_line_asked_for_must_be_there() -> None:
    assert status_of(KEYED.replace("-k THROUGHPUT,", "-k THROUGHPUT,REMOTE_BYTES_SENT,")) == [Status.INCOMPLETE]
    assert status_of(KEYED.replace("ELAPSED_TIME=20.00\n", "")) == [Status.INCOMPLETE]


def test_all_keys_end_with_the_command_line() -> None:
    everything = "SOCKET_TYPE=Stream\nPROTOCOL=TCP\nDIRECTION=Send|Recv\nELAPSED_TIME=2.00\n" + KEYED.partition("\n")[2]
    head = everything.partition("COMMAND_LINE")[0].replace("ELAPSED_TIME=20.00\n", "")
    assert status_of(head) == [Status.INCOMPLETE]


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text])
def test_line_ends_and_marks_of_windows_change_nothing(change: object) -> None:
    assert callable(change)
    plain, other = read_files([SourceFile("a.txt", RR.encode()), SourceFile("b.txt", change(RR).encode())])
    assert readings_of(plain.fragments[0]) == readings_of(other.fragments[0])
    assert other.problems == []


@pytest.mark.parametrize(
    ("test", "pattern"),
    [
        ("TCP REQUEST/RESPONSE", "RR"),
        ("TCP Connect/Request/Response", "CRR"),
        ("TCP Connect/Close", "CRR"),
        ("TCP STREAM", "STRP"),
        ("TCP SENDFILE", "STRP"),
        ("TCP MAERTS", "STRG"),
        ("UDP STREAM", "STRP"),
        ("SCTP 1-TO-MANY STREAM", "STRP"),
        ("OMNI Send", "STRP"),
        ("OMNI Receive", "STRG"),
        ("OMNI Send|Recv", "RR"),
    ],
)
def test_the_banner_tells_the_workload(test: str, pattern: str) -> None:
    text = RR.replace("MIGRATED TCP REQUEST/RESPONSE", test)
    (reading,) = read_files([SourceFile("netperf.txt", text.encode())])
    assert facts_of(reading.fragments[0])["workload"] == pattern


def test_a_connection_that_only_closes_carries_nothing() -> None:
    (reading,) = read_files([SourceFile("netperf.txt", RR.replace("REQUEST/RESPONSE", "Connect/Close").encode())])
    facts = facts_of(reading.fragments[0])
    assert (facts["request_bytes"], facts["response_bytes"]) == ("0", "0")


def test_interim_results_by_keys_are_intervals() -> None:
    interims = "NETPERF_INTERIM_RESULT[0]=15001.00\nNETPERF_UNITS[0]=Trans/s\nNETPERF_INTERVAL[0]=0.50\n"
    lines = KEYED.replace("THROUGHPUT=", interims + "NETPERF_ENDING[0]=1700000000.50\nTHROUGHPUT=", 1)
    (reading,) = read_files([SourceFile("netperf.txt", lines.encode())])
    (listing,) = reading.fragments[0].listings
    assert (listing.columns, listing.rows) == ((("trans_per_s", "Trans/s"), ("seconds", "s")), (("15001.00", "0.50"),))


@pytest.mark.parametrize("text", ["THROUGHPUT=1\n", "PATH=/bin\nHOME=/root\n", "a TEST from here\n", "1 2 3 4 5\n"])
def test_other_text_is_not_recognised(text: str) -> None:
    decoded = decode("a.txt", text.encode()).text
    assert decoded is not None
    assert not netperf.recognise(decoded)


def test_a_carriage_return_in_a_line_is_no_end_of_values() -> None:
    (reading,) = read_files([SourceFile("a.txt", ("Throughput,Throughput Units\r10,x\n" + RR).encode())])
    assert readings_of(reading.fragments[0])["trans_per_s"] == "12345.67 trans/s"


_HOSTS = "from 0.0.0.0 (0.0.0.0) port 0 AF_INET to web () port 0 AF_INET"
_TABLE = "Local /Remote\nSocket Size   Request  Resp.   Elapsed\nSend   Recv   Size     Size    Time     {}\n"


@pytest.mark.parametrize("unit", ["10^6bits/sec", "10^9bits/sec", "KBytes/sec", "GBytes/sec"])
@pytest.mark.parametrize("name", ["TCP REQUEST/RESPONSE", "TCP Connect/Request/Response", "UDP REQUEST/RESPONSE"])
def test_the_heading_says_what_the_rate_of_transactions_counts(name: str, unit: str) -> None:
    table = _TABLE.format("Throughput") + f"bytes  Bytes  bytes    bytes   secs.    {unit}\n\n"
    log = f"MIGRATED {name} TEST {_HOSTS}\n{table}16384  87380  300      500     10.00    64.00\n16384  87380\n"
    (reading,) = read_files([SourceFile("a.txt", log.encode())])
    assert readings_of(reading.fragments[0]) == {"driver_s": "10.00 s", "mb_per_s": f"64.00 {unit}"}


_KEYS = "MEAN_LATENCY=41.00\nTHROUGHPUT=24100.10\nTHROUGHPUT_UNITS=Trans/s\n"
_COMMAND = "netperf -H web -t TCP_RR -l 5 -- -k mean_latency,throughput,throughput_units"


@pytest.mark.parametrize(
    "typed",
    [
        "$ {}",
        "# {}",
        "[root@lab7 ~]# {}",
        "ann@lab7:~/net$ {}",
        "{}",
        "sudo {}",
        "+ {}",
        "lab7% {}",
        "$ sh -x 4.sh; {}",
    ],
)
def test_a_typed_command_is_no_output_and_tells_the_test(typed: str) -> None:
    (reading,) = read_files([SourceFile("a.txt", f"{typed.format(_COMMAND)}\n{_KEYS}".encode())])
    (fragment,) = reading.fragments
    assert (fragment.status, facts_of(fragment)["workload"]) == (Status.COMPLETE, "RR")
    assert reading.problems == []


def test_the_line_behind_a_banner_is_the_reason() -> None:
    reason = "create_data_socket: SO_RCVBUF: Operation not permitted"
    (reading,) = read_files([SourceFile("a.txt", f"TCP STREAM TEST {_HOSTS}\n{reason}\n".encode())])
    assert [each.message for each in reading.problems] == [f"netperf failed: {reason}"]
    assert facts_of(reading.fragments[0])["error"] == reason


def test_names_of_columns_are_enough() -> None:
    log = "Elapsed Time (sec),Throughput,Throughput Units\n10.00,31000.5,Trans/s\n"
    (reading,) = read_files([SourceFile("a.csv", log.encode())])
    assert readings_of(reading.fragments[0]) == {"driver_s": "10.00 s", "trans_per_s": "31000.5 Trans/s"}


_STREAMS = (
    "Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n"
    "bytes  bytes   bytes    secs.    10^6bits/sec\n\n 87380  16384  16384    10.00     941.30\n"
)
_ECHOES = (
    "Local /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\n"
    "bytes  Bytes  bytes    bytes   secs.    per sec\n\n"
    "16384  87380  1        1       10.00    23456.78\n16384  87380\n"
)


@pytest.mark.parametrize(
    ("before", "table", "workload"),
    [
        ("", _STREAMS, None),
        ("", _ECHOES, None),
        ("$ netperf -H web -t TCP_MAERTS\n", _STREAMS, "STRG"),
        ("netperf -H web -t UDP_RR\n", _ECHOES, "RR"),
        ("TCP STREAM TEST to web : +/-2.5% @ 99% conf.\n", _STREAMS, "STRP"),
    ],
)
def test_a_table_is_enough(before: str, table: str, workload: str | None) -> None:
    (reading,) = read_files([SourceFile("a.txt", f"{before}{table}".encode())])
    (fragment,) = reading.fragments
    assert (fragment.status, facts_of(fragment).get("workload")) == (Status.COMPLETE, workload)
    assert [each.code for each in reading.problems] == ([] if workload else ["netperf.no-direction"])
    figure = {_STREAMS: ("mb_per_s", "941.30 10^6bits/sec"), _ECHOES: ("trans_per_s", "23456.78 trans/s")}[table]
    assert readings_of(fragment)[figure[0]] == figure[1]


def test_tables_without_banner_are_tests_each() -> None:
    (reading,) = read_files([SourceFile("a.txt", (_STREAMS + _ECHOES + _STREAMS).encode())])
    assert [each.status for each in reading.fragments] == [Status.COMPLETE] * 3
