"""Cleaning of console output around CP's responses, and recognition of commands."""

import pytest

from importers.cp_query.console_lines import clean, command_of, failure_code, is_ready, label_command


def cleaned(*lines: str) -> list[str]:
    return [line.text for line in clean(lines)]


def test_trailing_blanks_and_carriage_returns_go() -> None:
    assert cleaned("query time      \r", "TIME IS x".ljust(80)) == ["query time", "TIME IS x"]


def test_time_stamps_go_when_most_lines_have_one() -> None:
    lines = ["14:05:01 query time", " 14:05:01 TIME IS 14:05:01 EST", "14:05:01      indented", "never stamped"]
    assert cleaned(*lines) == ["query time", "TIME IS 14:05:01 EST", "     indented", "never stamped"]


def test_a_time_at_a_lines_start_stays_when_most_lines_have_none() -> None:
    assert cleaned("query time", "TIME IS 14:05:01", "14:05:01 is a time") == [
        *("query time", "TIME IS 14:05:01"),
        "14:05:01 is a time",
    ]


def test_virtual_cpu_prefixes_go_but_cpu_blocks_stay() -> None:
    assert cleaned("00: TIME IS 1", "CPU 00: VTIME=1:00", "0A: CONNECT= 1") == [
        *("TIME IS 1", "CPU 00: VTIME=1:00"),
        "CONNECT= 1",
    ]


def test_the_node_that_a_tool_puts_in_front_goes() -> None:
    lines = ["zvm1: LAN SYSTEM A  Type: QDIO", "zvm1:   State: Ready", "zvm1: PAGES: RES=1", "PAGES: RES=1"]
    assert cleaned(*lines) == ["LAN SYSTEM A  Type: QDIO", "  State: Ready", "PAGES: RES=1", "PAGES: RES=1"]


@pytest.mark.parametrize("status", ["RUNNING   ZVM1", "MORE...   ZVM1", "HOLDING   ZVM1", "VM READ   ZVM1", "CP READ"])
def test_the_screens_status_line_goes(status: str) -> None:
    assert cleaned("TIME IS 1", f"{status:>79}") == ["TIME IS 1"]


def test_lines_wrapped_at_80_columns_are_joined() -> None:
    head = "VSWITCH SYSTEM VSW1     Type: VSWITCH Connected: 1    Maxconn: INFINITE"
    stamped = f"10:39:50 {head}"
    assert len(stamped) == 80
    assert cleaned(f"{stamped[:79]}X", "YZ", "10:39:50   State: Ready", "10:39:50 q") == [
        *(f"{head[:-1]}XYZ", "  State: Ready"),
        "q",
    ]


def test_a_full_line_before_a_label_of_its_own_stays_alone() -> None:
    full = "A" * 80
    assert cleaned(full, "TIME IS 14:05:01 EST", full, "query time") == [
        *(full, "TIME IS 14:05:01 EST"),
        *(full, "query time"),
    ]


def test_a_value_alone_on_the_next_line_is_joined_to_its_label() -> None:
    assert cleaned("LAN SYSTEM A Type: QDIO Maxconn:", "INFINITE") == ["LAN SYSTEM A Type: QDIO Maxconn: INFINITE"]


def test_counters_on_the_next_line_are_joined_to_connect() -> None:
    (line,) = clean(["CONNECT= 01:23:05 VIRTCPU= 022:18.25", "TOTCPU= 043:51.90"], first=4)
    assert (line.number, line.text) == (4, "CONNECT= 01:23:05 VIRTCPU= 022:18.25 TOTCPU= 043:51.90")


@pytest.mark.parametrize(
    ("echo", "command"),
    [
        ("query time", "query time"),
        ("QUERY TIME", "query time"),
        ("q time", "query time"),
        ("Q T", "query time"),
        ("#cp q time", "query time"),
        ("#CP QUERY TIME", "query time"),
        ("cp q time", "query time"),
        ("vmcp q time", "query time"),
        ("hcp 'q time'", "query time"),
        ("linuxa:~ # hcp query time", "query time"),
        ("[root@linuxa ~]# vmcp --buffer=2k q nic 0600 details", "query nic 0600 details"),
        ("user@h:~$ sudo vmcp ind user exp", "indicate user exp"),
        ("ind", "indicate load"),
        ("IND USER", "indicate user"),
        ("Q V STOR", "query virtual storage"),
        ("q proc", "query processors"),
        ("q cplev", "query cplevel"),
        ("q userid", "query userid"),
        ("q vsw vsw1 det", "query vswitch vsw1 details"),
        ("query nic 0600 user lnxcl1 details", "query nic 0600 user lnxcl1 details"),
    ],
)
def test_echoes_are_spelled_out(echo: str, command: str) -> None:
    found = command_of(echo)
    assert found is not None
    assert found.command == command


@pytest.mark.parametrize(
    "line", ["Q0-00002(00000)", "TIME IS 14:05:01", "query", "LINUXA   AT ZVMPERF1", "quit", "# comment", ""]
)
def test_other_lines_are_no_echoes(line: str) -> None:
    assert command_of(line) is None


def test_ready_messages() -> None:
    assert is_ready("Ready; T=0.01/0.01 10:39:50")
    assert is_ready("Ready(00045); T=0.01/0.01 10:39:50")
    assert not is_ready("Already; done")
    assert failure_code("Ready(00045);") == "00045"
    assert failure_code("Ready; T=0.01/0.01 10:39:50") is None


def test_responses_are_known_by_their_first_line() -> None:
    assert label_command("AVGPROC-041% 04") == "indicate load"
    assert label_command("XSTORE= 2048M online= 2048M") == "query xstore"
    assert label_command("something else") is None
