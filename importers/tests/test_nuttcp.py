"""nuttcp in three forms: cases, cuts, output of other tools."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.load_tools import nuttcp
from importers.model import Status
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, parse_with

CASES = cases("nuttcp")


def content(case: str) -> str:
    return (LOGS / "nuttcp" / case / "client.txt").read_text(encoding="utf-8")


def parse(log: str) -> Parsed:
    text = decode("client.txt", log.encode()).text
    assert text is not None
    return parse_with(nuttcp, text)


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "nuttcp")


@pytest.mark.parametrize("case", ["brief", "intervals", "udp", "many_streams", "verbose", "verbose_reverse", "short"])
def test_text_cut_anywhere_is_never_complete(case: str) -> None:
    log = content(case)
    for at in range(len(log) - len(log.lstrip()) + 1, len(log)):
        parsed = parse(log[:at])
        assert [each for each in parsed.fragments if each.status is Status.COMPLETE] == [], f"cut at {at}"
        assert not parsed.fragments or parsed.problems


def test_results_one_after_another_are_trials() -> None:
    for case in ("brief", "verbose", "intervals"):
        fragments = parse(content(case) * 3).fragments
        assert [(each.trial, each.status) for each in fragments] == [(trial, Status.COMPLETE) for trial in (1, 2, 3)]
        assert len({str(each.listings) for each in fragments}) <= 3


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        ("$ nuttcp -T10 lnxb", "STRP"),
        ("$ nuttcp -r -u -R100m lnxb", "STRG"),
        ("root@lnxa:/tmp# /usr/bin/nuttcp -t -N4 lnxb", "STRP"),
        ("$ nuttcp -r -F lnxb", None),
        ("nuttcp is a tool, not a command here!", None),
    ],
)
def test_the_command_tells_the_direction(command: str, workload: str | None) -> None:
    (fragment,) = parse(f"{command}\n{content('brief')}").fragments
    facts = {fact.key: fact.text for fact in fragment.facts}
    assert facts.get("workload") == workload


def test_the_clients_own_command_is_that_before_its_result() -> None:
    """An interval line without a result belongs to the last command."""
    interval = content("intervals").splitlines(keepends=True)[0]
    fragments = parse(f"$ nuttcp -r lnxb\n{interval}$ nuttcp lnxb\n{content('brief')}").fragments
    assert [each.status for each in fragments] == [Status.INCOMPLETE, Status.COMPLETE]
    workloads = [next(fact.text for fact in each.facts if fact.key == "workload") for each in fragments]
    assert workloads == ["STRG", "STRP"]


@pytest.mark.parametrize(
    "other",
    [
        "ttcp-t: buflen=8192, nbuf=2048 tcp\n",
        "16777216 bytes in 0.02 real seconds\n",
        "10 MB / 2 seconds\n",
        "errno=111\n",
    ],
)
def test_what_is_of_another_tool_is_not_recognised(other: str) -> None:
    text = decode("a", other.encode()).text
    assert text is not None
    assert not nuttcp.recognise(text)


def test_jitter_is_kept() -> None:
    result = "   23.8 MB /   2.00 sec =   99.8 Mbps 20 %TX 3 %RX 12 / 17067 drop/pkt 0.07 %loss 0.0140 msAvgJitter"
    for behind, known in (("", None), (" 0.9100 msMaxJitter", "0.9100")):
        (fragment,) = parse(f"$ nuttcp -u -j lnxb\n{result}{behind}\n").fragments
        figures = {each.name: each.text for each in fragment.readings}
        assert (figures["jitter_ms"], figures.get("jitter_max_ms")) == ("0.0140", known)


_VERBOSE = """nuttcp-t: v6.1.2: socket
nuttcp-t: buflen=8192, nstream=2, port=5101 tcp -> lnxb
nuttcp-t: time limit = 1.00 second
nuttcp-t: rate limit = 9.000 Mbps (aggregate), 152 pps
nuttcp-t: v6.1.2: nodelay
nuttcp-t: connect to 10.9.0.2 with mss=1448, RTT=0.250 ms
nuttcp-t: 600.0000 MB in 1.00 real seconds = 614400.00 KB/sec = 5033.1648 Mbps
nuttcp-t: 0.0user 0.3sys 0:01real 34% 0i+0d 1350maxrss 0+0pf 45643+275csw

nuttcp-r: v6.1.2: socket
nuttcp-r: accept from 10.9.0.1
nuttcp-r: 590.0000 MB in 1.00 real seconds = 604160.00 KB/sec = 4949.2787 Mbps
nuttcp-r: 0.0user 0.2sys 0:01real 21% 0i+0d 1350maxrss 0+0pf 45643+275csw
"""
_PAIRS = """nuttcp-t: v6.1.2: socket
nuttcp-t: buflen=8192 nstream=2 port=5101 mode=tcp host=lnxb
nuttcp-t: time_limit=1.00
nuttcp-t: rate_limit=9.000 rate_unit=Mbps rate_mode=aggregate pps_rate=152
nuttcp-t: connect=10.9.0.2 mss=1448 rtt_ms=0.250
nuttcp-t: megabytes=600.0000 real_seconds=1.00 rate_KBps=614400.00 rate_Mbps=5033.1648
nuttcp-t: stats=cpu user=0.0 system=0.3 elapsed=0:01 cpu=34% memory=0i+0d-1286maxrss io=0+0pf swaps=635+72csw

nuttcp-r: v6.1.2: socket
nuttcp-r: accept=10.9.0.1
nuttcp-r: megabytes=590.0000 real_seconds=1.00 rate_KBps=604160.00 rate_Mbps=4949.2787
nuttcp-r: megabytes=590.0000 cpu_seconds=0.56 KB_per_cpu_second=1078857.14
nuttcp-r: stats=cpu user=0.0 system=0.2 elapsed=0:01 cpu=21% memory=0i+0d-1286maxrss io=0+0pf swaps=635+72csw
"""


def test_verbose_pairs_say_the_same_as_verbose_text() -> None:
    """The version is printed again by -D, which begins no side."""
    (text,), (pairs,) = parse(_VERBOSE).fragments, parse(_PAIRS).fragments
    for each in (text, pairs):
        figures = {(reading.name, reading.role): reading.text for reading in each.readings}
        facts = {fact.key: fact.text for fact in each.facts}
        assert each.status is Status.COMPLETE
        assert figures["mb_per_s", "total"] == "4949.2787"
        assert figures["rtt_ms", "total"] == "0.250"
        assert (figures["processor_util", "client"], figures["processor_util", "server"]) == ("34", "21")
        names = ("users", "server", "server_address", "asked_duration_s", "message_bytes", "rate")
        assert [facts[name] for name in names] == ["2", "lnxb", "10.9.0.2", "1.00", "8192", "9.000 Mbps"]


def test_drops_count_without_their_percentage() -> None:
    (fragment,) = parse("   23.8 MB /   2.00 sec =   99.8 Mbps 20 %TX 3 %RX 12 / 17067 drop/pkt\n").fragments
    figures = {each.name: each.text for each in fragment.readings}
    assert figures["packets_lost"] == "12"
    assert "loss_percent" not in figures
    assert "UDP" in {fact.text for fact in fragment.facts}
