"""Linux snapshots: content and lines of each section, of any writer and when cut."""

from datetime import datetime
from pathlib import Path

import pytest

from importers.formats import FileReading, read_files
from importers.linux_snapshot.host_snapshot import read_name
from importers.model import Fragment, Kind, SourceFile
from importers.tests.fixture_cases import assert_case, cases

LOGS = Path(__file__).parents[2] / "fixtures/logs/linux_snapshot"
BEFORE = LOGS / "two_hosts/lnxc1.before.txt"


def read_text(text: str | bytes, name: str = "lnxc1.before.txt") -> FileReading:
    (reading,) = read_files([SourceFile(name, text.encode() if isinstance(text, str) else text)])
    return reading


def read_file(name: str) -> Fragment:
    path = LOGS / name
    reading = read_text(path.read_bytes(), path.name)
    assert (reading.format, reading.problems) == ("linux_snapshot", [])
    (fragment,) = reading.fragments
    return fragment


def section(title: str, *lines: str) -> FileReading:
    return read_text("\n".join(["==> date <==", "2024-03-14T10:20:00+01:00", "", f"==> {title} <==", *lines, ""]))


def counters(reading: FileReading | Fragment) -> dict[str, str]:
    (fragment,) = reading.fragments if isinstance(reading, FileReading) else (reading,)
    return {f"{each.subject} {each.name}": each.text for each in fragment.counters}


def facts(reading: FileReading | Fragment) -> dict[str, str]:
    (fragment,) = reading.fragments if isinstance(reading, FileReading) else (reading,)
    return {each.key: each.text for each in fragment.facts}


