"""fortio: cases and cut results."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.load_tools import fortio
from importers.model import SourceFile, Status
from importers.tests.fixture_cases import LOGS, assert_case, cases, facts_of, readings_of

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


TEXT = """Fortio 1.60.0 running at 0 queries per second, 2->2 procs, for 5s: http://web:8080/x
Starting at max qps with 4 thread(s) [gomax 2] for 5s
Ended after 5.000210s : 40010 calls. qps=8001.7
Aggregated Function Time : count 40010 avg 0.00049950 +/- 0.0002001 min 8.8e-05 max 0.00612 sum 19.98
# target 50% 0.000487
# target 99% 0.001761
Code 200 : 40000 (100.0 %)
Code 503 : 10 (0.0 %)
All done 40010 calls (plus 4 warmup) 0.500 ms avg, 8001.7 qps
"""


def test_text_is_read_like_json() -> None:
    (reading,) = read_files([SourceFile("a.txt", (TEXT * 2).encode())])
    assert [each.status for each in reading.fragments] == [Status.COMPLETE] * 2
    figures, facts = readings_of(reading.fragments[0]), facts_of(reading.fragments[0])
    assert (figures["trans_per_s"], figures["latency_p99_ms"]) == ("8001.7 calls/s", "0.001761 s")
    assert "latency_p50_ms" not in figures  # Inside the first step of the histogram: a guess.
    assert (facts["users"], facts["workload"], facts["server"]) == ("4", "HTTP", "web:8080")
    assert [each.code for each in reading.problems] == ["fortio.errors"] * 2


def test_text_cut_before_its_figures_is_not_complete() -> None:
    for end in range(TEXT.index("Ended")):
        (reading,) = read_files([SourceFile("a.txt", TEXT[:end].encode())])
        assert all(each.status is not Status.COMPLETE for each in reading.fragments)
