"""NetPIPE: cases, cut tables, other tables."""

from pathlib import Path

import pytest

from importers.formats import read_files
from importers.load_tools import netpipe
from importers.model import SourceFile
from importers.tests.fixture_cases import LOGS, assert_case, cases, decode_text, readings_of

TABLE = (LOGS / "netpipe" / "curve" / "np.out").read_text()
LOG = (LOGS / "netpipe" / "curve" / "np_tcp.log").read_text()


@pytest.mark.parametrize("folder", cases("netpipe"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


@pytest.mark.parametrize("text", [TABLE, LOG])
def test_a_curve_cut_anywhere_has_whole_figures_or_a_problem(text: str) -> None:
    (whole,) = read_files([SourceFile("np.out", text.encode())])
    known = [readings_of(fragment) for fragment in whole.fragments]
    for at in range(len(text)):
        (reading,) = read_files([SourceFile("np.out", text[:at].encode())])
        found = [readings_of(fragment) for fragment in reading.fragments]
        assert found == known[: len(found)]
        assert reading.problems or text[at - 1] == "\n"


@pytest.mark.parametrize("text", ["1 2 3\n", "1 0.5 0.25\n", "       1 0.762939   0.00001000\nand more\nthan that\n"])
def test_other_columns_are_not_recognised(text: str) -> None:
    assert not netpipe.recognise(decode_text(text))


def test_of_several_logs_in_one_file_each_has_its_own_buffers() -> None:
    other = LOG.replace("buffers are 16384 and 87380", "buffers are 4096 and 8192")
    assert other != LOG
    (reading,) = read_files([SourceFile("np.log", (LOG + other).encode())])
    sizes = [[fact.text for fact in each.facts if "window" in fact.key] for each in reading.fragments]
    half = len(sizes) // 2
    assert sizes == half * [["16384", "87380"]] + half * [["4096", "8192"]]
