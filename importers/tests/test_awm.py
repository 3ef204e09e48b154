"""Log format 1 of the Application Workload Modeler: each rule, on short logs."""

from datetime import datetime

import pytest

from importers.awm import log as awm
from importers.files.text import decode
from importers.formats import read_files
from importers.model import Fragment, Severity, SourceFile, Status
from importers.tests.fixture_cases import Parsed, parse_with

HEAD = "AWMLOG 1 tool=AWM tool_version=1.2.0 role=client host=LINUXA mb_bytes=1048576"
RUN = 'RUN run_id=AB120101 trial=2 start="2002-02-26 14:05:03" utc_offset=-05:00'
PARM = "PARM workload=RR users=2 req_bytes=200 resp_bytes=1000 seconds=60 mtu=1500 device=QDIO"
INT = "INT n=1 phase=measure t0=0.000 t1=60.000 trans=3000 errors=0 resp_avg_ms=40.000"
CONN = "CONN id=1 trans=1500 seconds=60.00 resp_avg_ms=40.000 errors=0"
SUM = "SUM trans=3000 seconds=60.00 trans_per_sec=50.00 mb_per_sec=0.06 resp_avg_ms=40.000 errors=0"
END = 'END rc=0 reason=complete end="2002-02-26 14:06:03"'
LOG = (HEAD, RUN, PARM, INT, CONN, SUM, END)


def parse(*lines: str, end: str = "\n") -> Parsed:
    decoded = decode("logs/run.log", ("\n".join(lines) + end).encode())
    assert decoded.text is not None
    assert awm.recognise(decoded.text)
    return parse_with(awm, decoded.text)


def changed(**lines: str | None) -> list[str]:
    """The log with lines replaced by name (``RUN=...``) or left out (``SUM=None``)."""
    new = [lines.get(line.split()[0], line) for line in LOG]
    return [line for line in new if line is not None]


def only(parsed: Parsed) -> Fragment:
    (fragment,) = parsed.fragments
    return fragment


def codes(parsed: Parsed) -> list[str]:
    assert all(problem.file == "logs/run.log" and problem.message and problem.remedy for problem in parsed.problems)
    return [problem.code for problem in parsed.problems]


def facts(fragment: Fragment) -> dict[str, str]:
    return {fact.key: fact.text for fact in fragment.facts}


def test_a_whole_log_is_read_as_printed() -> None:
    fragment = only(parse(*LOG))
    assert (fragment.run_id, fragment.trial, fragment.role, fragment.host) == ("AB120101", 2, "client", "LINUXA")
    assert (fragment.taken, fragment.ended) == (datetime(2002, 2, 26, 14, 5, 3), datetime(2002, 2, 26, 14, 6, 3))
    assert (fragment.zone, fragment.status) == ("-05:00", Status.COMPLETE)
    assert [(each.name, each.text, each.unit, each.line, each.role) for each in fragment.readings] == [
        ("transactions", "3000", "count", 6, "total"),
        ("driver_s", "60.00", "s", 6, "total"),
        ("trans_per_s", "50.00", "1/s", 6, "total"),
        ("mb_per_s", "0.06", "MB/s", 6, "total"),
        ("response_ms", "40.000", "ms", 6, "total"),
        ("errors", "0", "count", 6, "total"),
    ]


def test_facts_use_the_dimensions_names() -> None:
    kept = facts(only(parse(*LOG)))
    assert kept["workload"] == "RR"
    assert (kept["request_bytes"], kept["response_bytes"], kept["seconds_asked"]) == ("200", "1000", "60")
    assert (kept["users"], kept["mtu"], kept["device"], kept["mb_bytes"]) == ("2", "1500", "QDIO", "1048576")


@pytest.mark.parametrize(
    "first", ["AWMLOG 1 role=client", "* comment\n\n# another\nAWMLOG 1 role=client", "awmlog 3 x=y"]
)
def test_the_first_line_that_is_no_comment_is_the_signature(first: str) -> None:
    text = decode("a", f"{first}\n".encode()).text
    assert text is not None
    assert awm.recognise(text)


@pytest.mark.parametrize("first", ["RUN run_id=1", "AWMLOGGER 1", "see AWMLOG 1", "AWMLOG"])
def test_other_text_is_not_recognised(first: str) -> None:
    text = decode("a", f"{first}\n".encode()).text
    assert text is not None
    assert not awm.recognise(text)


def test_another_version_is_refused_by_its_number() -> None:
    parsed = parse(HEAD.replace("AWMLOG 1", "AWMLOG 2"), *LOG[1:])
    assert parsed.fragments == []
    assert codes(parsed) == ["awm.version"]
    assert "version 2" in parsed.problems[0].message


