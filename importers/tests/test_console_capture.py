"""Captures in a file: recognition, head lines, file names, ends."""

from datetime import datetime

import pytest

from importers.cp_query import console_capture as cp_query
from importers.files.text import decode
from importers.formats import read_files
from importers.model import Kind, Severity, SourceFile
from importers.tests.captures import HEAD, TIME, USER, USERID, VSWITCH, codes, counters, facts, only, parse


@pytest.mark.parametrize(
    "line",
    [
        "TIME IS 14:05:01 EST TUESDAY 02/26/02",
        "CONNECT= 01:12:33 VIRTCPU= 017:25.51 TOTCPU= 033:40.12",
        "AVGPROC-041% 04",
        "USERID=LINUXA   MACH=XA",
        "VSWITCH SYSTEM VSW1     Type: VSWITCH",
        "LAN SYSTEM G  Type: QDIO Connected: 1 Maxconn: INFINITE",
        "PROCESSOR 00 MASTER",
        "* CPQUERY-CAPTURE 1 run_id=A1",
        "14:05:01 TIME IS 14:05:01 EST TUESDAY 02/26/02",
        "zvm1: PROCESSOR 0 MASTER CP",
    ],
)
def test_lines_that_only_cp_prints_are_recognised(line: str) -> None:
    text = decode("a", f"{line}\n".encode()).text
    assert text is not None
    assert cp_query.recognise(text)


@pytest.mark.parametrize("line", ["It is TIME IS 14", "PROCESSOR speeds", "LAN party", "AWMLOG 1 role=client"])
def test_other_text_is_not_recognised(line: str) -> None:
    text = decode("a", f"{line}\n".encode()).text
    assert text is not None
    assert not cp_query.recognise(text)


def test_a_capture_is_a_snapshot_with_counters_as_printed() -> None:
    fragment = only(parse(HEAD, *USERID, *TIME, *USER))
    assert (fragment.kind, fragment.run_id, fragment.phase) == (Kind.SNAPSHOT, "AB12", "before")
    assert (fragment.role, fragment.host, fragment.zone) == ("client", "LINUXA", "EST")
    assert fragment.taken == datetime(2002, 2, 26, 14, 5, 1)
    assert [(each.name, each.text, each.unit, each.line, each.role, each.subject) for each in fragment.counters] == [
        ("connect", "01:12:33", "hh:mm:ss", 6, "client", ""),
        ("virtcpu", "017:25.51", "mmm:ss.hs", 6, "client", ""),
        ("totcpu", "033:40.12", "mmm:ss.hs", 6, "client", ""),
        ("ctime", "01:12", "hh:mm", 11, "client", "CPU 00"),
        ("vtime", "017:25", "mmm:ss", 11, "client", "CPU 00"),
        ("ttime", "033:40", "mmm:ss", 11, "client", "CPU 00"),
        ("io", "011873", "count", 11, "client", "CPU 00"),
    ]


def test_several_captures_in_a_file_each_in_its_own_style() -> None:
    other = HEAD.replace("before", "after").replace("client", "lpar").replace("LINUXA", "PERFOPER")
    stamped = [f"14:15:33 {line}".replace("14:05:01", "14:15:33") for line in TIME]
    parsed = parse(HEAD, *TIME, other, *stamped)
    assert codes(parsed) == []
    assert [(each.phase, each.role, each.host, each.first_line, each.last_line) for each in parsed.fragments] == [
        ("before", "client", "LINUXA", 1, 4),
        ("after", "lpar", "PERFOPER", 5, 8),
    ]


def test_two_times_without_head_lines_are_two_captures_mixed() -> None:
    parsed = parse(*TIME, TIME[0], TIME[1].replace("14:05:01", "14:15:33"), TIME[2])
    assert parsed.fragments == []
    assert codes(parsed) == ["cp_query.two-times"]
    assert "in lines 2 and 5" in parsed.problems[0].message


def test_two_times_under_a_head_line_keep_the_first() -> None:
    parsed = parse(HEAD, *TIME, TIME[0], TIME[1].replace("14:05:01", "14:05:03"), TIME[2])
    assert only(parsed).taken == datetime(2002, 2, 26, 14, 5, 1)
    assert [(each.code, each.severity) for each in parsed.problems] == [("cp_query.two-times", Severity.WARNING)]