@pytest.mark.parametrize("folder", cases("linux_snapshot"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


@pytest.mark.parametrize(
    ("counter", "text", "unit", "line"),
    [
        ("uptime uptime", "2000.10", "s", 9),
        ("cpu user", "7900", "ticks", 12),
        ("cpu guest", "40", "ticks", 12),
        ("processor/0 softirq", "1875", "ticks", 13),
        ("processor/1 idle", "183000", "ticks", 14),
        ("kernel interrupts", "700100", "count", 15),
        ("kernel btime", "1710406000", "s", 17),
        ("softirq/1 NET_RX", "880", "count", 27),
        ("interrupt/0 3 IO-APIC qdio_enc600", "410", "count", 31),
        ("adapter/enc600 rx_bytes", "1200400", "bytes", 38),
        ("adapter/enc600 rx_dropped", "3", "count", 38),
        ("adapter/enc600 tx_packets", "8050", "count", 38),
        ("snmp Tcp.RetransSegs", "5", "count", 44),
        ("netstat TcpExt.TCPTimeouts", "2", "count", 48),
        ("netstat IpExt.InOctets", "1500400", "count", 50),
        ("softnet/0 processed", "4294967290", "count", 57),
        ("softnet/1 dropped", "2", "count", 58),
        ("link/enc600 rx_multicast", "14", "count", 64),
        ("link/enc600 tx_bytes", "310200", "bytes", 68),
        ("link/enc600 tx_error_transns", "2", "count", 70),
        ("ethtool/enc600 [0]: rx_ucast_packets", "8100", "count", 75),
        ("cgroup/test.slice usage", "12500000", "us", 79),
    ],
)
def test_a_counter_is_read_as_printed(counter: str, text: str, unit: str, line: int) -> None:
    subject, _, name = counter.partition(" ")
    (found,) = (e for e in read_file("two_hosts/lnxc1.before.txt").counters if (e.subject, e.name) == (subject, name))
    assert (found.text, found.unit, found.line) == (text, unit, line)
    # Only softnet_stat is printed in another base.
    printed = BEFORE.read_text().splitlines()[line - 1]
    assert (f"{int(text):08x}" if subject.startswith("softnet") else text) in printed


def test_settings_are_facts_of_the_host() -> None:
    fragment = read_file("two_hosts/lnxc1.before.txt")
    said = facts(fragment)
    expected = {
        "node": "lnxc1",
        "level": "Linux 5.14.21-150500",
        "architecture": "s390x",
        "machine": "8561",
        "memory": "4028416 kB",
        "mtu": "8992",
        "qdisc": "fq_codel",
        "driver": "qeth_l2",
        "offload.tso": "on",
        "offload.gro": "off",
        "congestion_control": "cubic",
        "section.lszdev": "TYPE  ID       ON   PERS  NAMES\nqeth  0.0.0600 yes  yes   enc600",
    }
    assert {key: said.get(key) for key in expected} == expected
    assert all(fact.of_host for fact in fragment.facts)
    assert [(each.name, each.text, each.line) for each in fragment.readings] == [("processors", "2", 13)]


def test_levels_are_no_counters() -> None:
    found = counters(read_file("two_hosts/lnxc1.before.txt"))
    levels = {"snmp Tcp.CurrEstab", "snmp Tcp.MaxConn", "snmp Ip.DefaultTTL"}
    assert not levels & found.keys()
    assert not [name for name in found if "sockstat" in name]


def test_the_name_says_host_and_phase_and_the_date_the_time() -> None:
    fragment = read_file("two_hosts/lnxs1.after.txt")
    assert (fragment.host, fragment.phase, fragment.role) == ("lnxs1", "after", "")
    assert (fragment.taken, fragment.zone) == (datetime(2024, 3, 14, 10, 20, 10, 790000), "+01:00")


def test_commands_at_a_prompt_are_sections_too() -> None:
    typed, tailed = read_file("prompted/client.before.txt"), read_file("two_hosts/lnxc1.before.txt")
    assert counters(typed) == counters(tailed)
    assert (typed.role, typed.host, facts(typed)["mtu"]) == ("client", "lnxc1", "1492")


@pytest.mark.parametrize(
    ("name", "counter", "text"),
    [
        ("proc_stat.before", "cpu user", "7900"),
        ("proc_net_dev.after", "adapter/enc600 tx_bytes", "30510200"),
        ("proc_net_snmp.before", "snmp Tcp.OutSegs", "8020"),
        ("proc_softirqs.after", "softirq/0 NET_RX", "105200"),
        ("proc_uptime.before", "uptime uptime", "2000.10"),
        ("softnet_stat.after", "softnet/1 processed", "960"),
        ("ip_s_link.before.json", "link/enc600 rx_dropped", "3"),
    ],
)
def test_a_bare_file_is_known_by_name_or_content(name: str, counter: str, text: str) -> None:
    fragment = read_file(f"bare/{name}")
    assert counters(fragment)[counter] == text
    assert fragment.phase == ("before" if "before" in name else "after")


def test_a_statistic_that_only_one_driver_has_names_it() -> None:
    named = section("ethtool -S eth0", "NIC statistics:", "     peer_ifindex: 7", "     rx_queue_0_drops: 0")
    (driver,) = (fact for fact in named.fragments[0].facts if fact.key == "driver")
    assert (driver.text, driver.line, driver.of_host) == ("veth", 6, True)
    assert "driver" not in facts(section("ethtool -S eth0", "NIC statistics:", "     rx_queue_0_drops: 0"))


def test_a_bare_date_is_a_moment_and_a_bare_setting_a_report() -> None:
    date, offloads = read_file("bare/date.before"), read_file("bare/ethtool_k_enc600.txt")
    assert (date.taken, date.kind) == (datetime(2024, 3, 14, 10, 20, 0, 250000), Kind.SNAPSHOT)
    assert (offloads.kind, facts(offloads)["offload.tso"]) == (Kind.REPORT, "on")


@pytest.mark.parametrize(
    ("printed", "taken", "zone"),
    [
        ("2024-03-14T10:20:00,123456789+01:00", datetime(2024, 3, 14, 10, 20, 0, 123456), "+01:00"),
        ("2024-03-14T10:20:00Z", datetime(2024, 3, 14, 10, 20), "+00:00"),
        ("Thu Mar 14 10:20:00 UTC 2024", datetime(2024, 3, 14, 10, 20), "+00:00"),
        ("Thu Mar  4 12:20:00 AM EST 2024", datetime(2024, 3, 4, 0, 20), "EST"),
        ("1710408000.25", datetime(2024, 3, 14, 9, 20, 0, 250000), "+00:00"),
    ],
)
def test_dates_come_in_several_forms(printed: str, taken: datetime, zone: str) -> None:
    (fragment,) = read_text(f"==> date <==\n{printed}\n\n==> /proc/uptime <==\n1.00 2.00\n").fragments
    assert (fragment.taken, fragment.zone) == (taken, zone)


@pytest.mark.parametrize("printed", ["yesterday", "2024-13-14T10:20:00", "Thu Foo 14 10:20:00 UTC 2024", ""])
def test_a_date_that_is_none_is_said(printed: str) -> None:
    reading = read_text(f"==> date <==\n{printed}\n\n==> /proc/uptime <==\n1.00 2.00\n")
    assert [problem.code for problem in reading.problems] == ["linux_snapshot.no-date"]


@pytest.mark.parametrize("figures", [4, 7, 8, 9])
def test_older_kernels_print_fewer_cpu_times(figures: int) -> None:
    found = counters(section("/proc/stat", "cpu " + " ".join(map(str, range(1, figures + 1)))))
    assert len(found) == figures
    assert ("cpu steal" in found) is (figures >= 8)


def test_an_adapter_s_name_may_touch_its_first_number() -> None:
    found = counters(section("/proc/net/dev", "eth0:1234 5 0 0 0 0 0 0 99 7 0 0 0 0 0 0"))
    assert (found["adapter/eth0 rx_bytes"], found["adapter/eth0 tx_bytes"]) == ("1234", "99")


def test_processors_are_numbered_as_the_head_says() -> None:
    found = counters(section("/proc/softirqs", "        CPU0  CPU2", "NET_RX:  11  22"))
    assert found == {"softirq/0 NET_RX": "11", "softirq/2 NET_RX": "22"}


def test_interrupts_of_a_host_with_one_processor() -> None:
    lines = (
        "            CPU0",
        "   3:        410   IO-APIC   qdio_enc600",
        " NMI:          0   Non-maskable interrupts",
    )
    found = section("/proc/interrupts", *lines, " ERR:          7")
    expected = {"3 IO-APIC qdio_enc600": "410", "NMI Non-maskable interrupts": "0", "ERR": "7"}
    assert counters(found) == {f"interrupt/0 {name}": text for name, text in expected.items()}
    assert found.problems == []
    # Of several processors, what has a single number is counted for all together.
    both = section(
        "/proc/interrupts", "            CPU0       CPU1", "   3:        410        205   qdio", " ERR:          7"
    )
    assert counters(both) == {"interrupt/0 3 qdio": "410", "interrupt/1 3 qdio": "205", "interrupt ERR": "7"}


def test_of_several_adapters_nobody_knows_whose_mtu_counts() -> None:
    links = (
        "1: lo: <LOOPBACK,UP> mtu 65536 qdisc noqueue state UNKNOWN",
        "2: eth0: <UP> mtu 1500 qdisc mq state UP",
        "3: eth1@if7: <UP> mtu 9000 qdisc mq state UP",
    )
    said = facts(section("ip -s link", *links))
    assert "mtu" not in said
    assert (said["mtu.eth0"], said["mtu.eth1"]) == ("1500", "9000")


def test_control_groups_of_both_versions() -> None:
    one = section("/sys/fs/cgroup/cpuacct/run/cpuacct.usage", "152614018992")
    two = section("/sys/fs/cgroup/run/cpu.stat", "usage_usec 81", "user_usec 30", "nr_periods 0")
    ticks = section("/sys/fs/cgroup/cpuacct/run/cpuacct.stat", "user 12", "system 140")
    assert counters(one) == {"cgroup/run usage": "152614018992"}
    assert counters(two) == {"cgroup/run usage": "81", "cgroup/run user": "30"}
    assert counters(ticks) == {"cgroup/run user": "12", "cgroup/run system": "140"}


def test_a_figure_that_is_none_is_left_out_and_said() -> None:
    reading = section("/proc/stat", "cpu  12 x34 5 6")
    assert counters(reading) == {"cpu user": "12", "cpu system": "5", "cpu idle": "6"}
    assert [(problem.code, problem.line) for problem in reading.problems] == [("linux_snapshot.shape", 5)]


def test_a_file_without_phase_is_said() -> None:
    reading = read_text(BEFORE.read_bytes(), "lnxc1.txt")
    assert "linux_snapshot.no-phase" in {problem.code for problem in reading.problems}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("run/linuxa.before.txt", ("before", None, "linuxa")),
        ("run/AB101.lnx01.after.txt", ("after", None, "lnx01")),
        ("run/client.before.txt", ("before", "client", None)),
        ("run/server/before/proc_stat", ("before", "server", None)),
        ("run/proc_stat.linuxb.after", ("after", None, "linuxb")),
        ("before/linuxa.txt", ("before", None, None)),
    ],
)
def test_names_tell_phase_role_and_host(name: str, expected: tuple[str | None, ...]) -> None:
    named = read_name(name)
    assert (named.phase, named.role, named.host) == expected