@pytest.mark.parametrize(
    ("head", "code"), [("AWMLOG 1 host=A", "awm.missing-key"), ("AWMLOG 1 role=x", "awm.bad-role")]
)
def test_a_log_of_neither_side_is_refused(head: str, code: str) -> None:
    parsed = parse(head, *LOG[1:])
    assert parsed.fragments == []
    assert codes(parsed) == [code]


def test_keys_in_any_case_and_order_comments_blank_lines_and_continuations() -> None:
    lines = (
        "# made by hand\n\n" + HEAD.replace("role", "ROLE"),
        'run Start="2002-02-26 14:05:03" TRIAL=2 Run_Id=AB120101',
        "PARM users=2 workload=RR\n* between\n+ resp_bytes=1000\n  + req_bytes=200 seconds=60",
        SUM,
        END,
    )
    parsed = parse(*lines)
    assert codes(parsed) == []
    assert only(parsed).trial == 2
    assert facts(only(parsed))["request_bytes"] == "200"
    assert next(fact.line for fact in only(parsed).facts if fact.key == "request_bytes") == 8


def test_values_with_blanks_stand_in_quotes() -> None:
    assert facts(only(parse(*changed(PARM=f'{PARM} client_stack="TCP IP 2"'))))["client_stack"] == "TCP IP 2"


def test_unknown_keys_and_records_are_kept() -> None:
    lines = (HEAD + " site=lab", "HINT before all runs", RUN, PARM + " vlan=7", SUM + " p99_ms=80", "GC full 3", END)
    parsed = parse(*lines)
    assert codes(parsed) == []
    kept = facts(only(parsed))
    assert (kept["awm.site"], kept["awm.vlan"], kept["awm.p99_ms"]) == ("lab", "7", "80")
    assert [each.text for each in only(parsed).facts if each.key == "awm.record"] == [
        "HINT before all runs",
        "GC full 3",
    ]


def test_parameters_from_several_lines_are_merged() -> None:
    kept = facts(only(parse(*changed(PARM=f"{PARM}\nPARM port=4100 users=2"))))
    assert (kept["users"], kept["port"]) == ("2", "4100")


def test_a_parameter_with_two_values_means_that_logs_got_mixed() -> None:
    parsed = parse(*changed(PARM=f"{PARM}\nPARM users=50"))
    assert parsed.fragments == []
    assert codes(parsed) == ["awm.contradiction"]
    assert "users=2 in line 3 and users=50 in line 4" in parsed.problems[0].message


def test_the_trial_is_1_unless_said() -> None:
    assert only(parse(*changed(RUN='RUN run_id=A1 start="2002-02-26 14:05:03"'))).trial == 1


def test_the_servers_figures_stay_the_servers() -> None:
    fragment = only(parse(HEAD.replace("role=client", "role=server"), *LOG[1:]))
    assert fragment.role == "server"
    assert {reading.role for reading in fragment.readings} == {"server"}


def test_intervals_keep_the_warm_up_with_its_phase() -> None:
    warm = "INT n=0 phase=warmup t0=0.000 t1=5.000 trans=240 errors=0"
    listing = only(parse(*changed(INT=f"{warm}\n{INT}"))).listings[0]
    assert listing.name == "intervals"
    assert [row[listing.columns.index(("phase", ""))] for row in listing.rows] == ["warmup", "measure"]
    assert [row[listing.columns.index(("resp_avg", "ms"))] for row in listing.rows] == [None, "40.000"]
    assert listing.lines == (4, 5)


def test_the_same_quantity_in_two_units_makes_two_columns() -> None:
    second = "CONN id=2 trans=1500 seconds=60.00 resp_avg_s=40.000 errors=0"
    parsed = parse(*changed(CONN=f"{CONN}\n{second}"))
    assert codes(parsed) == []
    listing = only(parsed).listings[1]
    ms, s = listing.columns.index(("resp_avg", "ms")), listing.columns.index(("resp_avg", "s"))
    assert [(row[ms], row[s]) for row in listing.rows] == [("40.000", None), (None, "40.000")]


def test_units_of_columns_follow_from_keys() -> None:
    record = "CONN id=1 trans=1 seconds=2 rx_bytes=3 bytes_sent=4 trans_per_sec=5 resp_max_ms=6 connects=7 msg=x"
    listing = only(parse(*changed(CONN=record))).listings[1]
    assert listing.columns == (
        *(("id", ""), ("trans", "count"), ("seconds", "s"), ("rx", "bytes"), ("bytes_sent", "bytes")),
        *(("trans", "1/s"), ("resp_max", "ms"), ("connects", "count"), ("msg", "")),
    )


