"""Output of sockperf: the cases of ``fixtures/logs/sockperf``, cuts, colours and full logs."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.load_tools import sockperf
from importers.model import Fragment, Status, Text
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, parse_with


def content(case: str, name: str) -> str:
    return (LOGS / "sockperf" / case / name).read_text()


def decoded(log: str, name: str = "log.txt") -> Text:
    text = decode(name, log.encode()).text
    assert text is not None
    return text


def parse(log: str, name: str = "log.txt") -> Parsed:
    return parse_with(sockperf, decoded(log, name))


def readings(fragment: Fragment) -> dict[str, str]:
    return {f"{each.name}@{each.role}": f"{each.text} {each.unit}" for each in fragment.readings}


@pytest.mark.parametrize("folder", cases("sockperf"), ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "sockperf")


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("ping_pong", "s.txt"),
        ("full_rtt", "s.txt"),
        ("under_load", "s.txt"),
        ("throughput", "s.txt"),
        ("server", "s.txt"),
    ],
)
def test_output_cut_anywhere_is_never_complete(case: str, name: str) -> None:
    log = content(case, name).rstrip("\n")
    end = log.index("handled") if case == "server" else len(log)
    for at in range(40, end):
        for fragment in parse(log[:at]).fragments:
            assert fragment.status is not Status.COMPLETE, log[:at][-40:]
            assert fragment.readings == ()


def test_colours_are_taken_away() -> None:
    log = content("ping_pong", "s.txt")
    for colour in ("\x1b[2;35m", "\x1b[0m"):
        log = log.replace(colour, "")
    assert readings(parse(log).fragments[0]) == readings(parse(content("ping_pong", "s.txt")).fragments[0])


def test_a_latency_is_half_of_the_round_trip_unless_it_is_one() -> None:
    half = readings(parse(content("ping_pong", "s.txt")).fragments[0])
    full = readings(parse(content("full_rtt", "s.txt")).fragments[0])
    assert half["latency_p99_ms@total"] == "31.204 usec one way"
    assert full["latency_p99_ms@total"] == "31.204 usec"


def test_messages_of_a_full_log_are_passed_over() -> None:
    log = content("full_log", "s.csv")
    assert readings(parse(log + "9, 2.1, 2.2, 68.4\n" * 5000).fragments[0]) == readings(parse(log).fragments[0])


def test_crlf_and_other_output_around_change_nothing() -> None:
    log = content("throughput", "s.txt")
    around = parse(("$ ./sockperf tp\n" + log + "$ exit\n").replace("\n", "\r\n"))
    assert [readings(each) for each in around.fragments] == [readings(each) for each in parse(log).fragments]


@pytest.mark.parametrize("text", ["sockperf", "sockperf: hello", "test was performed using the following parameters"])
def test_other_text_is_not_recognised(text: str) -> None:
    assert not sockperf.recognise(decoded(f"{text}\n"))


@pytest.mark.parametrize("case", ["ping_pong", "under_load", "throughput"])
def test_a_test_without_version_is_read_like_one_with(case: str) -> None:
    (path,) = (path for path in (LOGS / "sockperf" / case).iterdir() if path.suffix == ".txt")
    log = path.read_text()
    headless = "".join(line for line in log.splitlines(keepends=True) if "== version #" not in line)
    assert headless != log
    assert sockperf.recognise(decoded(headless))
    assert list(map(readings, parse(headless).fragments)) == list(map(readings, parse(log).fragments))


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        ("[root@lnxa ~]# sockperf pp -i lnxb -m 100 -t 4", "RR"),
        ("sockperf under-load -i lnxb --msg-size=100 --time 4 --mps=500", "UNDER-LOAD"),
    ],
)
def test_the_typed_command_gives_the_test_and_its_options(command: str, workload: str) -> None:
    log = content("ping_pong", "s.txt")
    fragments = parse(f"$ sockperf pp -i lnxb\n{log}{command}\n{log}$ exit\n").fragments
    facts = [{fact.key: fact.text for fact in each.facts} for each in fragments]
    assert len(facts) == 2
    assert "request_bytes" not in facts[0]
    names = ("workload", "request_bytes", "asked_duration_s", "rate")
    assert [facts[1].get(name) for name in names] == [workload, "100", "4", "500" if "mps" in command else None]
    assert facts[1]["command_line"] == command.rpartition("# ")[2]
