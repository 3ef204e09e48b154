"""Page of an upload: files, runs, and problems with links."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Count, IntegerField, Value, When

from importers.formats import FORMATS
from perfdb.analysis.dimensions import natural_key
from perfdb.results.bundles.make_bundle import MANIFEST
from perfdb.results.ingest import upload_summary
from perfdb.results.ingest.parse_files import ARCHIVE
from perfdb.results.models import Job, Problem, Study, Upload, UploadFile, UploadRun
from perfdb.results.models.dimensions import INBOX
from perfdb.results.published.published_records import FORMAT as PUBLISHED
from perfdb.results.studies.report_items import count_runs
from perfdb.web.uploads import missing_facts
from perfdb.web.uploads import problem_list as problems
from perfdb.web.uploads.missing_facts import NOTHING, Entered
from perfdb.web.uploads.trial_rows import build_trial_table
from perfdb.web.uploads.upload_plot import draw_upload

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

# Longer lists are cut on the page, with a link to all of it.
MOST = 1000
# In these states a person decides, and may still say how a file is to be read.
_OPEN = frozenset({Upload.State.PREVIEW, Upload.State.FAILED})
# What became of runs, or would, in words; ``{s}`` is the plural's s.
_OUTCOMES = {
    UploadRun.Outcome.NEW: "{number:,} new run{s}",
    UploadRun.Outcome.EXTENDED: "{number:,} extended run{s}",
    UploadRun.Outcome.ALREADY_THERE: "{number:,} run{s} already there",
    UploadRun.Outcome.CONFLICT: "{number:,} run{s} in conflict",
    UploadRun.Outcome.REJECTED: "{number:,} rejected run{s}",
}
# What a person must look at.
_UNSETTLED = (UploadRun.Outcome.CONFLICT, UploadRun.Outcome.REJECTED)
_UNSETTLED_FIRST = Case(When(outcome__in=_UNSETTLED, then=Value(0)), default=Value(1), output_field=IntegerField())
DECISIONS = (
    ("keep", "keep stored"),
    ("replace", "replace"),
    ("trial", "add as trial"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """The number of runs with an outcome, in words."""

    outcome: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of the upload. ``asks_format``: a person may choose its format."""

    file: UploadFile
    problems: int
    asks_format: bool


def context(upload: Upload, *, may_change: bool, entered: Entered = NOTHING) -> dict[str, Any]:
    """Return the template context of the page.

    The number of SQL queries does not depend on the number of files and runs. ``may_change``: whether the visitor may
    change the upload. ``entered``: input that was refused.
    """
    files = list(upload.files.select_related("artifact").order_by("path")[:MOST])
    noticed = list(problems.gravest_first(upload.problems.all())[:MOST])
    runs = sorted(upload.runs.select_related("run").order_by(_UNSETTLED_FIRST, "number")[:MOST], key=_needing_most)
    upload_summary.fill_in(runs)
    artifacts = {file.path: file.artifact_id for file in files}
    counts = _counts(runs, upload.runs, "outcome")
    severities, of_files = (_counts(noticed, upload.problems, name) for name in ("severity", "file"))
    shown = problems.with_addresses(noticed, artifacts)
    return {
        "upload": upload,
        "settled": upload.state in Upload.SETTLED,
        "file_count": _number_to_read(upload, files),
        "files": _files(upload, files, of_files),
        **_to_check(shown),
        "noticed": problems.counted(severities),
        # Why there may be nothing to store: the first error, else the gravest thing that was found.
        "reason": next(iter(shown), None),
        "fault": _fault(upload) if upload.state == Upload.State.FAILED and not shown else "",
        **missing_facts.context(upload, runs, ask=may_change and _may_be_corrected(upload, files), entered=entered),
        "runs": runs,
        "trials": build_trial_table(runs, entered.chosen),
        "overview": draw_upload(runs),
        "may_change": may_change,
        "outcomes": list_outcomes(counts),
        "storable": counts["new"] + counts["extended"],
        "known": counts["already-there"],
        "conflicts": counts["conflict"],
        "decisions": DECISIONS,
        "formats": [(each.NAME, each.TITLE) for each in FORMATS],
        "all_runs": counts.total(),
        "more_runs": counts.total() > len(runs),
        "cut": _cut({"run": (len(runs), counts.total()), "problem": (len(noticed), severities.total())}, len(files)),
        "left": _left(upload, files) if upload.state == Upload.State.UNDONE else None,
    }


