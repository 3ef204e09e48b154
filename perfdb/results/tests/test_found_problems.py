"""Which of the problems that reading found are about a run."""

from importers.model import Fragment, Kind, Problem, RunDraft, Severity
from perfdb.results.runs.normalize import FoundProblems


def problem(code: str, file: str = "a.log", line: int | None = None, run_id: str | None = None) -> Problem:
    severity = Severity.ERROR if code == "error" else Severity.NOTE
    return Problem(severity, code, "", "", file, line, run_id)


def draft(*spans: tuple[str, int, int]) -> RunDraft:
    fragments = [Fragment(file, "awm", 1, Kind.REPORT, first, last) for file, first, last in spans]
    return RunDraft("R1", None, reports=fragments)


def test_a_run_has_what_names_it_or_stands_in_its_lines() -> None:
    found = FoundProblems(
        (
            problem("inside", line=12),
            problem("behind", line=21),
            problem("names it", line=500, run_id="R1"),
            problem("names another", line=12, run_id="R2"),
            problem("at the edges", line=20),
            problem("error", line=12),
            problem("of the file"),
            problem("other file", "b.log", line=12),
            problem("first line", line=10),
        )
    )
    codes = [each.code for each in found.for_run(draft(("a.log", 10, 20)))]
    assert codes == ["inside", "names it", "at the edges", "first line"]


def test_lines_that_two_of_its_fragments_share_count_once() -> None:
    found = FoundProblems((problem("inside", line=12), problem("other file", "b.log", line=3)))
    codes = [each.code for each in found.for_run(draft(("a.log", 10, 20), ("a.log", 12, 14), ("b.log", 1, 3)))]
    assert codes == ["inside", "other file"]
