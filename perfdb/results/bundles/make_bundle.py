"""Writing an offline bundle: runs with logs, values, notes and tags in one zip.

The zip is written as it is read: neither zip nor log is held in memory. ``perfdb-bundle.json`` describes the content,
so that another instance makes the same runs of the same files (docs/studies.md).
"""

import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple, cast

from django.db.models import Func, IntegerField, Model, QuerySet, TextField
from django.forms.models import model_to_dict
from django.utils import timezone

from importers.files.archive import DEFAULT_LIMITS, LONGEST_PATH
from perfdb.analysis.dimensions import FACTOR
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.ingest.artifacts import read_pieces
from perfdb.results.models import (
    Device,
    Disagreement,
    Note,
    PublishedFigure,
    PublishedPercent,
    Run,
    RunChange,
    RunEvidence,
    RunSource,
    Study,
    Upload,
    UploadFile,
)
from perfdb.results.queries.run_list import columns, export
from perfdb.results.queries.run_list.columns import ListColumn
from perfdb.results.runs import measures
from perfdb.results.runs.read import EXPERIMENT_ALONG, read_record
from perfdb.results.studies.report_items import list_items, live_query

FORMAT = "perfdb-bundle"
VERSION = 1
MANIFEST = "perfdb-bundle.json"
PAGE, VALUES, LOGS = "index.html", "runs.csv", "logs/"

# The manifest of the runs is held in memory.
MAX_RUNS = 5000
# Besides the logs there are page, values and manifest.
_MAX_LOGS = DEFAULT_LIMITS.files - 3
# An upload of the bundle puts the bundle's name before the paths.
_MAX_NAME = LONGEST_PATH - 100
_LARGE = 2**31
_DRIVE = re.compile(r"[A-Za-z]:")

# Renders the page of a study, given the instance's address; the app with the pages registers itself.
PAGES: dict[str, Callable[[Study, str], str]] = {}


