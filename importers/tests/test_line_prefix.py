"""Prefixes of lines, before the outputs of every format."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from importers import formats
from importers.formats import FileReading, read_file
from importers.model import Fragment, Kind, SourceFile
from importers.tests.fixture_cases import EXPECTED, LOGS, cases

WRK = (
    "Running 10s test @ http://web:8080/\n  4 threads and 32 connections\n"
    "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
    "    Latency   711.00us   90.00us   4.20ms   88.00%\n    Req/Sec    11.20k   150.00    11.90k    70.00%\n"
    "  448120 requests in 10.01s, 70.10MB read\nRequests/sec:  44767.23\nTransfer/sec:      7.00MB\n"
)
PREFIXES: dict[str, Callable[[int], str]] = {
    "docker": lambda n: f"2026-03-05T14:07:{n % 60:02}.123456789Z ",
    "kubectl": lambda n: f"[pod/load-7d9/client] 2026-03-05T14:07:{n % 60:02}.5Z ",
    "compose": lambda _: "client-1  | ",
    "quote": lambda _: "> ",
    "quoted twice": lambda _: "> > ",
    "journal": lambda n: f"Mar  5 14:07:{n % 60:02} node7 bench[411]: ",
    "journal in full": lambda n: f"2026-03-05T14:07:{n % 60:02}+0100 node7 bench[411]: ",
    "ts": lambda n: f"Mar 05 14:07:{n % 60:02} ",
    "brackets": lambda n: f"[2026-03-05 14:07:{n % 60:02}.250] ",
    "workflow": lambda n: f"2026-03-05T14:07:{n % 60:02}.1234567Z ",
    "colour": lambda _: "\x1b[32m",
}
WEAK: dict[str, Callable[[int], str]] = {
    "indentation": lambda _: "    ",
    "time of day": lambda n: f"14:07:{n % 60:02}  ",
    "seconds": lambda n: f"[{n / 7:12.6f}] ",
    "name": lambda _: "node7: ",
}


def _read(data: bytes, name: str = "a.log") -> FileReading:
    return read_file(SourceFile(name, data))


def _prefixed(text: str, prefix: Callable[[int], str]) -> bytes:
    return "".join(prefix(n) + line for n, line in enumerate(text.splitlines(keepends=True))).encode()


def _texts() -> list[tuple[str, str]]:
    """Return the texts of all cases that a format recognises, by path."""
    found = []
    for each in formats.FORMATS:
        paths = [path for case in cases(each.NAME) for path in sorted(case.rglob("*")) if path.name != EXPECTED]
        for path in paths:
            data = path.read_bytes() if path.is_file() else b""
            if data.isascii() and _read(data).format is not None and b"\r" not in data and b"\f" not in data:
                found.append((str(path.relative_to(LOGS)), data.decode()))
    return found


def _plain(fragment: Fragment) -> Fragment:
    """Return a fragment without the time that a stamp may have given a load tool's log."""
    return replace(fragment, taken=None, zone="") if fragment.kind is Kind.DRIVER else fragment


@pytest.mark.parametrize("name", PREFIXES)
def test_every_format_is_read_behind_a_prefix(name: str) -> None:
    different = []
    for path, text in _texts():
        plain, found = _read(text.encode()), _read(_prefixed(text, PREFIXES[name]))
        if [_plain(each) for each in plain.fragments] != [_plain(each) for each in found.fragments]:
            different.append(path)
    assert different == []


@pytest.mark.parametrize("name", WEAK)
def test_what_a_tool_may_print_itself_is_taken_off_where_nothing_else_helps(name: str) -> None:
    (run,) = _read(_prefixed(WRK, WEAK[name])).fragments
    assert [_plain(run)] == [_plain(each) for each in _read(WRK.encode()).fragments]


def test_lines_of_others_and_blanks_that_were_lost_do_no_harm() -> None:
    lines = ["> " + line for line in WRK.splitlines()]
    text = "\n".join([*lines[:6], ">", *lines[6:], "", "sent from my phone"])
    (run,) = _read(text.encode()).fragments
    assert {each.name for each in run.readings} >= {"trans_per_s", "mb_per_s"}


@pytest.mark.parametrize(
    ("stamp", "taken", "zone"),
    [
        ("2026-03-05T14:07:09.5Z", "2026-03-05 14:07:09.500000", "+00:00"),
        ("[2026-03-05 14:07:09,250 +0100]", "2026-03-05 14:07:09.250000", "+0100"),
        ("2026-03-05T14:07:09.123456789-05:00", "2026-03-05 14:07:09.123456", "-05:00"),
        ("[2026-03-05 14:07:09]", "None", ""),
        ("Mar 05 14:07:09", "None", ""),
        ("14:07:09", "None", ""),
    ],
)
def test_a_stamp_with_a_zone_is_the_start(stamp: str, taken: str, zone: str) -> None:
    (run,) = _read(_prefixed(WRK, lambda _: f"{stamp} ")).fragments
    assert (str(run.taken), run.zone) == (taken, zone)


def test_a_printed_start_counts_more_than_a_stamp() -> None:
    compared = 0
    for _, text in _texts():
        runs = _read(text.encode()).fragments
        stamped = _read(_prefixed(text, PREFIXES["docker"])).fragments
        for plain, found in zip(runs, stamped, strict=True):
            if plain.taken is not None:
                assert found.taken == plain.taken
                compared += 1
    assert compared > 10


def test_a_mail_of_nothing_known_is_refused() -> None:
    (problem,) = _read(b"> nothing\n> to see\n").problems
    assert problem.code == "read.unknown-format"
    assert "any other tool come in as run records" in problem.remedy


def test_lines_keep_their_numbers() -> None:
    noise = "".join(f"> word {re.escape(str(n))}\n" for n in range(3))
    (run,) = _read((noise + "".join(f"> {line}\n" for line in WRK.splitlines())).encode()).fragments
    assert run.first_line == 4