def test_cut_at_any_byte_there_is_never_a_wrong_figure() -> None:
    data = BEFORE.read_bytes()
    whole = set(read_file("two_hosts/lnxc1.before.txt").counters)
    for at in range(0, len(data), 3):
        reading = read_text(data[:at])
        assert reading.fragments or reading.problems
        for fragment in reading.fragments:
            assert set(fragment.counters) <= whole, f"cut at {at}"
            if data[:at].rpartition(b"\n")[2].strip():
                assert "linux_snapshot.cut-off" in {problem.code for problem in reading.problems}


def test_line_ends_of_other_systems_and_garbage_around_change_nothing() -> None:
    data, expected = BEFORE.read_bytes(), read_file("two_hosts/lnxc1.before.txt").counters
    windows = read_text(data.replace(b"\n", b"\r\n"))
    assert windows.fragments[0].counters == expected
    wrapped = read_text(b"Last login: Thu Mar 14\n" + data + b"\n==> dmesg <==\n[ 12.0] eth0: link up\n")
    assert counters(wrapped) == {f"{each.subject} {each.name}": each.text for each in expected}


@pytest.mark.parametrize(
    "text",
    ["# cat shopping.list\nmilk\n", "==> netperf.txt <==\nTCP STREAM TEST\n", "cpu fast\n", "2024-03-14\n", "# date\n"],
)
def test_other_texts_are_no_snapshots(text: str) -> None:
    reading = read_text(text, "notes.txt")
    assert reading.format is None or not reading.fragments


