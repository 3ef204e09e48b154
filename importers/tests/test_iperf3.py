"""iperf3 in all forms: cases, cuts, mixtures and odd values."""

import json
from pathlib import Path

import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.iperf3 import log as iperf3
from importers.model import SourceFile, Status
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, parse_with

CASES = cases("iperf3")


def content(case: str, name: str = "client.json") -> str:
    return (LOGS / "iperf3" / case / name).read_text(encoding="utf-8")


def parse(log: str) -> Parsed:
    text = decode("client.json", log.encode()).text
    assert text is not None
    return parse_with(iperf3, text)


def facts(log: str) -> dict[str, str]:
    return {fact.key: fact.text for fact in parse(log).fragments[0].facts}


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "iperf3")


@pytest.mark.parametrize("case", ["tcp", "bidir_repeated_keys", "udp", "omit_and_server_output"])
def test_json_cut_anywhere_is_never_complete(case: str) -> None:
    log = content(case).rstrip("\n")
    for at in range(1, len(log)):
        for fragment in parse(log[:at]).fragments:
            assert fragment.status is not Status.COMPLETE
            assert [each.name for each in fragment.readings if each.name == "mb_per_s"] == []


@pytest.mark.parametrize("case", ["text", "text_verbose", "text_bidir", "text_udp"])
def test_text_cut_before_the_last_result_is_never_complete(case: str) -> None:
    log = content(case, "client.txt")
    rows = [line for line in log.splitlines() if line.endswith("receiver") and "/sec" in line]
    end = log.index(rows[-1]) + len(rows[-1]) if rows else len(log)
    for at in range(1, log.index("iperf Done.") + len("iperf Done")):
        parsed = parse(log[:at])
        complete = [each for each in parsed.fragments if each.status is Status.COMPLETE]
        assert complete == [] or at >= end
        assert not parsed.fragments or parsed.problems or complete


_CONNECTING = "Connecting to host web, port 5201\n"
_CONNECTED = "[  {0}] local 10.9.0.1 port 4000{0} connected to 10.9.0.2 port 5201\n"
_HEAD = "[ ID] Interval           Transfer     Bitrate         Retr\n"
_BOTH = (
    "[{0:>3}]   0.00-3.00   sec   300 MBytes   839 Mbits/sec    7             sender\n"
    "[{0:>3}]   0.00-3.04   sec   {1}                  receiver\n"
)
_ARRIVED = "299 MBytes   825 Mbits/sec"
_NOTHING = "0.00 Bytes  0.00 bits/sec"


@pytest.mark.parametrize("ending", ["", "\niperf Done.\n"])
@pytest.mark.parametrize("opening", ["", _CONNECTING + _CONNECTED.format(5)])
def test_result_rows_are_enough(opening: str, ending: str) -> None:
    (fragment,) = parse(opening + _HEAD + _BOTH.format(5, _ARRIVED) + ending).fragments
    assert fragment.status is Status.COMPLETE
    assert {each.name: each.text for each in fragment.readings}["mb_per_s"] == "825"
    assert fragment.fact_text("users") == "1"
    assert fragment.fact_text("workload") == ("STRP" if opening else None)


def test_sums_are_enough_for_many_streams() -> None:
    opening = _CONNECTING + "".join(map(_CONNECTED.format, (5, 7, 9)))
    (fragment,) = parse(opening + _HEAD + _BOTH.format("SUM", _ARRIVED)).fragments
    assert (fragment.status, fragment.fact_text("users")) == (Status.COMPLETE, "3")
    (fragment,) = parse(opening + _HEAD + _BOTH.format(5, _ARRIVED)).fragments
    assert fragment.status is Status.INCOMPLETE


@pytest.mark.parametrize("ids", [(5,), (5, 7, "SUM")])
def test_a_receiver_of_nothing_makes_a_test_incomplete(ids: tuple[object, ...]) -> None:
    rows = "".join(_BOTH.format(each, _NOTHING) for each in ids)
    parsed = parse(_CONNECTING + _HEAD + rows + "\niperf Done.\n")
    assert [each.status for each in parsed.fragments] == [Status.INCOMPLETE]
    assert [each.code for each in parsed.problems] == ["iperf3.nothing-received"]