class Logs(NamedTuple):
    """The files of runs: a source by name in the bundle; the name by upload and path."""

    sources: dict[str, RunSource]
    names: dict[tuple[int, str], str]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Runs of a study; ``asked`` is the choosing question, or "" for all."""

    study: Study
    runs: QuerySet[Run]
    asked: str = ""

    @property
    def file_name(self) -> str:
        return f"{self.study.slug}{'-selection' if self.asked else ''}.bundle.zip"


def bundle_study(study: Study) -> Bundle:
    """Return a bundle of all runs of a study, withdrawn ones included. Raise QueryError for too many."""
    return _check_size(Bundle(study, Run.objects.filter(study=study)))


def bundle_runs(runs: Iterable[int], asked: str) -> Bundle:
    """Return a bundle of runs. Raise QueryError for none, too many, several studies."""
    found = Run.objects.filter(pk__in=list(runs))
    studies = list(Study.objects.filter(pk__in=found.order_by().values("study")).order_by("title"))
    if not studies:
        raise QueryError("", "no run answers this question; there is nothing to take along")
    if len(studies) > 1:
        message = f"a bundle holds runs of one study, and these are of {len(studies)}; choose a study"
        raise QueryError("study", message, [study.slug for study in studies])
    return _check_size(Bundle(studies[0], found, asked))


def _check_size(bundle: Bundle) -> Bundle:
    if bundle.runs.order_by()[MAX_RUNS : MAX_RUNS + 1].exists():
        raise QueryError("", f"a bundle holds at most {MAX_RUNS} runs; choose fewer")
    if len(collect_logs(bundle.runs).sources) > _MAX_LOGS:
        raise QueryError("", f"a bundle holds at most {_MAX_LOGS} logs; choose fewer runs")
    return bundle


def collect_logs(runs: QuerySet[Run]) -> Logs:
    """Return the files of runs, with safe and unique names."""
    sources = RunSource.objects.filter(run__in=runs.order_by().values("pk"))
    found, taken = Logs({}, {}), dict[str, tuple[int, str]]()
    for source in sources.order_by("upload", "path", "pk").select_related("artifact"):
        key = (source.upload_id, source.path)
        if key not in found.names:
            name, is_new = _choose_name(source, taken)
            found.names[key] = LOGS + name
            if is_new:
                found.sources[LOGS + name] = source
    return found


def _choose_name(source: RunSource, taken: dict[str, tuple[int, str]]) -> tuple[str, bool]:
    """Return a file's name, and whether the file is new.

    ``taken``: folded name -> artifact (0 for a folder) and name.
    """
    clean = clean_path(source.path)
    for name in (clean, f"upload-{source.upload_id}/{clean}", f"artifact-{source.artifact_id}/{clean}"):
        folded = name.casefold()
        folders = [str(each) for each in PurePosixPath(folded).parents][:-1]
        artifact, there = taken.get(folded, (None, ""))
        if artifact == source.artifact_id:
            return there, False
        if artifact is None and not any(taken[each][0] for each in folders if each in taken):
            taken.update(dict.fromkeys(folders, (0, "")))
            taken[folded] = source.artifact_id, name
            return name, True
    raise AssertionError("an artifact's own folder holds nothing else")


def clean_path(path: str) -> str:
    """Return a path that stays within the folder on any system; a digest if too long."""
    parts = [_DRIVE.sub("", part) for part in PurePosixPath(path.replace("\\", "/")).parts]
    name = "/".join(part for part in parts if part not in ("", "/", "//", "..", ".")) or "unnamed"
    if len(name.encode()) <= _MAX_NAME:
        return name
    return sha256(path.encode()).hexdigest()[:32] + PurePosixPath(name).suffix[:20]


def make_manifest(bundle: Bundle, server: str) -> dict[str, Any]:
    """Return the content of ``perfdb-bundle.json``; ``server`` is the address of the instance."""
    logs = collect_logs(bundle.runs)
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": timezone.now().isoformat(),
        "from": server,
        "asked": bundle.asked,
        "study": describe_study(bundle.study),
        "uploads": _uploads(logs),
        "files": [
            {"name": name, "sha256": each.artifact.sha256, "size": each.artifact.size, "format": each.format}
            for name, each in logs.sources.items()
        ],
        "runs": describe_runs(bundle.runs, logs.names),
        "document": describe_document(bundle.study, bundle.runs),
    }


def _uploads(logs: Logs) -> list[dict[str, Any]]:
    """Return supplied facts, decisions and files of each upload."""
    named: dict[int, dict[str, str]] = defaultdict(dict)
    for (upload, path), name in logs.names.items():
        named[upload][path] = name
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


def write_bundle(bundle: Bundle, page: str, server: str) -> Iterator[bytes]:
    """Yield the pieces of the zip; ``page`` becomes ``index.html``."""
    outlet = _Outlet()
    manifest = json.dumps(make_manifest(bundle, server), ensure_ascii=False, indent=1).encode()
    with zipfile.ZipFile(cast("IO[bytes]", outlet), "w") as archive:
        # The manifest comes first, which distinguishes a bundle from other archives.
        yield from _write_member(archive, outlet, MANIFEST, [manifest])
        yield from _write_member(archive, outlet, PAGE, [page.encode()])
        lines = export.render_csv(bundle.runs.order_by(), _all_columns(bundle.runs))
        yield from _write_member(archive, outlet, VALUES, (line.encode() for line in lines))
        for name, source in collect_logs(bundle.runs).sources.items():
            is_large = source.artifact.size >= _LARGE
            yield from _write_member(archive, outlet, name, read_pieces(source.artifact), large=is_large)
    yield outlet.take()


class _Outlet:
    """A write-only stream that holds the bytes of a zip until the next read."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, data: bytes) -> int:
        self._waiting += data
        return len(data)

    def flush(self) -> None:
        """Do nothing."""

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        data = bytes(self._waiting)
        self._waiting.clear()
        return data


def _write_member(
    archive: zipfile.ZipFile, outlet: _Outlet, name: str, content: Iterable[bytes], *, large: bool = False
) -> Iterator[bytes]:
    member = zipfile.ZipInfo(name, timezone.now().timetuple()[:6])
    member.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(member, "w", force_zip64=large) as target:
        for piece in content:
            target.write(piece)
            yield outlet.take()


def _all_columns(runs: QuerySet[Run]) -> Sequence[ListColumn]:
    """Return a column for each value that any of the runs has."""
    chosen = runs.order_by()
    keys = Func("factors", function="jsonb_object_keys", output_field=TextField())
    factors = set(chosen.values_list(keys, flat=True).distinct())
    each = Func("slots", function="unnest", output_field=IntegerField())
    evidence = RunEvidence.objects.filter(run__in=chosen.values("pk"))
    slots = set(evidence.values_list(each, flat=True).distinct())
    named = [str(measure) for measure, slot in measures.read_slots().items() if slot in slots]
    return [
        columns.parse_column(name)
        for name in (*columns.OFFERED_COLUMNS, *(FACTOR + key for key in sorted(factors)), *named)
    ]


# The fields of each kind of row in the manifest; `bundle_manifest` has the types.
STUDY = (
    *("slug", "title", "purpose", "method", "source", "notes"),
    *("run_id_pattern", "run_id_values", "plan", "trend_order"),
)
ITEM = ("kind", "number", "title", "queries", "asks", "prose")
CLAIM = ("name", "line", "printed", "relation", "value", "unit", "metric", "role", "compared", "baseline")
FIGURE = ("table", "line", "metric", "role", "printed", "unit", "read_as", "row_label", "column_label")
PERCENT = ("table", "line", "metric", "role", "printed")
DISAGREEMENT = (
    *("kind", "severity", "table", "line", "metric", "role", "printed"),
    *("recomputed", "low", "high", "unit", "formula", "message"),
)


