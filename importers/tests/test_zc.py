"""zcs, zcc and cyclesoak: cases, cuts and names of files."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.load_tools import zc
from importers.model import Status, Text
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, parse_with


def content(case: str, name: str) -> str:
    return (LOGS / "zc" / case / name).read_text()


def decoded(log: str, name: str = "log.txt") -> Text:
    text = decode(name, log.encode()).text
    assert text is not None
    return text


def parse(log: str, name: str = "log.txt") -> Parsed:
    return parse_with(zc, decoded(log, name))


@pytest.mark.parametrize("folder", cases("zc"), ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "zc")


def test_rates_cut_anywhere_are_never_complete() -> None:
    log = content("sendfile", "a.zcs.txt").rstrip("\n")
    for at in range(20, len(log)):
        for fragment in parse(log[:at], "a.zcs.txt").fragments:
            assert fragment.status is not Status.COMPLETE
            assert "samples_kbytes_per_s" not in {fact.key for fact in fragment.facts}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("x.client.cyclesoak.txt", "client"),
        ("cyclesoak-sender.log", "client"),
        ("x.server.cyclesoak.txt", "server"),
        ("x_receiver.txt", "server"),
        ("client-and-server.txt", "host"),
        ("logs-of-clients/x.txt", "host"),
    ],
)
def test_the_name_of_the_file_says_on_which_machine_it_was(name: str, role: str) -> None:
    (fragment,) = parse("System load: 44.4%\n", name).fragments
    assert fragment.role == role
    assert {fact.key for fact in fragment.facts} == {f"load_percent@{role}"}


def test_a_load_cut_inside_does_not_count() -> None:
    (fragment,) = parse("System load: 44.4%\nSystem load: 51.", "x.client.txt").fragments
    assert [fact.text for fact in fragment.facts] == ["44.4"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("numbers.txt", "457427"),
        ("counts_per_sec", "457427\n457428"),
        ("other.log", "connect: Connection refused"),
        ("other.log", "bind: Address already in use"),
        ("x.txt", "the rate was 5 kbytes/sec"),
    ],
)
def test_what_is_too_common_needs_the_name_of_its_file(name: str, text: str) -> None:
    assert not zc.recognise(decoded(f"{text}\n", name))


def test_crlf_and_other_output_around_change_nothing() -> None:
    log = content("sendfile", "a.zcs.txt")
    around = parse(("$ ./zcs\n" + log + "$ exit\n").replace("\n", "\r\n"), "a.zcs.txt")
    facts = [[fact.text for fact in each.facts] for each in around.fragments]
    assert facts == [[fact.text for fact in each.facts] for each in parse(log, "a.zcs.txt").fragments]
    assert around.fragments[0].status is Status.COMPLETE