def test_an_error_before_all_output_is_of_the_unfinished_test() -> None:
    error = "iperf3: interrupt - the client has terminated\n"
    test = _CONNECTING + _CONNECTED.format(5) + _HEAD + _BOTH.format(5, _NOTHING)
    (fragment,) = parse(error + test).fragments
    assert (fragment.status, fragment.fact_text("error")) == (
        Status.INCOMPLETE,
        "interrupt - the client has terminated",
    )
    assert {each.name for each in fragment.readings} == {"bytes_sent", "retransmits"}


_REFUSED = "iperf3: error - unable to connect to server: Connection refused\n"


@pytest.mark.parametrize(
    ("error", "ending"),
    [(_REFUSED, ""), ("iperf3: error - control socket has closed unexpectedly\n", "\niperf Done.\n")],
)
def test_an_error_beside_the_only_result_costs_nothing(error: str, ending: str) -> None:
    test = _CONNECTING + _CONNECTED.format(5) + _HEAD + _BOTH.format(5, _ARRIVED) + ending
    for log in (error + test, error + content("tcp")):
        parsed = parse(log)
        assert [each.status for each in parsed.fragments] == [Status.COMPLETE]
        assert [each.code for each in parsed.problems] == ["iperf3.error-aside"]


def test_errors_of_a_series_are_attempts_that_failed() -> None:
    test = _CONNECTING + _CONNECTED.format(5) + _HEAD + _BOTH.format(5, _ARRIVED) + "\niperf Done.\n"
    statuses = [each.status for each in parse(test + _REFUSED + test).fragments]
    assert statuses == [Status.COMPLETE, Status.FAILED, Status.COMPLETE]


def test_a_server_ended_between_tests_has_no_further_test() -> None:
    listening = "Server listening on 5201 (test #2)\n"
    row = _BOTH.format(5, _ARRIVED).splitlines(keepends=True)[1]
    log = f"{_SERVERS_TEXT[: _SERVERS_TEXT.index('[ ID]')]}{_HEAD}{row}{listening}"
    ended = "iperf3: interrupt - the server has terminated\n"
    assert [each.status for each in parse(log.replace(listening, ended + listening)).fragments] == [Status.COMPLETE]
    assert [each.status for each in parse(log.replace(listening, ended)).fragments] == [Status.INCOMPLETE]
    parsed = parse(log + ended)
    assert [(each.role, each.status) for each in parsed.fragments] == [("server", Status.COMPLETE)]
    assert [each.code for each in parsed.problems] == ["iperf3.no-test"]


def test_the_key_tells_the_direction() -> None:
    document = json.loads(content("udp"))
    end = document["end"]
    for name in [key for key in end if key.startswith("sum")]:
        end[f"{name}_bidir_reverse"] = {**end[name], "sender": True}
    document["start"]["test_start"]["bidir"] = 1
    (fragment,) = parse(json.dumps(document)).fragments
    assert {each.role for each in fragment.readings if each.name == "bytes_sent"} == {"to_server", "to_client"}


def test_json_lines_cut_anywhere_are_never_complete() -> None:
    log = content("json_stream", "client.jsonl").rstrip("\n")
    for at in range(1, len(log)):
        parsed = parse(log[:at])
        assert [each for each in parsed.fragments if each.status is Status.COMPLETE] == []
        assert not parsed.fragments or parsed.problems


def test_two_results_in_one_file_are_trials() -> None:
    log = content("reverse")
    assert [(each.trial, each.status) for each in parse(log + log).fragments] == [
        (1, Status.COMPLETE),
        (2, Status.COMPLETE),
    ]
    other = log.replace('"num_streams":\t1', '"num_streams":\t2')
    assert [each.trial for each in parse(log + other).fragments] == [None, None]


def test_json_on_one_line_reads_the_same() -> None:
    log = content("bidir")
    (pretty,), (compact,) = parse(log).fragments, parse(json.dumps(json.loads(log))).fragments
    assert [(each.name, each.role) for each in pretty.readings] == [(each.name, each.role) for each in compact.readings]
    assert compact.status is Status.COMPLETE


