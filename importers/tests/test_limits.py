"""Excessive values and files are rejected without costing minutes or gigabytes."""

import pytest

from importers.collate.drafts import collate
from importers.collate.run_ids import RunIdPattern
from importers.cp_query.console_lines import clean
from importers.formats import FileReading, read_files
from importers.model import SourceFile

LOG = """AWMLOG 1 tool=AWM role=client host=LINUXA
RUN   run_id=AB101 trial=1 start="2002-02-26 14:05:03"
PARM  workload=RR users=2 req_bytes=200 resp_bytes=1000 seconds=60
SUM   trans=3000 seconds=60.00
END   rc=0 reason=complete end="2002-02-26 14:06:03"
"""
CAPTURE = """* CPQUERY-CAPTURE 1 run_id=AB101 trial=1 phase=before role=lpar userid=PERFOPER
query time
TIME IS 14:05:01 EST TUESDAY 02/26/02
CONNECT= 01:12:33 VIRTCPU= 017:25.51 TOTCPU= 033:40.12
Ready; T=0.01/0.01 14:05:01
"""
PROCESSORS = "query processors\nPROCESSOR 00 MASTER\nReady; T=0.01/0.01 14:05:01\n"


def reading(text: str, name: str = "run.log") -> FileReading:
    (found,) = read_files([SourceFile(name, text.encode())])
    return found


@pytest.mark.parametrize("trial", ["0", "00", "-1", "10000", "1.5", "9" * 5000, "²"])
@pytest.mark.parametrize(("text", "code"), [(LOG, "awm.bad-trial"), (CAPTURE, "cp_query.bad-trial")])
def test_a_trial_that_is_none_refuses_the_run(text: str, code: str, trial: str) -> None:
    found = reading(text.replace("trial=1", f"trial={trial}"))
    assert found.fragments == []
    assert [(problem.code, problem.run_id) for problem in found.problems] == [(code, "AB101")]


@pytest.mark.parametrize("trial", ["0", "9" * 5000, "٣"])
def test_a_trial_that_a_pattern_finds_must_be_one(trial: str) -> None:
    pattern = RunIdPattern(r"AB(?P<trial>\d+)", {"trial": {"101": trial}})
    (draft,) = collate(reading(LOG.replace(" trial=1", "")).fragments, pattern).drafts
    assert draft.trial == 1


@pytest.mark.parametrize("old", ["AB101", "role=lpar", "userid=PERFOPER"])
def test_what_is_too_long_for_a_name_is_refused(old: str) -> None:
    collated = collate(reading(CAPTURE.replace(old, old + "x" * 200)).fragments)
    assert collated.drafts == []
    assert [problem.code for problem in collated.problems] == ["collate.long-name"]


def test_the_head_of_a_log_does_not_say_two_things() -> None:
    found = reading(LOG.replace("host=LINUXA", "mb_bytes=1048576 mb_bytes=1000000"))
    assert [problem.code for problem in found.problems] == ["awm.contradiction"]
    assert found.fragments == []


@pytest.mark.parametrize("size", ["0", "1048576.5", "many"])
def test_a_megabyte_of_no_bytes_is_not_used(size: str) -> None:
    found = reading(LOG.replace("host=LINUXA", f"mb_bytes={size}"))
    assert [problem.code for problem in found.problems] == ["awm.not-a-number"]
    assert "mb_bytes" not in {fact.key for fact in found.fragments[0].facts}


@pytest.mark.parametrize(("offset", "good"), [("-05:00", True), ("+0530", True), ("-5", True), ("+25:00", False)])
def test_an_offset_that_is_none_is_said(offset: str, good: bool) -> None:
    found = reading(LOG.replace("trial=1", f"utc_offset={offset}"))
    assert (found.problems == []) is good


@pytest.mark.parametrize("number", ["9" * 31, "0." + "0" * 31 + "1"])
def test_numbers_that_no_tool_prints_are_none(number: str) -> None:
    found = reading(LOG.replace("seconds=60.00", f"seconds={number}"))
    assert [problem.code for problem in found.problems] == ["awm.not-a-number"]
    assert found.fragments == []


def test_text_of_eighty_columns_does_not_become_one_line() -> None:
    lines = clean(["ab c" * 20] * 1000)
    assert len(lines) > 20
    assert "".join(line.text for line in lines) == "ab c" * 20 * 1000


def test_rows_with_ever_new_keys_do_not_multiply() -> None:
    rows = "".join(f"CONN id={n} trans=1 seconds=1 key{n}=1\n" for n in range(200))
    found = reading(LOG.replace("SUM", rows + "SUM"))
    (listing,) = found.fragments[0].listings
    assert (len(listing.rows), len(listing.columns)) == (200, 64)
    assert "awm.many-keys" in {problem.code for problem in found.problems}


def test_equal_files_of_two_runs_count_for_both() -> None:
    """A capture without time is the same before every run."""
    files = [SourceFile(f"{run}/before.lpar.txt", PROCESSORS.encode()) for run in ("AB101", "AB102")]
    drafts = collate(fragment for each in read_files(files) for fragment in each.fragments).drafts
    assert [(draft.run_id, len(draft.pairs)) for draft in drafts] == [("AB101", 1), ("AB102", 1)]


def test_a_copy_that_names_no_run_counts_once() -> None:
    """A copy is recognised by the time, since the name does not show the run."""
    capture = CAPTURE.replace("run_id=AB101 trial=1 ", "").replace("PERFOPER", "LINUXA")
    files = [
        SourceFile("run.log", LOG.encode()),
        SourceFile("AB101.before.lpar.txt", capture.encode()),
        SourceFile("copy of before.txt", capture.encode()),
    ]
    (draft,) = collate(fragment for each in read_files(files) for fragment in each.fragments).drafts
    assert [pair.before is not None for pair in draft.pairs] == [True]
    assert "collate.duplicate" in {problem.code for problem in draft.problems}
