"""CP responses: boundaries, guests, processors and levels."""

import pytest

from importers.model import Severity
from importers.tests.captures import HEAD, TIME, USER, USERID, codes, counters, facts, only, parse


def test_each_virtual_cpu_is_a_subject_and_expanded_storage_is_none() -> None:
    new = (
        "USERID=LINUXA   MACH=ESA STOR=4G VIRT=V XSTORE=---",
        "IPLSYS=DEV 0150 DEVNUM=11",
        "PAGES: RES=1048576 WS=1048000 LOCKEDREAL=261 RESVD=0",
        "INSTAN=1048576",
        "NPREF=0 PREF=0 READS=8 WRITES=0",
        "CPU 00: CTIME=01:12 VTIME=017:25 TTIME=033:40 IO=011873",
        "        RDR=000017 PRT=000411 PCH=000000 TYPE=CP   CPUAFFIN=ON",
        "CPU 01: CTIME=01:12 VTIME=001:05 TTIME=002:10 IO=000873",
    )
    texts = counters(only(parse(HEAD, *TIME[:2], "ind user exp", *new)))
    assert texts["CPU 00", "vtime"] == "017:25"
    assert texts["CPU 01", "ttime"] == "002:10"


def test_another_users_cpu_time_is_kept_apart() -> None:
    other = "USERID=LINUXB   MACH=XA"
    texts = counters(only(parse(HEAD, *TIME, "ind user linuxb", other, USER[4])))
    assert texts["LINUXB/CPU 00", "vtime"] == "017:25"
    assert ("CPU 00", "vtime") not in texts


def test_processors_are_the_lines_with_master_or_alternate() -> None:
    lines = [
        *("q proc", "PROCESSOR 00 MASTER CP", "PROCESSOR 01 ALTERNATE CP", "PROCESSOR 02 ALTERNATE IFL"),
        *("PROCESSOR 03 STANDBY CP", "PROCESSOR 04 PARKED CP", "q cplevel"),
    ]
    parsed = parse(HEAD, *TIME, *lines)
    (reading,) = only(parsed).readings
    assert (reading.name, reading.text, reading.role, reading.line) == ("processors", "3", "lpar", 6)
    assert codes(parsed) == []


def test_processors_at_the_end_of_a_capture_may_not_be_all() -> None:
    parsed = parse(HEAD, *TIME, "q proc", "PROCESSOR 00 MASTER")
    assert codes(parsed) == ["cp_query.open-end"]
    assert parsed.problems[0].severity is Severity.NOTE


def test_processors_asked_twice_must_agree() -> None:
    first, again = ("q proc", "PROCESSOR 00 MASTER"), ("q proc", "PROCESSOR 00 MASTER", "PROCESSOR 01 ALTERNATE")
    assert codes(parse(HEAD, *TIME, *first, *first, "Ready;")) == []
    parsed = parse(HEAD, *TIME, *first, *again, "Ready;")
    assert codes(parsed) == ["cp_query.contradiction"]
    assert [reading.text for reading in only(parsed).readings] == ["1"]


@pytest.mark.parametrize(
    "line",
    [
        "z/VM Version 4 Release 2.0, service level 0201 (64-bit)",
        "z/VM Version 4 Release 2.0, Service Level 0201 (32-bit)",
    ],
)
def test_the_hypervisors_level(line: str) -> None:
    kept = facts(only(parse(HEAD, *TIME, "q cplevel", line, "Generated at 02/11/02 09:14:22 EST")))
    assert (kept["cp.level"], kept["cp.service_level"]) == ("z/VM 4.2.0", "0201")
    assert "Generated at" in kept["cp.query_cplevel"]


@pytest.mark.parametrize(
    ("line", "memory"),
    [
        ("STORAGE = 1024M", "1024M"),
        ("STORAGE = 4G CONFIGURED = 4G INC = 2M STANDBY = 0  RESERVED = 0", "4G"),
    ],
)
def test_memory_expanded_storage_and_load(line: str, memory: str) -> None:
    lines = ["q stor", line, "q xstor", "XSTORE= 2048M online= 2048M", "ind", "AVGPROC-041% 0004", "q v stor"]
    kept = facts(only(parse(HEAD, *TIME, *lines, "STORAGE = 512M MAX = 1G")))
    assert (kept["memory"], kept["xstore"], kept["load"], kept["virtual_memory"]) == (memory, "2048M", "041%", "512M")


