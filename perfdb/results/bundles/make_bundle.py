"""An offline bundle: runs with their logs as received, their values and all that people said of them, as one zip.

It is written as it is read: neither the zip nor a log is ever held in memory. ``perfdb-bundle.json`` says what stands
in it, so that another instance can make the same runs of the same files; docs/studies.md describes it.
"""

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import IO, Any, cast

from django.db.models import Func, IntegerField, QuerySet, TextField
from django.utils import timezone

from importers.files.archive import DEFAULT_LIMITS, LONGEST_PATH
from perfdb.analysis.dimensions import FACTOR
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.bundles.bundle_contents import document_said, runs_said, study_said
from perfdb.results.ingest.artifacts import open_artifact
from perfdb.results.models import Artifact, Run, RunEvidence, RunSource, Study, Upload, UploadFile
from perfdb.results.queries.run_list import columns, export
from perfdb.results.queries.run_list.columns import Shown
from perfdb.results.runs import measures

FORMAT = "perfdb-bundle"
VERSION = 1
MANIFEST = "perfdb-bundle.json"
PAGE, VALUES, LOGS = "index.html", "runs.csv", "logs/"

# What is said of the runs stands in memory while it is written.
MOST_RUNS = 5000
# The page, the values and what the bundle holds go beside the logs.
_MOST_LOGS = DEFAULT_LIMITS.files - 3
# An upload of the bundle puts its own name before the paths.
_LONGEST_NAME = LONGEST_PATH - 100
_COPIED = 1024 * 1024
_LARGE = 2**31
_DRIVE = re.compile(r"[A-Za-z]:")

# The page of a whole study, given the study and the instance's address: what knows how to draw one puts it here.
PAGES: dict[str, Callable[[Study, str], str]] = {}


@dataclass(slots=True)
class Log:
    """A file in the bundle: its name there, and a source that says which file it is."""

    name: str
    source: RunSource


