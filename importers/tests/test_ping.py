"""ping and fping: cases and cut reports."""

from pathlib import Path

import jc
import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.load_tools import ping
from importers.model import Fragment, SourceFile, Status
from importers.tests.fixture_cases import LOGS, assert_case, cases, facts_of, readings_of

REPORT = (LOGS / "ping" / "linux" / "plain.txt").read_text()
# jc 1.26 takes the unit of busybox for a part of the number.
READABLE = ["linux/plain.txt", "linux/flood.txt", "others/bsd.txt"]


@pytest.mark.parametrize("folder", cases("ping"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_a_report_cut_anywhere_is_not_complete() -> None:
    for at in range(len(REPORT)):
        (reading,) = read_files([SourceFile("a.txt", REPORT[:at].encode())])
        assert [each for each in reading.fragments if each.status is Status.COMPLETE] == [], f"cut at {at}"
        assert reading.problems


def test_line_ends_of_windows_change_nothing() -> None:
    plain, other = read_files(
        [SourceFile("a", REPORT.encode()), SourceFile("b", REPORT.replace("\n", "\r\n").encode())]
    )
    assert readings_of(plain.fragments[0]) == readings_of(other.fragments[0])


@pytest.mark.parametrize("name", READABLE)
def test_another_reader_finds_the_same(name: str) -> None:
    text = (LOGS / "ping" / name).read_text()
    (reading,) = read_files([SourceFile("a.txt", text.encode())])
    found = jc.parse("ping", text[text.index("PING") :], raw=True, quiet=True)
    assert isinstance(found, dict)
    figures, facts = readings_of(reading.fragments[0]), facts_of(reading.fragments[0])
    assert figures["response_ms"] == f"{found['round_trip_ms_avg']} ms"
    assert figures["latency_max_ms"] == f"{found['round_trip_ms_max']} ms"
    assert float(figures["loss_percent"].split()[0]) == float(found["packet_loss_percent"])
    assert (facts["packets_sent"], facts["packets_received"]) == (
        found["packets_transmitted"],
        found["packets_received"],
    )


@pytest.mark.parametrize("text", ["PING\n", "ping pong\n", "name : 5\n", "a : 1 2\nsomething else\n"])
def test_other_text_is_not_recognised(text: str) -> None:
    decoded = decode("a.txt", text.encode()).text
    assert decoded is not None
    assert not ping.recognise(decoded)


def _read(text: str) -> tuple[Fragment, list[str]]:
    (reading,) = read_files([SourceFile("a.txt", text.encode())])
    (fragment,) = reading.fragments
    return fragment, [problem.message for problem in reading.problems]


_ROWS = "web : [0], 64 bytes, 0.50 ms (0.50 avg, 0% loss)\nweb : [1], timed out (0.50 avg, 50% loss)\n"
_TOTALS = (
    "\n       1 targets\n       1 alive\n       2 ICMP Echos sent\n\n"
    " 0.50 ms (min round trip time)\n        1.5 sec (elapsed real time)\n"
)


@pytest.mark.parametrize("before", ["", "$ fping -C 2 web\n", "fping -C 2 -s web\n"])
@pytest.mark.parametrize("rows", ["", _ROWS])
@pytest.mark.parametrize(
    "behind", ["", _TOTALS, "ICMP Host Unreachable from 10.9.0.1 for ICMP Echo sent to 10.9.0.7\n"]
)
def test_the_line_of_times_is_the_summary(before: str, rows: str, behind: str) -> None:
    fragment, problems = _read(f"{before}{rows}web : 0.50 -\n{behind}")
    assert (fragment.status, problems) == (Status.COMPLETE, [])
    assert readings_of(fragment) == {"loss_percent": "50 %"}
    assert facts_of(fragment)["samples_response_ms"] == "0.50"


def test_more_echoes_than_requests_are_no_loss() -> None:
    fragment, problems = _read("web : xmt/rcv/%return = 8/12/150%, min/avg/max = 0.50/0.60/0.70\n")
    assert "loss_percent" not in readings_of(fragment)
    assert "12" in problems[0]
    assert "twice" in problems[0]


_NONE_BACK = "\n--- web ping statistics ---\n2 packets transmitted, 0 received, 100% packet loss, time 1000ms\n\n"


@pytest.mark.parametrize(
    "reason",
    [
        "ping: local error: message too long, mtu=1400",
        "ping: sendmsg: Operation not permitted",
        "From 10.9.0.1 icmp_seq=1 Destination Host Unreachable",
    ],
)
def test_the_reason_of_a_failure_is_that_of_ping(reason: str) -> None:
    fragment, (problem,) = _read(f"PING web (10.9.0.2) 56(84) bytes of data.\n{reason}\n{reason}\n{_NONE_BACK}")
    assert fragment.status is Status.FAILED
    assert reason.removeprefix("ping: ") in problem


_BSD = (
    "PING6(56=40+8+8 bytes) fd00::1 --> fd00::2\n16 bytes from fd00::2, icmp_seq=0 hlim=64 time=0.300 ms\n\n"
    "--- fd00::2 ping6 statistics ---\n1 packets transmitted, 1 packets received, 0.0% packet loss\n"
    "round-trip min/avg/max/std-dev = 0.300/0.300/0.300/0.000 ms\n"
)
_WINDOWS = (
    "\nPinging web [10.9.0.2] with 32 bytes of data:\nReply from 10.9.0.2: bytes=32 time=3ms TTL=60\n"
    "Request timed out.\n\nPing statistics for 10.9.0.2:\n    Packets: Sent = 2, Received = 1, Lost = 1 (50% loss),\n"
    "Approximate round trip times in milli-seconds:\n    Minimum = 3ms, Maximum = 3ms, Average = 3ms\n"
)


@pytest.mark.parametrize(("text", "mean", "loss", "size"), [(_BSD, "0.300", "0.0", "8"), (_WINDOWS, "3", "50", "32")])
def test_ping_of_other_systems_is_read(text: str, mean: str, loss: str, size: str) -> None:
    fragment, problems = _read(text)
    figures = readings_of(fragment)
    assert (figures["response_ms"], figures["loss_percent"]) == (f"{mean} ms", f"{loss} %")
    assert (facts_of(fragment)["request_bytes"], problems) == (size, [])


_GERMAN = (
    "\nPing wird ausgeführt für web [10.9.0.2] mit 32 Bytes Daten:\nAntwort von 10.9.0.2: Bytes=32 Zeit=3ms TTL=60\n"
    "Zeitüberschreitung der Anforderung.\n\nPing-Statistik für 10.9.0.2:\n"
    "    Pakete: Gesendet = 2, Empfangen = 1, Verloren = 1\n    (50% Verlust),\n"
    "Ca. Zeitangaben in Millisek.:\n    Minimum = 2ms, Maximum = 3ms, Mittelwert = 3ms\n"
)
_FRENCH = (
    "\nEnvoi d’une requête 'ping' sur 10.9.0.2 avec 32 octets de données :\n"
    "Réponse de 10.9.0.2 : octets=32 temps=3 ms TTL=60\n\nStatistiques Ping pour 10.9.0.2:\n"
    "    Paquets : envoyés = 2, reçus = 1, perdus = 1 (perte 50%),\n"
    "Durée approximative des boucles en millisecondes :\n    Minimum = 2ms, Maximum = 3ms, Moyenne = 3ms\n"
)


@pytest.mark.parametrize("text", [_GERMAN, _FRENCH])
def test_ping_of_windows_is_read_in_any_language(text: str) -> None:
    fragment, _ = _read(text)
    assert fragment.status is Status.COMPLETE
    figures = readings_of(fragment)
    assert [figures[f"latency_{name}_ms"] for name in ("min", "max", "mean")] == ["2 ms", "3 ms", "3 ms"]
    assert (figures["loss_percent"], facts_of(fragment)["request_bytes"]) == ("50 %", "32")


_ROUTER = "Reply from 10.9.0.1: Destination host unreachable.\n"


def test_answers_of_routers_are_no_echoes() -> None:
    part, (problem,) = _read(_WINDOWS.replace("Request timed out.\n", _ROUTER))
    assert "loss_percent" not in readings_of(part)
    assert "routers" in problem
    none, (problem,) = _read(
        f"Pinging web [10.9.0.2] with 32 bytes of data:\n{_ROUTER}\n"
        "    Packets: Sent = 1, Received = 1, Lost = 0 (0% loss),\n"
    )
    assert none.status is Status.FAILED
    assert "Destination host unreachable" in problem


_TIMES = "rtt min/avg/max/mdev = 0.300/0.400/0.500/0.100 ms\n"
_BEGIN = "PING web (10.9.0.2): 56 data bytes\n64 bytes from 10.9.0.2: icmp_seq=0 ttl=64 time=0.300 ms\n"


@pytest.mark.parametrize(
    ("statistics", "loss"),
    [
        ("3 packets transmitted, 2 received, +1 corrupted, +1 errors, 33,3333% packet loss, time 2002ms", "33.3333 %"),
        ("2 packets transmitted, 1 packets received, 50.0% packet loss, 1 packets out of wait time", "50.0 %"),
        ("1 packets transmitted, 1 packets received, 1 duplicates, 0% packet loss", "0 %"),
        ("1 packets transmitted, 2 packets received, -- somebody is printing up packets!", None),
    ],
)
def test_statistics_of_all_pings_are_read(statistics: str, loss: str | None) -> None:
    fragment, problems = _read(f"{_BEGIN}\n--- web ping statistics ---\n{statistics}\n{_TIMES}")
    assert (fragment.status, readings_of(fragment).get("loss_percent"), problems) == (Status.COMPLETE, loss, [])


@pytest.mark.parametrize(
    "before",
    [
        "ping: Warning: source address might be selected on device other than: eth1\n",
        "ping: sock4.fd: 3 (socktype: SOCK_DGRAM), hints.ai_family: AF_UNSPEC\n\nai->ai_family: AF_INET\n",
    ],
)
def test_warnings_before_a_report_are_no_run(before: str) -> None:
    fragment, _ = _read(before + REPORT)
    assert fragment.status is Status.COMPLETE


def test_dots_of_a_flood_are_text() -> None:
    dots = ".\b \b" * 90
    fragment, problems = _read(
        f"PING web (10.9.0.2) 56(84) bytes of data.\n{dots}.--- web ping statistics ---\n"
        f"90 packets transmitted, 89 received, 1% packet loss, time 10ms\n{_TIMES}"
    )
    assert (fragment.status, problems) == (Status.COMPLETE, [])


def test_echoes_too_short_for_times_are_not_called_cut_off() -> None:
    fragment, (problem,) = _read(
        "PING web (10.9.0.2): 8 data bytes\n16 bytes from 10.9.0.2: icmp_seq=0 ttl=64\n"
        "--- web ping statistics ---\n1 packets transmitted, 1 packets received, 0% packet loss\n"
    )
    assert fragment.status is Status.INCOMPLETE
    assert "too short" in problem


_SUMMARY = "xmt/rcv/%loss = 4/3/25%, min/avg/max = 0.50/0.60/0.70"


@pytest.mark.parametrize(
    "text",
    [
        f"== night 1 ==\nweb : duplicate for [0], 64 bytes, 0.60 ms\nweb : {_SUMMARY}\ndone\n",
        f"web (10.9.0.7) : {_SUMMARY}\n",
        f"web : {_SUMMARY.replace('25%,', '25%, outage(ms) = 100,')}\n",
        f"[03:15:23]\nweb : xmt/rcv/%loss = 2/2/0%, min/avg/max = 0.50/0.50/0.50\n[03:15:24]\n"
        f"web : xmt/rcv/%loss = 2/1/50%, min/avg/max = 0.70/0.70/0.70\nweb : {_SUMMARY}\n",
    ],
)
def test_only_the_last_summary_of_fping_is_a_run(text: str) -> None:
    fragment, _ = _read(text)
    figures = readings_of(fragment)
    assert (facts_of(fragment)["server"], figures["response_ms"], figures["loss_percent"]) == ("web", "0.60 ms", "25 %")


def test_stamps_of_fping_are_its_start() -> None:
    fragment, _ = _read(
        "[1795662908.25] web : [0], 64 bytes, 0.5 ms (0.5 avg, 0% loss)\n"
        f"[1795662909.50] web : [1], 64 bytes, 0.5 ms (0.5 avg, 0% loss)\nweb : {_SUMMARY}\n"
    )
    assert [f"{moment:%S.%f}" for moment in (fragment.taken, fragment.ended) if moment] == ["08.250000", "09.500000"]


def test_a_report_without_its_first_line_is_one() -> None:
    whole, _ = _read(REPORT[REPORT.index("PING") :])
    headless, _ = _read("\n".join(line for line in REPORT.splitlines() if "PING" not in line) + "\n")
    assert readings_of(headless) == readings_of(whole)
