"""Page of an upload: files, runs, and problems with links."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Case, Count, IntegerField, Value, When
from django.http import QueryDict

from importers.formats import FORMATS
from perfdb.analysis.dimensions import natural_key
from perfdb.results.bundles.make_bundle import MANIFEST
from perfdb.results.ingest import upload_summary
from perfdb.results.ingest.parse_files import ARCHIVE
from perfdb.results.models import Job, Problem, Upload, UploadFile, UploadRun
from perfdb.results.models.dimensions import INBOX
from perfdb.results.published.published_records import FORMAT as PUBLISHED
from perfdb.results.studies.report_items import count_runs
from perfdb.web.uploads import missing_facts
from perfdb.web.uploads import problem_list as problems
from perfdb.web.uploads.missing_facts import NOTHING, Entered
from perfdb.web.uploads.upload_runs import build_trial_table, draw_upload

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
DECISIONS = (("keep", "keep stored"), ("replace", "replace"), ("trial", "add as trial"))


_DECISION = "decision:"


class Said(NamedTuple):
    """The number of runs with an outcome, in words."""

    outcome: str
    text: str


def read_decisions(posted: QueryDict) -> dict[str, str]:
    """Return the decision on each conflict of a form."""
    return {name.removeprefix(_DECISION): str(text) for name, text in posted.items() if name.startswith(_DECISION)}


def context(upload: Upload, *, may_change: bool, entered: Entered = NOTHING) -> dict[str, Any]:
    """Return the template context of the page.

    The number of SQL queries does not depend on the number of files and runs. ``may_change``: whether the visitor may
    change the upload. ``entered``: input that was refused.
    """
    files = list(upload.files.select_related("artifact").order_by("path")[:MOST])
    noticed = list(problems.gravest_first(upload.problems.all())[:MOST])
    runs = list(upload.runs.select_related("run").order_by(_UNSETTLED_FIRST, "number")[:MOST])
    runs.sort(key=lambda run: (run.outcome not in _UNSETTLED, natural_key(run.run_label), run.trial, run.number))
    upload_summary.fill_in(runs)
    artifacts = {file.path: file.artifact_id for file in files}
    counts = _counts(runs, upload.runs, "outcome")
    severities, of_files = (_counts(noticed, upload.problems, name) for name in ("severity", "file"))
    shown = problems.with_addresses(noticed, artifacts)
    return {
        "upload": upload,
        "settled": upload.state in Upload.SETTLED,
        "file_count": _number_to_read(upload, files),
        "files": list(_files(upload, files, of_files)),
        "causes": problems.list_causes(each for each in shown if each.problem.severity != Problem.Severity.NOTE),
        "notes": problems.list_causes(each for each in shown if each.problem.severity == Problem.Severity.NOTE),
        "noticed": problems.counted(severities),
        # Why there may be nothing to store: the first error, else the gravest thing that was found.
        "reason": next(iter(shown), None),
        "fault": "" if shown else _fault(upload),
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


def _counts(shown: Sequence[Any], listed: "RelatedManager[Any]", name: str) -> Counter[str]:
    """Return the number of rows for each value of a field, also of rows not shown."""
    if len(shown) < MOST:
        return Counter(getattr(each, name) for each in shown)
    return Counter(dict(listed.order_by().values_list(name).annotate(number=Count("pk"))))


def _cut(lists: Mapping[str, tuple[int, int]], files: int) -> str:
    """Return which ``lists``, name -> (number shown, number of all), are cut."""
    cut = [f"{shown:,} of {number:,} {name}s" for name, (shown, number) in lists.items() if shown < number]
    return " and ".join([*cut, *([f"the first {files:,} files"] if files == MOST else [])])


def _left(upload: Upload, files: Iterable[UploadFile]) -> dict[str, Any] | None:
    """Return the study that an undone upload brought, with counts, or None."""
    study, bundle = upload.study, any(file.path.endswith(MANIFEST) for file in files)
    runs, items = count_runs(study), study.report_items.count()
    brought = study.slug != INBOX and (not runs or (bundle and items))
    return {"study": study, "runs": runs, "items": items} if brought else None


def _may_be_corrected(upload: Upload, files: list[UploadFile]) -> bool:
    """Return whether the page still takes corrections, as for all but published tables."""
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
    """Return the error of an import that failed, else ""."""
    if upload.state != Upload.State.FAILED:
        return ""
    failed = upload.jobs.filter(state=Job.State.FAILED).order_by("-pk").values_list("outcome", flat=True).first()
    return str((failed or {}).get("error", ""))


def _files(upload: Upload, files: list[UploadFile], problems_of: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the files. ``asks_format``: a person may choose the format."""
    containers = {file.container_id for file in files}
    for file in files:
        unknown = not file.excluded and not file.format and bool(file.encoding)
        # An archive is read by unpacking, and what is no text has no format to choose.
        asked = upload.state in _OPEN and unknown and file.pk not in containers
        yield {"file": file, "problems": problems_of.get(file.path, 0), "asks_format": asked}
