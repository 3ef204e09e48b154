"""Captures of CP QUERY and INDICATE commands: each rule of their description, on short captures."""

from datetime import datetime

import pytest

from importers import cp_query
from importers.model import Fragment, Kind, Parsed, Severity
from importers.text import decode

HEAD = "* CPQUERY-CAPTURE 1 run_id=AB12 phase=before role=client userid=LINUXA"
USERID = ("query userid", "LINUXA   AT ZVM1")
TIME = (
    "query time",
    "TIME IS 14:05:01 EST TUESDAY 02/26/02",
    "CONNECT= 01:12:33 VIRTCPU= 017:25.51 TOTCPU= 033:40.12",
)
USER = (
    "indicate user",
    "USERID=LINUXA   MACH=XA  STOR=512M VIRT=V XSTORE=NONE",
    "IPLSYS=DEV 0201 DEVNUM=00014",
    "PAGES: RES=00131072 WS=00131004 LOCK=00000261 RESVD=00000000",
    "CPU 00: CTIME=01:12 VTIME=017:25 TTIME=033:40 IO=011873",
    "        RDR=000017 PRT=000411 PCH=000000",
)
VSWITCH = (
    "query vswitch vsw1 details",
    "VSWITCH SYSTEM VSW1     Type: VSWITCH Connected: 1    Maxconn: INFINITE",
    "    VSWITCH Connection:",
    "      RX Packets: 52290          Discarded: 1            Errors: 2",
    "      TX Packets: 40377          Discarded: 3            Errors: 4",
    "      RX Bytes: 4120877              TX Bytes: 3129001",
    "    Adapter Owner: LNXCL1   NIC: 0600  Name: UNASSIGNED",
    "      RX Packets: 38120          Discarded: 0            Errors: 0",
    "      RX Bytes: 2980121              TX Bytes: 3120433",
)


def parse(*lines: str, name: str = "before.client.txt", end: str = "\n") -> Parsed:
    decoded = decode(name, ("\n".join(lines) + end).encode())
    assert decoded.text is not None
    assert cp_query.recognise(decoded.text)
    return cp_query.parse(decoded.text)


def only(parsed: Parsed) -> Fragment:
    (fragment,) = parsed.fragments
    return fragment


def codes(parsed: Parsed) -> list[str]:
    assert all(problem.file and problem.message and problem.remedy for problem in parsed.problems)
    return [problem.code for problem in parsed.problems]


def counters(fragment: Fragment) -> dict[tuple[str, str], str]:
    return {(each.subject, each.name): each.text for each in fragment.counters}


def facts(fragment: Fragment) -> dict[str, str]:
    return {fact.key: fact.text for fact in reversed(fragment.facts)}


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


@pytest.mark.parametrize(
    ("printed", "day"),
    [
        ("02/26/02", datetime(2002, 2, 26)),
        ("02/26/1999", datetime(1999, 2, 26)),
        ("2002-02-26", datetime(2002, 2, 26)),
        ("12/31/69", datetime(2069, 12, 31)),
        ("01/01/70", datetime(1970, 1, 1)),
    ],
)
def test_dates_follow_the_users_date_format(printed: str, day: datetime) -> None:
    fragment = only(parse(HEAD, f"TIME IS 00:00:00 EST TUESDAY {printed}", TIME[2]))
    assert fragment.taken == day


@pytest.mark.parametrize("printed", ["26.02.2002", "13/26/02", "02/30/02", "TODAY"])
def test_a_date_that_is_none_leaves_the_time_out(printed: str) -> None:
    parsed = parse(HEAD, f"TIME IS 00:00:00 EST TUESDAY {printed}", TIME[2])
    assert only(parsed).taken is None
    assert codes(parsed) == ["cp_query.bad-time", "cp_query.no-time"]


def test_minutes_and_hours_may_have_more_digits() -> None:
    line = "CONNECT= 125:19:51 VIRTCPU=1020:03.11 TOTCPU= 12037:00.14"
    texts = counters(only(parse(HEAD, TIME[1], line)))
    assert texts == {("", "connect"): "125:19:51", ("", "virtcpu"): "1020:03.11", ("", "totcpu"): "12037:00.14"}


def test_a_counter_of_another_shape_is_left_out_and_reported() -> None:
    parsed = parse(HEAD, TIME[1], "CONNECT= 01:12:33 VIRTCPU= 017:25 TOTCPU= 033:40.12")
    assert set(counters(only(parsed))) == {("", "connect"), ("", "totcpu")}
    assert codes(parsed) == ["cp_query.shape"]
    assert "VIRTCPU= 017:25 is not of the form mmm:ss.hs" in parsed.problems[0].message