@pytest.mark.parametrize(
    ("said", "run_id", "trial"),
    [
        ('"title":\t"STRP 9000 1 user"', None, None),
        ('"title":\t"STRP"', None, None),
        ('"title":\t"LVPP9011"', "LVPP9011", None),
        ('"title":\t"baseline, run_id=AB101 trial=3"', "AB101", 3),
        ('"extra_data":\t"{\\"run_id\\": \\"AB101\\"}"', "AB101", None),
        ('"extra_data":\t"runid=AB101, trial=0"', "AB101", None),
        ('"title":\t"AB101",\n\t"extra_data":\t"run_id: AB102"', "AB102", None),
    ],
)
def test_title_or_extra_data_may_name_the_run(said: str, run_id: str | None, trial: int | None) -> None:
    log = content("reverse").replace("{", "{\n\t" + said + ",", 1)
    (fragment,) = parse(log).fragments
    assert (fragment.run_id, fragment.trial) == (run_id, trial)


@pytest.mark.parametrize(
    ("old", "new", "mtu"),
    [
        ('"tcp_mss_default":\t1448', '"tcp_mss_default":\t8948', "9000"),
        ('"tcp_mss_default":\t1448', '"tcp_mss_default":\t1428', None),
        ('"tcp_mss_default":\t1448', '"tcp_mss_default":\t1398', None),
        ('"tcp_mss_default":\t1448', '"tcp_mss_default":\t0', None),
    ],
)
def test_the_mtu_follows_only_from_segments_that_leave_no_doubt(old: str, new: str, mtu: str | None) -> None:
    assert facts(content("reverse").replace(old, new)).get("mtu") == mtu


def test_the_path_tells_the_mtu_first() -> None:
    log = content("tcp")
    assert facts(log.replace('"pmtu":\t1500', '"pmtu":\t1480'))["mtu"] == "1480"
    assert "mtu" not in facts(log.replace('"pmtu":\t1500', '"pmtu":\t1480', 1))


def test_a_time_that_is_none_is_left_out() -> None:
    (fragment,) = parse(content("tcp").replace('"timesecs":\t1700000000', '"timesecs":\t1e300')).fragments
    assert (fragment.taken, fragment.zone) == (None, "")


def test_an_error_of_another_kind_is_a_failure_although_there_are_figures() -> None:
    log = content("interrupted").replace(
        "interrupt - the client has terminated by signal Interrupt(2)", "out of memory"
    )
    parsed = parse(log)
    assert [each.status for each in parsed.fragments] == [Status.FAILED]
    assert [each.code for each in parsed.problems] == ["iperf3.failed"]


@pytest.mark.parametrize(
    "other",
    [
        '{"start": {"version": "fio-3.33"}}',
        '{"event": "start", "data": {"version": "tool 1"}}',
        "------------------------------------------------------------\nServer listening on TCP port 5001\n",
        "Client connecting to lnxb, TCP port 5001\n[ ID] Interval       Transfer     Bandwidth\n",
        '{"start": {}, "end": {}}',
    ],
)
def test_what_is_of_another_tool_is_not_recognised(other: str) -> None:
    text = decode("a", other.encode()).text
    assert text is not None
    assert not iperf3.recognise(text)


def test_a_version_behind_many_connections_is_found() -> None:
    log = content("tcp").replace(
        '"connected":\t[', '"connected":\t[' + '{"socket":\t5, "local_host":\t"10.9.0.1"},\n' * 500
    )
    (reading,) = read_files([SourceFile("client.json", log.encode())])
    assert reading.format == "iperf3"


_SERVERS_TEXT = (
    "Accepted connection from 10.9.0.1, port 40000\n"
    "[  5] local 10.9.0.2 port 5201 connected to 10.9.0.1 port 40001\n"
    "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
    "[  5]   0.00-2.00   sec  20.7 MBytes  86.9 Mbits/sec  0.050 ms  5000/20000 (25%)  receiver\n"
)


def test_the_servers_text_in_json_is_the_servers_log() -> None:
    document = json.loads(content("udp")) | {"server_output_text": _SERVERS_TEXT}
    client, server = parse(json.dumps(document)).fragments
    assert (server.role, server.fact_text("cookie")) == ("server", client.fact_text("cookie"))
    assert ("loss_percent", "25", "server") in [(each.name, each.text, each.role) for each in server.readings]