def test_response_time_in_seconds_keeps_its_unit() -> None:
    fragment = only(parse(*changed(SUM="SUM trans=3000 seconds=60.00 resp_avg_s=0.040")))
    assert [(each.text, each.unit) for each in fragment.readings if each.name == "response_ms"] == [("0.040", "s")]


def test_several_runs_and_several_heads_in_a_file() -> None:
    other = [line.replace("AB120101", "AB120102") for line in LOG[1:]]
    third = [HEAD.replace("role=client", "role=server"), *LOG[1:]]
    parsed = parse(*LOG, *other, *third)
    assert codes(parsed) == []
    assert [(each.run_id, each.role) for each in parsed.fragments] == [
        ("AB120101", "client"),
        ("AB120102", "client"),
        ("AB120101", "server"),
    ]
    assert [(each.first_line, each.last_line) for each in parsed.fragments] == [(2, 7), (8, 13), (15, 20)]


def test_a_run_before_the_end_of_the_one_before_cuts_that_off() -> None:
    parsed = parse(*LOG[:-1], *LOG[1:])
    assert [each.status for each in parsed.fragments] == [Status.INCOMPLETE, Status.COMPLETE]
    assert codes(parsed) == ["awm.cut-off"]
    assert parsed.problems[0].line == 7


@pytest.mark.parametrize("last", ["CONN id=2 trans=15", "CONN id=2 resp_max_m", 'END rc=0 reason=complete end="2002'])
def test_a_file_that_ends_inside_a_record_is_incomplete(last: str) -> None:
    parsed = parse(*LOG[:5], last, end="")
    assert only(parsed).status is Status.INCOMPLETE
    assert codes(parsed) == ["awm.cut-off"]
    message = "The log of run AB120101 ends inside a record, with no SUM and no END: the file was cut off"
    assert parsed.problems[0].message.startswith(message)
    assert parsed.problems[0].severity is Severity.WARNING
    assert len(only(parsed).listings[1].rows) == 1


def test_a_cut_record_is_seen_by_its_last_token_even_with_a_line_end() -> None:
    parsed = parse(*LOG[:5], "CONN id=2 trans=1500 resp_max_m")
    assert codes(parsed) == ["awm.cut-off"]
    assert "ends inside a record" in parsed.problems[0].message


def test_a_log_without_end_says_so() -> None:
    parsed = parse(*LOG[:-1])
    assert only(parsed).status is Status.INCOMPLETE
    assert "has no END" in parsed.problems[0].message


def test_a_whole_end_needs_no_line_end() -> None:
    parsed = parse(*LOG, end="")
    assert only(parsed).status is Status.COMPLETE
    assert codes(parsed) == []


def test_an_end_cut_before_its_time_does_not_count() -> None:
    parsed = parse(*LOG[:-1], "END rc=0 reason=complete", end="")
    assert only(parsed).status is Status.INCOMPLETE


def test_an_aborted_run_failed_after_so_many_seconds() -> None:
    end = 'END rc=12 reason=aborted end="2002-02-26 14:05:44" msg="AWM0231E server closed the connection"'
    parsed = parse(*changed(SUM=None, END=end))
    assert only(parsed).status is Status.FAILED
    assert only(parsed).readings == ()
    assert codes(parsed) == ["awm.aborted"]
    assert parsed.problems[0].message == (
        "Run AB120101 was aborted after 41 seconds (server closed the connection): "
        "its intervals are shown but it has no summary and enters no average."
    )


def test_a_run_that_ended_with_a_return_code_failed() -> None:
    parsed = parse(*changed(END='END rc=8 reason=errors end="2002-02-26 14:06:03"'))
    assert only(parsed).status is Status.FAILED
    assert codes(parsed) == ["awm.failed"]


def test_no_transaction_means_failed_without_response_time() -> None:
    conn = 'CONN id=1 trans=0 seconds=60.00 errors=1 msg="connect refused"'
    total = "SUM trans=0 seconds=60.00 trans_per_sec=0.00 resp_avg_ms=0.000 errors=1"
    parsed = parse(*changed(INT=None, CONN=conn, SUM=total, END=END.replace("rc=0", "rc=8")))
    assert only(parsed).status is Status.FAILED
    assert "response_ms" not in {reading.name for reading in only(parsed).readings}
    assert parsed.problems[0].message == (
        "Run AB120101 made no transaction in 60 seconds (1 errors, connect refused): "
        "it is kept as failed, with no response time and no CPU per transaction."
    )


