"""ping and fping: cases and cut reports."""

from pathlib import Path

import jc
import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.model import SourceFile, Status
from importers.ping import log as ping
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
