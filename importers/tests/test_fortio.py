"""fortio: cases and cut results."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.fortio import log as fortio
from importers.model import SourceFile, Status
from importers.tests.fixture_cases import LOGS, assert_case, cases, readings_of

RESULT = (LOGS / "fortio" / "result" / "run.json").read_text()


@pytest.mark.parametrize("folder", cases("fortio"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_a_result_cut_anywhere_is_not_complete() -> None:
    end = RESULT.rindex("}") + 1
    for at in range(end):
        (reading,) = read_files([SourceFile("run.json", RESULT[:at].encode())])
        assert [each for each in reading.fragments if each.status is Status.COMPLETE] == [], f"cut at {at}"
        assert [each for each in reading.fragments if each.readings] == []
        assert reading.problems


def test_several_results_in_one_file_are_trials() -> None:
    (reading,) = read_files([SourceFile("run.json", (RESULT + RESULT.replace("5000.5", "5001.5")).encode())])
    assert [(each.trial, readings_of(each)["trans_per_s"]) for each in reading.fragments] == [
        (1, "5000.5 calls/s"),
        (2, "5001.5 calls/s"),
    ]


@pytest.mark.parametrize("text", ['{"RunType": "HTTP"}\n', '{"level":"err","msg":"x"}\n', "Fortio\n", "{}\n"])
def test_other_text_is_not_recognised(text: str) -> None:
    decoded = decode("run.json", text.encode()).text
    assert decoded is not None
    assert not fortio.recognise(decoded)
