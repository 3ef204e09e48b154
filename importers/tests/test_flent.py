"""flent: cases, cut data files, other files."""

import gzip
from pathlib import Path

import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.load_tools import flent
from importers.model import SourceFile, Status
from importers.tests.fixture_cases import LOGS, assert_case, cases, readings_of

DATA = (LOGS / "flent" / "download" / "tcp_download.flent").read_text()


@pytest.mark.parametrize("folder", cases("flent"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_a_data_file_cut_anywhere_is_not_complete() -> None:
    for at in range(0, len(DATA), 7):
        (reading,) = read_files([SourceFile("a.flent", DATA[:at].encode())])
        assert [each for each in reading.fragments if each.status is Status.COMPLETE or each.readings] == []
        assert reading.problems


def test_a_summary_cut_anywhere_is_not_complete() -> None:
    summary = (LOGS / "flent" / "summary" / "stdout.txt").read_text()
    for at in range(len(summary)):
        (reading,) = read_files([SourceFile("a.txt", summary[:at].encode())])
        assert [each for each in reading.fragments if each.status is Status.COMPLETE or each.readings] == []


def test_compressed_and_plain_say_the_same() -> None:
    files = [SourceFile("a.flent", DATA.encode()), SourceFile("a.flent.gz", gzip.compress(DATA.encode()))]
    plain, packed = read_files(files)
    assert readings_of(plain.fragments[0]) == readings_of(packed.fragments[0])
    assert packed.fragments[0].file == "a.flent.gz"


@pytest.mark.parametrize(
    "text", ['{"metadata": {"author": "me"}}\n', '{"results": {}}\n', "Summary of the test\n", "[]\n"]
)
def test_other_text_is_not_recognised(text: str) -> None:
    decoded = decode("a.json", text.encode()).text
    assert decoded is not None
    assert not flent.recognise(decoded)


@pytest.mark.parametrize("time", ["2026-03-02 08:01:02", "2026-03-02 08:01:02.000417"])
@pytest.mark.parametrize(
    ("median", "p99"), [("  median", "      90.00"), ("  median       99 %", "      90.00       95.00")]
)
def test_summaries_of_all_versions_are_read(time: str, median: str, p99: str) -> None:
    head = f"Summary of tcp_upload test run from {time}\n  Title: 'lab'\n\n"
    summary = (
        f"{head}                    avg {median}      # data pts\n"
        f" TCP upload       :        91.00 {p99} Mbits/s         110\n"
    )
    (reading,) = read_files([SourceFile("a.txt", summary.encode())])
    (fragment,) = reading.fragments
    assert (fragment.status, readings_of(fragment)) == (Status.COMPLETE, {"mb_per_s": "91.00 Mbits/s"})