def test_a_complete_run_without_summary_is_incomplete() -> None:
    parsed = parse(*changed(SUM=None))
    assert only(parsed).status is Status.INCOMPLETE
    assert codes(parsed) == ["awm.no-summary"]


@pytest.mark.parametrize(
    ("name", "line", "missing"),
    [
        ("RUN", 'RUN start="2002-02-26 14:05:03"', "run_id"),
        ("RUN", "RUN run_id=A1", "start"),
        ("PARM", "PARM workload=RR users=2 req_bytes=200 seconds=60", "resp_bytes"),
        ("INT", "INT n=1 t0=0 trans=5", "t1"),
        ("CONN", "CONN trans=5 seconds=3", "id"),
        ("END", "END rc=0", "reason"),
    ],
)
def test_a_missing_key_is_named_with_its_record_and_line(name: str, line: str, missing: str) -> None:
    parsed = parse(*changed(**{name: line}))
    problem = next(each for each in parsed.problems if each.code == "awm.missing-key")
    assert problem.severity is Severity.WARNING
    assert problem.line == LOG.index(next(each for each in LOG if each.startswith(name))) + 1
    assert missing in problem.message
    assert missing in problem.remedy
    assert len(parsed.fragments) == 1


@pytest.mark.parametrize("total", ["SUM trans=3000", "SUM seconds=60.00", "SUM trans= seconds=60.00"])
def test_a_summary_without_transactions_or_seconds_is_no_run(total: str) -> None:
    parsed = parse(*changed(SUM=total))
    assert parsed.fragments == []
    assert "awm.missing-key" in codes(parsed)
    assert parsed.problems[0].run_id == "AB120101"


@pytest.mark.parametrize("value", ["3O00", "-3", "1e3", "3,000", "30.5", "٣"])
def test_a_count_that_is_none_refuses_the_run(value: str) -> None:
    parsed = parse(*changed(SUM=f"SUM trans={value} seconds=60.00"))
    assert parsed.fragments == []
    problem = next(each for each in parsed.problems if each.code == "awm.not-a-number")
    assert (problem.severity, problem.line) == (Severity.ERROR, 6)


def test_a_row_with_a_text_for_a_number_loses_that_cell_only() -> None:
    parsed = parse(*changed(CONN="CONN id=1 trans=15OO seconds=60.00"))
    listing = only(parsed).listings[1]
    assert listing.rows == (("1", None, "60.00"),)
    assert codes(parsed) == ["awm.not-a-number"]


def test_a_parameter_that_is_no_number_is_kept_apart() -> None:
    parsed = parse(*changed(PARM=PARM.replace("users=2", "users=two")))
    assert codes(parsed) == ["awm.not-a-number"]
    assert facts(only(parsed))["awm.users"] == "two"
    assert "users" not in facts(only(parsed))


def test_a_trial_that_is_no_number_refuses_the_run() -> None:
    assert parse(*changed(RUN=RUN.replace("trial=2", "trial=b"))).fragments == []


def test_a_time_that_is_none_is_left_out() -> None:
    parsed = parse(*changed(RUN=RUN.replace("2002-02-26", "26.02.2002")))
    assert only(parsed).taken is None
    assert codes(parsed) == ["awm.bad-time"]


def test_records_outside_any_run_are_reported() -> None:
    parsed = parse(HEAD, CONN, *LOG[1:], INT)
    assert codes(parsed) == ["awm.outside-run"]
    assert "CONN in line 2, INT in line 9" in parsed.problems[0].message


def test_two_summaries_that_differ_refuse_the_run() -> None:
    parsed = parse(*changed(SUM=f"{SUM}\n{SUM.replace('3000', '3001')}"))
    assert parsed.fragments == []
    assert "awm.contradiction" in codes(parsed)


def test_connections_that_occur_twice_are_reported() -> None:
    assert codes(parse(*changed(CONN=f"{CONN}\n{CONN}"))) == ["awm.repeated-row"]


def test_a_log_without_any_run() -> None:
    parsed = parse(HEAD)
    assert codes(parsed) == ["awm.no-run"]


def test_ebcdic_logs_read_the_same() -> None:
    data = b"".join(line.encode("cp037") + b"\x15" for line in LOG)
    (reading,) = read_files([SourceFile("logs/run.log", data)])
    assert (reading.format, reading.encoding) == ("awm", "cp037")
    assert reading.fragments == parse(*LOG).fragments