def test_a_head_line_of_another_version_is_refused() -> None:
    parsed = parse(HEAD.replace("CAPTURE 1", "CAPTURE 2"), *TIME)
    assert parsed.fragments == []
    assert codes(parsed) == ["cp_query.version"]


def test_a_head_line_that_names_another_user_is_refused() -> None:
    parsed = parse(HEAD.replace("LINUXA", "LINUXB"), *USERID, *TIME)
    assert parsed.fragments == []
    assert codes(parsed) == ["cp_query.userid"]


def test_without_head_line_the_name_counts_and_the_run_stays_open() -> None:
    fragment = only(parse(*USERID, *TIME, name="NMGBR950/after.server.txt"))
    assert (fragment.run_id, fragment.phase, fragment.role, fragment.host) == (None, "after", "server", "LINUXA")
    assert {each.role for each in fragment.counters} == {"server"}


def test_what_no_name_tells_is_said_with_what_to_rename() -> None:
    parsed = parse(*TIME, name="capture.txt")
    assert codes(parsed) == ["cp_query.no-phase", "cp_query.no-role"]
    assert "before.client.txt" in parsed.problems[0].remedy


@pytest.mark.parametrize("phase", ["during", ""])
def test_a_head_line_without_a_usable_phase(phase: str) -> None:
    parsed = parse(HEAD.replace("phase=before", f"phase={phase}"), *TIME, name="x.txt")
    assert codes(parsed) == ["cp_query.no-phase"]
    assert only(parsed).phase is None


def test_a_cut_last_line_is_left_out() -> None:
    cut = (*VSWITCH[:-1], "      RX Bytes: 29801")
    parsed = parse(HEAD, *TIME, *cut, end="")
    assert codes(parsed) == ["cp_query.cut-off"]
    assert ("VSW1/LNXCL1/0600", "rx_bytes") not in counters(only(parsed))


def test_a_last_line_whose_end_shows_is_whole_without_line_end() -> None:
    parsed = parse(HEAD, *TIME, end="")
    assert codes(parsed) == []
    assert counters(only(parsed))["", "totcpu"] == "033:40.12"


def test_further_keys_of_the_head_line_are_kept() -> None:
    fragment = only(parse(f"{HEAD} trial=3 operator=smith", *TIME))
    assert fragment.trial == 3
    assert facts(fragment)["cp.head.operator"] == "smith"


@pytest.mark.parametrize(
    ("command", "response"),
    [
        (
            "query cplevel",
            "z/VM Version 7 Release 3.0, service level 2301 (64-bit)\nGenerated at 03/04/24 10:00:00 EDT\n",
        ),
        ("query storage", "STORAGE = 32G CONFIGURED = 32G INC = 1M STANDBY = 0 RESERVED = 0\n"),
        ("query virtual osa", "OSA  0700 ON OSA   0A00 SUBCHANNEL = 0007\n     0700 QDIO-ELIGIBLE\n"),
        ("query processors", "PROCESSOR 00 MASTER CP\nPROCESSOR 01 ALTERNATE CP\n"),
        ("indicate load", "AVGPROC-037% 02\nXSTORE-000000/SEC MIGRATE-0000/SEC\n"),
        ("query vswitch", "VSWITCH SYSTEM VSWX     Type: QDIO    Connected: 2    Maxconn: INFINITE\n"),
    ],
)
def test_one_response_is_a_capture(command: str, response: str) -> None:
    for content in (response, f"{command}\n{response}"):
        (reading,) = read_files([SourceFile("before.client.txt", content.encode())])
        assert (reading.format, len(reading.fragments)) == ("cp_query", 1)


def test_the_head_line_decides() -> None:
    screen = (
        "FCX102      CPU nnnn  SER nnnnn  Interval 11:00:00 - 11:01:00    Perf. Monitor\n"
        "PROC TYPE  %CPU  %CP %EMU  %WT %SYS  %SP %SIC %LOGLD      %VTOT %VEMU  ded. User\n"
    )
    head = "* CPQUERY-CAPTURE 1 run_id=CAP9 phase=after role=client userid=GUESTA\n"
    capture = f"{head}query time\nTIME IS 11:01:00 UTC SUNDAY 03/01/26\n{screen}"
    (reading,) = read_files([SourceFile("a.txt", capture.encode())])
    assert (reading.format, [each.run_id for each in reading.fragments]) == ("cp_query", ["CAP9"])
