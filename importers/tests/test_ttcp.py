"""Output of ttcp: the cases of ``fixtures/logs/ttcp``, cuts, sides and units."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.load_tools import ttcp
from importers.model import Fragment, Status, Text
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, parse_with


def content(case: str, name: str) -> str:
    return (LOGS / "ttcp" / case / name).read_text()


def decoded(log: str, name: str = "log.txt") -> Text:
    text = decode(name, log.encode()).text
    assert text is not None
    return text


def parse(log: str, name: str = "log.txt") -> Parsed:
    return parse_with(ttcp, decoded(log, name))


def readings(fragment: Fragment) -> dict[str, str]:
    return {f"{each.name}@{each.role}": f"{each.text} {each.unit}" for each in fragment.readings}


@pytest.mark.parametrize("folder", cases("ttcp"), ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "ttcp")


@pytest.mark.parametrize(("case", "name"), [("megabits", "s.txt"), ("udp", "r.txt"), ("receiver_connects", "r.txt")])
def test_output_cut_anywhere_is_never_complete(case: str, name: str) -> None:
    log = content(case, name)
    end = log.index("csw") + 3
    for at in range(10, end):
        for fragment in parse(log[:at]).fragments:
            # What older versions leave out looks like a cut after the percentage, but has a line end.
            assert fragment.status is not Status.COMPLETE, log[:at][-40:]
            assert fragment.readings == ()


@pytest.mark.parametrize(
    ("unit", "wanted"),
    [("Kbit", "Kbit/s 2^10"), ("Mbit", "Mbit/s 2^20"), ("Gbit", "Gbit/s 2^30"), ("KB", "KB/s"), ("GB", "GB/s")],
)
def test_prefixes_of_bits_are_powers_of_1024_too(unit: str, wanted: str) -> None:
    log = content("classic", "s.txt").replace("KB/sec", f"{unit}/sec")
    assert readings(parse(log).fragments[0])["mb_per_s@total"] == f"11702.86 {wanted}"


def test_the_wrong_time_for_a_call_is_left_out() -> None:
    log = content("classic", "s.txt")
    assert "msec/call = 0.04" in log
    fragment = parse(log).fragments[0]
    printed = {each.text for each in fragment.readings} | {each.text for each in fragment.facts}
    assert "0.04" not in printed


def test_udp_at_the_sender_is_an_offer() -> None:
    (fragment,) = parse(content("udp", "s.txt")).fragments
    assert "mb_per_s@total" not in readings(fragment)


def test_both_sides_in_one_file_are_two_fragments() -> None:
    log = content("megabits", "s.txt") + content("megabits", "r.txt")
    assert [(each.role, each.trial) for each in parse(log).fragments] == [("client", None), ("server", None)]


def test_crlf_and_other_output_around_change_nothing() -> None:
    log = content("megabits", "s.txt")
    around = parse(("$ ttcp -t lnxsrv\n" + log + "$ exit\n").replace("\n", "\r\n"))
    assert [readings(each) for each in around.fragments] == [readings(each) for each in parse(log).fragments]


@pytest.mark.parametrize("text", ["ttcp: hello", "nuttcp-t: buflen=8192", "ttcp-t: 3 bytes", "ttcp-x: socket"])
def test_other_text_is_not_recognised(text: str) -> None:
    assert not ttcp.recognise(decoded(f"{text}\n"))
