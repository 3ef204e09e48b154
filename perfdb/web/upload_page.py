"""What an upload's page shows of it: files, runs that would be or were stored, and problems that lead to lines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from importers import FORMATS
from perfdb.results.models import Problem, Upload, UploadFile, UploadRun

# Longer lists are cut on the page, with a link to all of it.
MOST = 1000
# In these states a person decides, and may still say how a file is to be read.
_OPEN = frozenset({Upload.State.PREVIEW, Upload.State.FAILED})
_DECISIONS = (
    ("keep", "keep the stored run"),
    ("replace", "replace it with this one"),
    ("trial", "store this one as another trial"),
)


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem and where a click on its place leads, empty where no file is concerned."""

    problem: Problem
    address: str


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file, its problems, and whether a person may say what format it is."""

    file: UploadFile
    problems: int
    asks_format: bool


def context(upload: Upload) -> dict[str, Any]:
    """Everything on the page; five SQL queries however many files and runs there are."""
    files = list(upload.files.select_related("artifact").order_by("path")[:MOST])
    problems = list(upload.problems.order_by("pk")[:MOST])
    runs = list(upload.runs.select_related("run").order_by("number")[:MOST])
    artifacts = {file.path: file.artifact_id for file in files}
    counts = {run.outcome: 0 for run in runs}
    for run in runs:
        counts[run.outcome] += 1
    return {
        "upload": upload,
        "settled": upload.state in Upload.SETTLED,
        "file_count": upload.files.count() if len(files) == MOST else len(files),
        "files": _files(upload, files, problems),
        "problems": with_addresses(problems, artifacts),
        "runs": runs,
        "counts": counts,
        "storable": sum(counts.get(outcome, 0) for outcome in ("new", "extended")),
        "conflicts": [run for run in runs if run.outcome == UploadRun.Outcome.CONFLICT],
        "decisions": _DECISIONS,
        "formats": [(each.NAME, each.TITLE) for each in FORMATS],
        "cut": max(len(files), len(problems), len(runs)) == MOST,
    }


def _files(upload: Upload, files: list[UploadFile], problems: list[Problem]) -> list[ShownFile]:
    containers = {file.container_id for file in files}
    by_path: dict[str, int] = {}
    for problem in problems:
        by_path[problem.file] = by_path.get(problem.file, 0) + 1
    asked = upload.state in _OPEN
    return [
        ShownFile(
            file,
            by_path.get(file.path, 0),
            # An archive is read by unpacking, and what is no text has no format to choose.
            asked and not file.format and bool(file.encoding) and file.pk not in containers,
        )
        for file in files
    ]


def with_addresses(problems: Iterable[Problem], artifacts: Mapping[str, int]) -> list[ShownProblem]:
    """Problems with links to their lines. ``artifacts``: path -> artifact."""
    return [ShownProblem(problem, _address(problem, artifacts)) for problem in problems]


def _address(problem: Problem, artifacts: Mapping[str, int]) -> str:
    artifact = artifacts.get(problem.file)
    if artifact is None:
        return ""
    address = reverse("web:artifact", args=[artifact])
    return f"{address}?line={problem.line}#L{problem.line}" if problem.line else address