def _to_check(shown: Sequence[problems.ShownProblem]) -> dict[str, list[problems.Cause]]:
    """Return errors and warnings by cause, and notes by cause."""
    notes = [each for each in shown if each.problem.severity == Problem.Severity.NOTE]
    grave = [each for each in shown if each.problem.severity != Problem.Severity.NOTE]
    return {"causes": problems.list_causes(grave), "notes": problems.list_causes(notes)}


def _counts(shown: Sequence[Any], listed: "RelatedManager[Any]", name: str) -> Counter[str]:
    """Return the number of rows for each value of a field.

    Rows that are not shown count, too.
    """
    if len(shown) < MOST:
        return Counter(getattr(each, name) for each in shown)
    return Counter(dict(listed.order_by().values_list(name).annotate(number=Count("pk"))))


def _cut(lists: Mapping[str, tuple[int, int]], files: int) -> str:
    """Return which lists are not shown whole, "" for none.

    ``lists``: name -> (number shown, number of all).
    """
    cut = [f"{shown:,} of {number:,} {name}s" for name, (shown, number) in lists.items() if shown < number]
    return " and ".join([*cut, *([f"the first {files:,} files"] if files == MOST else [])])


def _needing_most(run: UploadRun) -> tuple[bool, object, int, int]:
    """Return a sort key: runs to check come first, then by run ID."""
    return run.outcome not in _UNSETTLED, natural_key(run.run_label), run.trial, run.number


@dataclass(frozen=True, slots=True)
class Left:
    """Remains of an undone upload: its study, with numbers of runs and report items."""

    study: Study
    runs: int
    items: int


def _left(upload: Upload, files: Iterable[UploadFile]) -> Left | None:
    """Return the study that an undone upload leaves behind.

    None if the upload did not bring the study: for an inbox, or a study with other runs.
    """
    study, bundle = upload.study, any(file.path.endswith(MANIFEST) for file in files)
    found = Left(study, count_runs(study), study.report_items.count())
    return found if study.slug != INBOX and (not found.runs or (bundle and found.items)) else None


def _may_be_corrected(upload: Upload, files: list[UploadFile]) -> bool:
    """Return whether the person may still correct the upload.

    Published tables are corrected on a page of their own.
    """
    return upload.state in _OPEN and all(file.format != PUBLISHED for file in files)


def _number_to_read(upload: Upload, files: list[UploadFile]) -> int:
    """Return the number of files to read, counting members instead of archives."""
    if len(files) == MOST:
        return upload.files.exclude(format=ARCHIVE).exclude(excluded=True).count()
    return sum(file.format != ARCHIVE and not file.excluded for file in files)


def list_outcomes(counts: Mapping[str, int]) -> list[Said]:
    """Return the outcomes that occur, best first. ``counts``: outcome -> number of runs."""
    return [
        Said(outcome, text.format(number=number, s="" if number == 1 else "s"))
        for outcome, text in _OUTCOMES.items()
        if (number := counts.get(outcome, 0))
    ]


def outcomes_of(uploads: Iterable[int]) -> dict[int, list[Said]]:
    """Return the outcomes of several uploads in one SQL query."""
    found = UploadRun.objects.filter(upload__in=uploads).order_by().values_list("upload", "outcome")
    counts: dict[int, dict[str, int]] = {}
    for upload, outcome, number in found.annotate(number=Count("pk")):
        counts.setdefault(upload, {})[outcome] = number
    return {upload: list_outcomes(each) for upload, each in counts.items()}


def _fault(upload: Upload) -> str:
    """Return why the import failed, if its files were not the reason, else ""."""
    failed = upload.jobs.filter(state=Job.State.FAILED).order_by("-pk").values_list("outcome", flat=True).first()
    return str((failed or {}).get("error", ""))


def _files(upload: Upload, files: list[UploadFile], problems_of: Mapping[str, int]) -> list[ShownFile]:
    containers = {file.container_id for file in files}
    asked = upload.state in _OPEN
    return [
        ShownFile(
            file,
            problems_of.get(file.path, 0),
            # An archive is read by unpacking, and what is no text has no format to choose.
            asked and not file.excluded and not file.format and bool(file.encoding) and file.pk not in containers,
        )
        for file in files
    ]