@pytest.mark.parametrize("gone", ["sum_sent_bidir_reverse", "sum_received_bidir_reverse"])
def test_a_direction_without_a_side_is_not_taken_for_the_other(gone: str) -> None:
    document = json.loads(content("bidir"))
    del document["end"][gone]
    (fragment,) = parse(json.dumps(document)).fragments
    assert fragment.status is (Status.INCOMPLETE if "received" in gone else Status.COMPLETE)
    (whole,) = parse(content("bidir")).fragments
    amounts = {(each.name, each.role): each.text for each in whole.readings if each.name != "driver_s"}
    assert all(amounts.get((each.name, each.role), each.text) == each.text for each in fragment.readings)


def test_a_missing_direction_is_told() -> None:
    document = json.loads(content("bidir"))
    document["start"]["test_start"]["bidir"] = 1
    document["end"] = {key: value for key, value in document["end"].items() if "reverse" not in key}
    parsed = parse(json.dumps(document))
    assert [each.code for each in parsed.problems] == ["iperf3.nothing-received"]
    assert {each.role for each in parsed.fragments[0].readings} <= {"to_server", "client", "server"}
    head = _HEAD.replace("[ ID] ", "[ ID][Role] ")
    one_way = _BOTH.format(5, _ARRIVED).replace("]   0.00", "][TX-C]   0.00")
    assert [each.status for each in parse(head + one_way).fragments] == [Status.INCOMPLETE]


def test_tables_one_after_another_are_tests_and_the_last_line_needs_no_end() -> None:
    fragments = parse((_HEAD + _BOTH.format(5, _ARRIVED)) * 2).fragments
    assert [(each.status, each.trial) for each in fragments] == [(Status.COMPLETE, 1), (Status.COMPLETE, 2)]
    (fragment,) = parse((_HEAD + _BOTH.format(5, _ARRIVED)).rstrip("\n")).fragments
    assert fragment.status is Status.COMPLETE


def test_options_that_change_the_work_are_facts_in_json_and_text() -> None:
    document = json.loads(content("udp"))
    document["start"] |= {"sock_bufsize": 65536, "tcp_mss": 1000}
    document["start"]["test_start"] |= {"omit": 1, "tos": 16}
    found = facts(json.dumps(document))
    assert (found["window"], found["rate"], found["tool_options"]) == ("65536", "116000000", "omit=1, tos=16, mss=1000")
    assert not {"window", "tool_options"} & facts(content("udp")).keys()
    asked = (
        "      Target Bitrate: 5000000\n"
        "Starting Test: protocol: UDP, 1 streams, 1448 byte blocks, omitting 2 seconds, 5 second test, tos 0\n"
    )
    found = facts(_CONNECTING + asked + _CONNECTED.format(5) + _HEAD + _BOTH.format(5, _ARRIVED))
    assert (found["rate"], found["tool_options"], found["ports"]) == ("5000000", "omit=2", "40005-5201")


def test_a_server_tells_both_directions_and_whether_anything_moved() -> None:
    opening = _SERVERS_TEXT[: _SERVERS_TEXT.index("[ ID]")]
    head = _HEAD.replace("[ ID] ", "[ ID][Role] ")
    rows = (
        "[  5][RX-S]   0.00-3.04   sec   299 MBytes   825 Mbits/sec                  receiver\n"
        "[  8][TX-S]   0.00-3.04   sec   200 MBytes   550 Mbits/sec    4             sender\n"
    )
    (fragment,) = parse(opening + head + rows).fragments
    rates = {each.role: each.text for each in fragment.readings if each.name == "mb_per_s"}
    assert (fragment.role, rates) == ("server", {"to_server": "825"})
    parsed = parse(opening + _HEAD + _BOTH.format(5, _NOTHING).splitlines(keepends=True)[1])
    assert [each.code for each in parsed.problems] == ["iperf3.nothing-received"]


def test_result_rows_need_no_head_and_a_table_of_bitrates_no_result() -> None:
    rows = _BOTH.format("SUM", _ARRIVED)
    (reading,) = read_files([SourceFile("tail.txt", (rows + "\niperf Done.\n").encode())])
    assert [(each.status, each.first_line) for each in reading.fragments] == [(Status.COMPLETE, 1)]
    interval = "[  5]   0.00-1.00   sec   100 MBytes   839 Mbits/sec    7    402 KBytes\n"
    (reading,) = read_files([SourceFile("cut.txt", (_HEAD + interval).encode())])
    assert (reading.format, [each.status for each in reading.fragments]) == ("iperf3", [Status.INCOMPLETE])