def test_the_node_comes_from_query_userid() -> None:
    assert facts(only(parse(HEAD, *USERID, *TIME)))["node"] == "ZVM1"


def test_every_response_is_kept_as_text() -> None:
    lines = ["q chpid 0d", "Path 0D online to devices 0500 0501", "Ready;", "q frames", "All Frames:", "Online=1"]
    kept = facts(only(parse(HEAD, *TIME, *lines)))
    assert kept["cp.query_chpid_0d"] == "Path 0D online to devices 0500 0501"
    assert kept["cp.query_frames"] == "All Frames:\nOnline=1"


def test_a_message_instead_of_a_response_is_kept_and_noted() -> None:
    message = "HCPQVC006E Invalid device type - FOO"
    parsed = parse(HEAD, *TIME, "query nic 0600 details", message, "Ready(00006); T=0.01/0.01 14:05:01")
    assert codes(parsed) == ["cp_query.message", "cp_query.message"]
    assert parsed.problems[0].severity is Severity.NOTE
    assert "QUERY NIC 0600 DETAILS was answered by: HCPQVC006E" in parsed.problems[0].message
    assert facts(only(parsed))["cp.query_nic_0600_details"] == message


def test_responses_without_any_echo_are_told_by_their_labels() -> None:
    parsed = parse(HEAD, TIME[1], TIME[2], "z/VM Version 4 Release 2.0, service level 0201 (64-bit)", "STORAGE = 1024M")
    kept = facts(only(parsed))
    assert set(kept) >= {"cp.query_cplevel", "cp.query_storage", "memory", "cp.level"}


def test_other_commands_at_a_known_prompt_end_a_response() -> None:
    lines = ["linuxa:~ # vmcp q v osa", "OSA  0500 ON OSA   0500", "linuxa:~ # uname -r", "2.4.7", "linuxa:~ #"]
    kept = facts(only(parse(HEAD, "linuxa:~ # vmcp q time", *TIME[1:], *lines)))
    assert kept["cp.query_virtual_osa"] == "OSA  0500 ON OSA   0500"
    assert kept["cp.uname_-r"] == "2.4.7"


def test_indicate_user_counts_pages_and_those_of_expanded_storage_apart() -> None:
    lines = [
        "ind user",
        "USERID=LINUXA   MACH=XA  STOR=512M VIRT=V XSTORE=NONE",
        "NPREF=00000000 PREF=00000000 READS=00000008 WRITES=00000009",
        "XSTORE=000120 READS=000031 WRITES=000032 MIGRATES=000001",
        "CPU 00: CTIME=01:12 VTIME=017:25 TTIME=033:40 IO=011873",
    ]
    fragment = only(parse(*lines))
    found = counters(fragment)
    assert found["", "page_reads"] == "00000008"
    assert found["", "page_writes"] == "00000009"
    assert found["", "xstore_reads"] == "000031"
    assert found["", "xstore_writes"] == "000032"
    assert found["CPU 00", "ctime"] == "01:12"
    assert found["CPU 00", "io"] == "011873"


def test_level_load_and_uplink_as_facts() -> None:
    lines = [
        "q cplevel",
        "z/VM Version 6 Release 3.0, service level 1501 (64-bit)",
        "Generated at 01/15/15 10:11:12 EST",
        "IPL at 02/20/15 11:12:13 EST",
        "ind",
        "AVGPROC-041% 0004",
        "q vswitch vsw1",
        "VSWITCH SYSTEM VSW1     Type: QDIO    Connected: 1    Maxconn: INFINITE",
        "  State: Ready",
        "  Portname: UNASSIGNED RDEV: F200 Controller: DTCVSW1  VDEV: F200",
    ]
    fragment = only(parse(*lines))
    found = facts(fragment)
    assert found["cp.generated"] == "01/15/15 10:11:12 EST"
    assert found["cp.ipl"] == "02/20/15 11:12:13 EST"
    assert found["load_processors"] == "4"
    assert [found[f"lan.VSW1.{key}"] for key in ("state", "rdev", "controller")] == ["Ready", "F200", "DTCVSW1"]