@dataclass(slots=True)
class Logs:
    """The files of the runs, each path once. ``names``: upload and path as uploaded -> name in the bundle."""

    logs: list[Log] = field(default_factory=list)
    names: dict[tuple[int, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Some runs of one study. ``asked``: what was asked to choose them, empty for all of the study."""

    study: Study
    runs: QuerySet[Run]
    asked: str = ""

    @property
    def file_name(self) -> str:
        """How the zip is called."""
        return f"{self.study.slug}{'-selection' if self.asked else ''}.bundle.zip"


def of_study(study: Study) -> Bundle:
    """All runs of a study, those that were withdrawn too. Raises QueryError for too many."""
    return _checked(Bundle(study, Run.objects.filter(study=study)))


def of_runs(runs: Iterable[int], asked: str) -> Bundle:
    """The runs with these numbers, which ``asked`` chose. Raises QueryError for none, too many or several studies."""
    found = Run.objects.filter(pk__in=list(runs))
    studies = list(Study.objects.filter(pk__in=found.order_by().values("study")).order_by("title"))
    if not studies:
        raise QueryError("", "no run answers this question; there is nothing to take along")
    if len(studies) > 1:
        message = f"a bundle holds runs of one study, and these are of {len(studies)}; choose a study"
        raise QueryError("study", message, [study.slug for study in studies])
    return _checked(Bundle(studies[0], found, asked))


def _checked(bundle: Bundle) -> Bundle:
    if bundle.runs.order_by()[MOST_RUNS : MOST_RUNS + 1].exists():
        raise QueryError("", f"a bundle holds at most {MOST_RUNS} runs; choose fewer")
    if len(logs_of(bundle.runs).logs) > _MOST_LOGS:
        raise QueryError("", f"a bundle holds at most {_MOST_LOGS} logs; choose fewer runs")
    return bundle


def logs_of(runs: QuerySet[Run]) -> Logs:
    """The files that runs are made of, with names that stay in their folder and stand once on any file system."""
    sources = RunSource.objects.filter(run__in=runs.order_by().values("pk"))
    found, taken = Logs(), dict[str, int]()
    for source in sources.order_by("upload", "path", "pk").select_related("artifact"):
        key = (source.upload_id, source.path)
        if key not in found.names:
            name, new = _placed(source, taken)
            found.names[key] = LOGS + name
            found.logs.extend([Log(LOGS + name, source)] if new else [])
    return found


def _placed(source: RunSource, taken: dict[str, int]) -> tuple[str, bool]:
    """The name of a file, and whether it is not there yet; ``taken`` has names and folders (0), folded."""
    clean = clean_path(source.path)
    for name in (clean, f"upload-{source.upload_id}/{clean}", f"artifact-{source.artifact_id}/{clean}"):
        folded = name.casefold()
        folders = [str(each) for each in PurePosixPath(folded).parents][:-1]
        if taken.get(folded) == source.artifact_id:
            return name, False
        if folded not in taken and not any(taken.get(each) for each in folders):
            taken.update(dict.fromkeys(folders, 0))
            taken[folded] = source.artifact_id
            return name, True
    raise AssertionError("an artifact's own folder holds nothing else")


def clean_path(path: str) -> str:
    """A path below the folder that it is put into, on any system; one that is too long gives way to its digest."""
    parts = [_DRIVE.sub("", part) for part in PurePosixPath(path.replace("\\", "/")).parts]
    name = "/".join(part for part in parts if part not in ("", "/", "//", "..", ".")) or "unnamed"
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    return sha256(path.encode()).hexdigest()[:32] + PurePosixPath(name).suffix[:20]


def manifest(bundle: Bundle, server: str) -> dict[str, Any]:
    """What stands in a bundle, as ``perfdb-bundle.json`` says it. ``server``: the address of the instance."""
    logs = logs_of(bundle.runs)
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": timezone.now().isoformat(),
        "from": server,
        "asked": bundle.asked,
        "study": study_said(bundle.study),
        "uploads": _uploads(logs),
        "files": [_file(log) for log in logs.logs],
        "runs": runs_said(bundle.runs, logs.names),
        "document": document_said(bundle.study, bundle.runs),
    }


def _file(log: Log) -> dict[str, Any]:
    artifact = log.source.artifact
    return {"name": log.name, "sha256": artifact.sha256, "size": artifact.size, "format": log.source.format}


def _uploads(logs: Logs) -> list[dict[str, Any]]:
    """What people said of the files of each upload, with the names that these have here."""
    named: dict[int, dict[str, str]] = {}
    for (upload, path), name in logs.names.items():
        named.setdefault(upload, {})[path] = name
    files = UploadFile.objects.filter(upload__in=named).exclude(forced_format="")
    forced = {(file.upload_id, file.path): file.forced_format for file in files}
    return [
        {
            "created": upload.created.isoformat(),
            "facts": upload.facts,
            "corrections": upload.corrections,
            "decisions": upload.decisions,
            "files": named[number],
            "forced_formats": {path: forced[number, path] for path in named[number] if (number, path) in forced},
        }
        for number, upload in sorted(Upload.objects.in_bulk(named).items())
    ]


def packed(bundle: Bundle, page: str, server: str) -> Iterator[bytes]:
    """The zip, piece by piece; ``page`` is its ``index.html``. What can be wrong with it was looked for before."""
    outlet = _Outlet()
    said = json.dumps(manifest(bundle, server), ensure_ascii=False, indent=1).encode()
    with zipfile.ZipFile(cast("IO[bytes]", outlet), "w") as archive:
        # What tells a bundle from other archives comes first.
        yield from _written(archive, outlet, MANIFEST, [said])
        yield from _written(archive, outlet, PAGE, [page.encode()])
        lines = export.as_csv(bundle.runs.order_by(), _all_columns(bundle.runs))
        yield from _written(archive, outlet, VALUES, (line.encode() for line in lines))
        for log in logs_of(bundle.runs).logs:
            artifact = log.source.artifact
            yield from _written(archive, outlet, log.name, _pieces(artifact), large=artifact.size >= _LARGE)
    yield outlet.taken()


class _Outlet:
    """What a zip is written to: its bytes wait here to be taken. It cannot be gone back in, as a download cannot."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, data: bytes) -> int:
        self._waiting += data
        return len(data)

    def flush(self) -> None:
        """There is nothing behind it."""

    def taken(self) -> bytes:
        """What was written since the last time."""
        data = bytes(self._waiting)
        self._waiting.clear()
        return data


def _written(
    archive: zipfile.ZipFile, outlet: _Outlet, name: str, content: Iterable[bytes], *, large: bool = False
) -> Iterator[bytes]:
    member = zipfile.ZipInfo(name, timezone.now().timetuple()[:6])
    member.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(member, "w", force_zip64=large) as target:
        for piece in content:
            target.write(piece)
            yield outlet.taken()


def _pieces(artifact: Artifact) -> Iterator[bytes]:
    with open_artifact(artifact) as log:
        while piece := log.read(_COPIED):
            yield piece


def _all_columns(runs: QuerySet[Run]) -> Sequence[Shown]:
    """A column for everything that one of the runs has."""
    chosen = runs.order_by()
    keys = Func("factors", function="jsonb_object_keys", output_field=TextField())
    factors = set(chosen.values_list(keys, flat=True).distinct())
    each = Func("slots", function="unnest", output_field=IntegerField())
    evidence = RunEvidence.objects.filter(run__in=chosen.values("pk"))
    slots = set(evidence.values_list(each, flat=True).distinct())
    named = [str(measure) for measure, slot in measures.slots().items() if slot in slots]
    return [columns.column(name) for name in (*columns.OFFERED, *(FACTOR + key for key in sorted(factors)), *named)]