PROTOCOLS = {"snmp Tcp.RetransSegs": "31", "snmp Tcp.OutSegs": "5200", "netstat TcpExt.TCPTimeouts": "4"}


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("nstat -asz", ["#kernel", "TcpRetransSegs   31   0.0", "TcpOutSegs 5200 0.0", "TcpExtTCPTimeouts 4 0.0"]),
        ("nstat -azj", ['{"kernel":{"TcpRetransSegs":31,"TcpOutSegs":5200,"TcpExtTCPTimeouts":4}}']),
        (
            "nstat -a -p -j",
            ['{"kernel": {', '"TcpRetransSegs": 31,', '"TcpOutSegs": 5200,', '"TcpExtTCPTimeouts": 4', "}}"],
        ),
        (
            "netstat -s",
            [
                *("Ip:", "    Forwarding: 1", "Tcp:", "    3 connections established", "    5200 segments send out"),
                *("    31 segments retransmited", "TcpExt:", "    TCPTimeouts: 4", "    7 delayed acks sent"),
            ],
        ),
    ],
)
def test_protocols_count_alike_in_every_form(title: str, lines: list[str]) -> None:
    assert counters(section(title, *lines)) == PROTOCOLS
    bare = read_text("\n".join([*lines, ""]), "r1/protocols.before")
    assert (bare.format, counters(bare)) == ("linux_snapshot", PROTOCOLS)


def test_increases_of_nstat_are_no_counters() -> None:
    reading = section("nstat", "#kernel", "TcpRetransSegs   31   0.0")
    assert [each.code for each in reading.problems if each.code.endswith("increases")] == ["linux_snapshot.increases"]
    assert not counters(reading)


def test_statistics_of_sysfs_count_like_net_dev() -> None:
    found = {"adapter/ens3 rx_packets": "12", "adapter/ens3 tx_carrier": "0", "adapter/ens3 rx_errors": "1"}
    folder = "/sys/class/net/ens3/statistics"
    lines = [f"{folder}/rx_packets:12", f"{folder}/tx_carrier_errors:0", f"{folder}/rx_errors:1"]
    assert counters(read_text("\n".join([*lines, ""]), "r1/sysfs.before")) == found
    assert counters(section(f"grep . {folder}/*", *lines)) == found
    heads = [part for line in lines for part in (f"==> {line.partition(':')[0]} <==", line.partition(":")[2], "")]
    assert counters(read_text("\n".join([*heads, ""]))) == found