def _columns(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def describe_study(study: Study) -> dict[str, Any]:
    """Return a study with aliases and report."""
    return {
        **_columns(study, STUDY),
        "document_digest": study.document_digest,
        "aliases": list(study.aliases.order_by("pk").values("dimension", "printed", "meaning")),
        "items": [
            _columns(item, ITEM) | {"queries": [live_query(study, text) for text in item.queries]}
            for item in list_items(study)
        ],
        "claims": [_columns(claim, CLAIM) for claim in study.claims.order_by("pk")],
    }


def describe_runs(runs: QuerySet[Run], names: Mapping[tuple[int, str], str]) -> list[dict[str, Any]]:
    """Return the runs that have files; ``names``: (upload, path) -> name in the bundle."""
    chosen = runs.order_by().values("pk")
    sources: dict[Any, list[Any]] = defaultdict(list)
    rows = RunSource.objects.filter(run__in=chosen).order_by("pk")
    for run, upload, path, spans in rows.values_list("run", "upload", "path", "spans"):
        place = [names[upload, path], spans]
        # A source of two uploads appears once.
        if place not in sources[run]:
            sources[run].append(place)
    changes = RunChange.objects.filter(run__in=chosen, kind=RunChange.Kind.WITHDRAWN).order_by("pk")
    # The reason of the last withdrawal.
    withdrawn = dict(changes.values_list("run_id", "detail"))
    notes = _notes(chosen)
    return [
        {
            "run_id": run.run_id,
            "trial": run.trial,
            "started": run.started.isoformat(),
            "status": run.status,
            "tags": run.tags or [],
            "notes": notes.get(run.pk, []),
            "withdrawn": withdrawn.get(run.pk, "") if run.status == Run.Status.WITHDRAWN else "",
            "sources": sources[run.pk],
        }
        for run in runs.order_by("pk")
        if run.pk in sources
    ]


def _notes(chosen: QuerySet[Any]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for note in Note.objects.filter(run__in=chosen).select_related("author").order_by("created", "pk"):
        found[note.run_id].append(
            {
                "text": note.text,
                "author": note.author.get_username() if note.author else "",
                "created": note.created.isoformat(),
                "edited": note.edited.isoformat() if note.edited else "",
            }
        )
    return found


def describe_document(study: Study, runs: QuerySet[Run]) -> dict[str, Any] | None:
    """Return the published runs with figures, or None without a document."""
    if not study.document_digest:
        return None
    published = list(runs.filter(sources=None).select_related("system", *EXPERIMENT_ALONG).order_by("pk"))
    rows = {run.pk: str(number) for number, run in enumerate(published)}
    figures = PublishedFigure.objects.filter(run__in=rows).order_by("pk")
    percents = PublishedPercent.objects.filter(run__in=rows, baseline__in=rows).order_by("pk")
    wrong = Disagreement.objects.filter(run__in=rows).order_by("pk")
    return {
        "runs": [_published(run, rows[run.pk]) for run in published],
        "figures": [_columns(each, FIGURE) | {"run": rows[each.run_id]} for each in figures],
        "percents": [
            _columns(each, PERCENT) | {"run": rows[each.run_id], "baseline": rows[each.baseline_id]}
            for each in percents
        ],
        "disagreements": [_columns(each, DISAGREEMENT) | {"run": rows[each.run_id]} for each in wrong],
        "systems": {
            run.system.name: model_to_dict(run.system, ("machine", "host", "processors", "memory_bytes"))
            for run in published
            if run.system
        },
        "devices": {
            device.name: {"kind": device.kind, "speed_bits_per_s": device.speed_bits_per_s}
            for device in Device.objects.filter(pk__in=[run.device_id for run in published])
        },
    }


def _published(run: Run, row: str) -> dict[str, Any]:
    record = read_record(run)
    dimensions = {name: str(value) for name, value in record.configuration.dimensions().items() if value is not None}
    if run.system:
        dimensions["system"] = run.system.name
    identity = {"row": row, "run_id": run.run_id, "trial": run.trial, "started": run.started.isoformat()}
    facts = {name: fact.text for name, fact in record.facts.items()}
    notes = _notes(Run.objects.filter(pk=run.pk).values("pk")).get(run.pk, [])
    return identity | {"dimensions": dimensions, "facts": facts, "tags": run.tags or [], "notes": notes}