def test_time_without_connect_has_no_cpu_time() -> None:
    parsed = parse(HEAD, *TIME[:2], *USERID)
    assert codes(parsed) == ["cp_query.no-cpu-time"]


def test_a_capture_without_time_cannot_be_placed() -> None:
    parsed = parse(HEAD, *USER)
    assert only(parsed).taken is None
    assert codes(parsed) == ["cp_query.no-time"]


def test_the_logoff_line_is_not_taken_for_the_captures_counters() -> None:
    parsed = parse(HEAD, *TIME, "logoff", "CONNECT= 09:00:00 VIRTCPU= 999:00.00 TOTCPU= 999:00.00")
    assert counters(only(parsed))["", "totcpu"] == "033:40.12"


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


def test_adapter_counters_have_network_owner_and_adapter_as_subject() -> None:
    fragment = only(parse(HEAD, *TIME, *VSWITCH))
    texts = counters(fragment)
    assert texts["VSW1/uplink", "rx_packets"] == "52290"
    assert texts["VSW1/uplink", "tx_bytes"] == "3129001"
    assert [texts["VSW1/uplink", f"{way}_{what}"] for way in ("rx", "tx") for what in ("discarded", "errors")] == [
        *("1", "2", "3", "4")
    ]
    assert texts["VSW1/LNXCL1/0600", "rx_bytes"] == "2980121"
    units = {each.name: each.unit for each in fragment.counters}
    assert (units["rx_packets"], units["rx_bytes"]) == ("count", "bytes")


def test_head_lines_of_networks_are_facts() -> None:
    kept = facts(only(parse(HEAD, *TIME, *VSWITCH)))
    assert [kept[f"lan.VSW1.{key}"] for key in ("owner", "type", "connected", "maxconn")] == [
        *("SYSTEM", "VSWITCH", "1", "INFINITE")
    ]


def test_query_nic_repeats_the_same_counters() -> None:
    nic = (
        "query nic 0600 user lnxcl1 details",
        "Adapter 0600  Type: QDIO      Name: UNASSIGNED  Devices: 3",
        "  Port 0 MAC: 02-00-00-00-00-03  VSWITCH: SYSTEM VSW1",
        "  RX Packets: 38125          Discarded: 0            Errors: 0",
    )
    fragment = only(parse(HEAD, *TIME, *VSWITCH, *nic))
    seen = [each.text for each in fragment.counters if (each.subject, each.name) == ("VSW1/LNXCL1/0600", "rx_packets")]
    assert seen == ["38120"]


@pytest.mark.parametrize(
    ("command", "attached", "subject"),
    [
        ("q nic 0600 user lnxcl1 details", "VSWITCH: SYSTEM VSW1", "VSW1/LNXCL1/0600"),
        ("q nic 0600 details", "LAN: SYSTEM GLAN", "GLAN/LINUXA/0600"),
        ("q nic 0600 details", "LAN: None", "none/LINUXA/0600"),
    ],
)
def test_query_nic_alone_names_owner_and_network(command: str, attached: str, subject: str) -> None:
    lines = [
        *(command, "Adapter 0600.P00 Type: QDIO      Name: UNASSIGNED  Devices: 3"),
        *(f"  MAC: 02-00-00-00-00-03  {attached}", "  RX Bytes: 12      TX Bytes: 34"),
    ]
    assert counters(only(parse(HEAD, *TIME, *lines)))[subject, "tx_bytes"] == "34"


def test_packet_counters_of_no_adapter_are_reported() -> None:
    parsed = parse(HEAD, *TIME, "q lan details", "  RX Packets: 5   Discarded: 0   Errors: 0")
    assert codes(parsed) == ["cp_query.no-adapter"]


def test_responses_without_any_echo_are_told_by_their_labels() -> None:
    parsed = parse(HEAD, TIME[1], TIME[2], "z/VM Version 4 Release 2.0, service level 0201 (64-bit)", "STORAGE = 1024M")
    kept = facts(only(parsed))
    assert set(kept) >= {"cp.query_cplevel", "cp.query_storage", "memory", "cp.level"}


def test_other_commands_at_a_known_prompt_end_a_response() -> None:
    lines = ["linuxa:~ # vmcp q v osa", "OSA  0500 ON OSA   0500", "linuxa:~ # uname -r", "2.4.7", "linuxa:~ #"]
    kept = facts(only(parse(HEAD, "linuxa:~ # vmcp q time", *TIME[1:], *lines)))
    assert kept["cp.query_virtual_osa"] == "OSA  0500 ON OSA   0500"
    assert kept["cp.uname_-r"] == "2.4.7"


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
