"""Uploads of offline bundles: logs first, then notes, tags and report.

The logs are read with the supplied facts, run id pattern and aliases of the bundle, so that the same runs result.
Everything that could be refused is checked before anything is stored.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from importers.model import Problem, Severity
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.trends.histories import BY_DATE
from perfdb.results.bundles import bundled_documents
from perfdb.results.bundles.bundle_manifest import ManifestError, check_manifest
from perfdb.results.bundles.make_bundle import FORMAT, MANIFEST, VERSION
from perfdb.results.changes import alias_changes, withdraw
from perfdb.results.ingest import artifacts
from perfdb.results.ingest.import_job import UploadType
from perfdb.results.ingest.make_records import digests_of, spans_of
from perfdb.results.ingest.match_runs import UploadedRecord
from perfdb.results.ingest.supplied_facts import Correction, Place
from perfdb.results.ingest.uploads import IntakeError, checked_facts
from perfdb.results.models import Note, Run, RunSource, Study, Upload, UploadFile, UploadRun
from perfdb.results.models.dimensions import INBOX
from perfdb.results.published.published_records import FORMAT as PUBLISHED
from perfdb.results.runs import access, notes
from perfdb.results.runs import tags as tagging
from perfdb.results.runs.normalize.configuration import GIVEN_FACTS, RUN_ID, TRIAL
from perfdb.results.studies import report_items, run_id_patterns, study_details
from perfdb.results.studies.report_items import ItemText

_LARGEST = 64 * 1024 * 1024
_KEYS = (RUN_ID, TRIAL, *GIVEN_FACTS)
_AGAIN = "Download the bundle again, or upload the files of its folder logs by themselves."


class BundleError(Exception):
    """A bundle cannot be loaded; ``remedy`` is the advice to the person."""

    def __init__(self, message: str, remedy: str = _AGAIN) -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(slots=True)
class BundleUpload(UploadType):
    """An upload of an offline bundle; ``runs`` are entries of the manifest by number."""

    member: UploadFile
    manifest: dict[str, Any] = field(default_factory=dict)
    runs: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Return the folder of the bundle's files, with a slash at the end."""
        return self.member.path.removesuffix(MANIFEST)

    def prepare(self, upload: Upload) -> list[Problem]:
        """Check the manifest, and prepare study and upload on the first attempt."""
        try:
            self.manifest = _read(self.member)
            if upload.files.filter(container=None).count() > 1:
                raise BundleError("A bundle came together with other files", "Upload the bundle by itself.")
            _check_files(upload, self.manifest, self.folder)
            with transaction.atomic():
                if self.member.format != FORMAT:
                    self._prepare(upload)
                # A person may have moved the preview to another study since.
                if not access.may_change(upload.owner, upload.study):
                    remedy = "Choose a study of your own for the upload."
                    raise BundleError(f"The study {upload.study.slug} is somebody else's", remedy)
        except (BundleError, QueryError, IntakeError, ManifestError, ValueError) as error:
            upload.refresh_from_db()
            remedy = getattr(error, "remedy", _AGAIN)
            return [Problem(Severity.ERROR, "bundle.refused", f"{error}.".replace("..", "."), remedy, self.member.path)]
        message = f"This is an offline bundle of the study {self.manifest['study']['title']}, made "
        message += f"{self.manifest['made'][:10]} at {self.manifest['from'] or 'another instance'}; its runs go to the "
        message += f"study {upload.study.slug}."
        return [Problem(Severity.NOTE, "bundle.recognised", message, "", self.member.path), *self._pasted()]

    def _pasted(self) -> list[Problem]:
        """Return a warning about runs of pasted tables, which come only as tables."""
        tables = {file["name"] for file in self.manifest["files"] if file["format"] == PUBLISHED}
        runs = [run["run_id"] for run in self.manifest["runs"] if {name for name, _ in run["sources"]} <= tables]
        if not runs:
            return []
        message = f"{len(runs)} of its runs, such as {runs[0]}, were pasted as tables and do not come by themselves."
        remedy = f"Import {min(tables)} as a table into the same study."
        return [Problem(Severity.WARNING, "bundle.tables", message, remedy, self.member.path)]

    def _prepare(self, upload: Upload) -> None:
        upload.study = _choose_study(upload, self.manifest)
        _check_said(upload, self.manifest)
        given = [correction.to_json() for correction in _supplied_corrections(self.manifest, self.folder)]
        # A repeated upload brings its corrections along.
        upload.corrections = [*(each for each in given if each not in upload.corrections), *upload.corrections]
        for each in self.manifest["uploads"]:
            for path, name in each["forced_formats"].items():
                upload.files.filter(path=self.folder + each["files"][path]).update(forced_format=name)
        upload.save(update_fields=["study", "corrections"])
        logs = [self.folder + file["name"] for file in self.manifest["files"]]
        upload.files.filter(container=self.member.container).exclude(path__in=logs).update(excluded=True)
        UploadFile.objects.filter(pk=self.member.pk).update(format=FORMAT)

    def select(self, upload: Upload, batch: list[UploadedRecord]) -> list[UploadedRecord]:
        """Return the runs of the bundle; the logs may contain others."""
        runs = self.manifest["runs"]
        entries = [each for each in runs if each["status"] != Run.Status.WITHDRAWN or each["withdrawn"]]
        found = []
        for each, entry in _match_entries(batch, entries, self.folder):
            # Logs of several uploads, now read together, may get other run ids from their folders.
            each.record.run_id, each.record.trial = entry["run_id"], entry["trial"]
            if each.record.started == each.context.received:
                # Undated logs keep the time at which they were first received.
                each.record.started = datetime.fromisoformat(entry["started"])
            self.runs[each.number] = entry
            # Matching ignores withdrawn runs.
            if not (entry["withdrawn"] and _is_stored(upload.study, each)):
                found.append(replace(each, trial=entry["trial"]))
        return sorted(found, key=lambda each: each.number)

    def rows(self, upload: Upload, first: int) -> list[UploadRun]:
        """Return the rows of the published runs."""
        return bundled_documents.upload_rows(upload, self.manifest, first)

    def complete(self, upload: Upload) -> bool:
        """Store published runs and people's additions; return whether the bundle has no runs."""
        rows = upload.runs.filter(number__in=self.runs)
        stored = [(row.run_id, self.runs[row.number]) for row in rows if row.run_id is not None]
        if self.manifest["document"] is not None:
            stored += bundled_documents.load_published(upload, self.manifest)
        _annotate(upload.owner, stored)
        if self.manifest["document"] is None:
            _add_items(upload.study, self.manifest["study"]["items"])
        return not (self.manifest["runs"] or bundled_documents.published_entries(self.manifest))


def recognise(upload: Upload) -> BundleUpload | None:
    """Return the bundle that an unpacked upload is, by the manifest at the root of an archive, or None."""
    members = upload.files.filter(container__isnull=False, path__endswith=f"/{MANIFEST}").order_by("pk")
    for member in members.select_related("artifact", "container"):
        assert member.container is not None  # for the type checker
        if "/" not in member.path.removeprefix(member.container.path)[1:].removesuffix(f"/{MANIFEST}"[1:]):
            return BundleUpload(member)
    return None


def _read(member: UploadFile) -> dict[str, Any]:
    if member.artifact.size > _LARGEST:
        raise BundleError(f"{MANIFEST} has {member.artifact.size:,} bytes, which no bundle has")
    with artifacts.open_artifact(member.artifact) as file:
        try:
            manifest = json.loads(file.read())
        except (ValueError, RecursionError):
            raise BundleError(f"{MANIFEST} is damaged and cannot be read") from None
    about = manifest if isinstance(manifest, dict) else {}
    version = about.get("version")
    if about.get("format") != FORMAT or not isinstance(version, int):
        raise BundleError(f"{MANIFEST} is not that of a bundle")
    if version > VERSION:
        remedy = "Update this perfdb, or upload the files of the bundle's folder logs by themselves."
        raise BundleError(f"The bundle has version {version}, and this perfdb reads up to {VERSION}", remedy)
    return check_manifest(about)


def _check_files(upload: Upload, manifest: dict[str, Any], folder: str) -> None:
    """Compare the logs with the manifest. Raise BundleError."""
    there = dict(upload.files.filter(path__startswith=folder).values_list("path", "artifact__sha256"))
    for file in manifest["files"]:
        if there.get(folder + file["name"]) != file["sha256"]:
            what = "was changed" if folder + file["name"] in there else "is missing"
            raise BundleError(f"{file['name']} {what} since the bundle was made")
    names = {file["name"] for file in manifest["files"]}
    used = {name for run in manifest["runs"] for name, _ in run["sources"]}
    used.update(name for each in manifest["uploads"] for name in each["files"].values())
    if unknown := used - names:
        raise BundleError(f"{MANIFEST} speaks of {min(unknown)}, which is none of its files")


def _choose_study(upload: Upload, manifest: dict[str, Any]) -> Study:
    """Return the person's study, else the bundle's, maybe new. Raise BundleError and QueryError."""
    slug = manifest["study"]["slug"]
    if upload.study.slug != INBOX:
        if not Run.objects.filter(study=upload.study).exists() and not upload.study.run_id_pattern:
            _describe(upload, upload.study, manifest["study"])
        return upload.study
    if slug == INBOX:
        return upload.study
    for name in (slug, *(f"{slug}-{number}" for number in range(2, 1000))):
        study = Study.objects.filter(slug=name).first()
        if study is None:
            new = Study.objects.create(slug=name, title=slug, owner=upload.owner)
            _describe(upload, new, manifest["study"])
            return new
        if _has_content(study, manifest):
            return study
    raise BundleError(f"There are too many studies called {slug}", "Choose a study for the upload.")


def _has_content(study: Study, manifest: dict[str, Any]) -> bool:
    """Return whether a study has the bundle's document or logs."""
    if manifest["document"] is not None and study.document_digest == bundled_documents.document_digest(manifest):
        return True
    digests = [file["sha256"] for file in manifest["files"]]
    return RunSource.objects.filter(run__study=study, artifact__sha256__in=digests).exists()


def _describe(upload: Upload, study: Study, about: dict[str, Any]) -> None:
    """Set the details and aliases of a study from the bundle. Raise QueryError."""
    pattern = run_id_patterns.parse_pattern(about["run_id_pattern"], about["run_id_values"])
    texts = {name: about[name] for name in (*study_details.TEXTS, "notes", "plan")}
    # Bundles of earlier versions do not say it.
    texts["trend_order"] = about.get("trend_order", BY_DATE)
    study_details.change_details(study, texts | study_details.pattern_columns(pattern))
    for each in about["aliases"]:
        alias = alias_changes.propose_alias(study, each["dimension"], each["printed"], each["meaning"])
        alias.made_by = upload.owner
        # The study has no runs yet that would change.
        alias.save()


def _check_said(upload: Upload, manifest: dict[str, Any]) -> None:
    """Check everything to be stored later. Raise QueryError, IntakeError and ValueError."""
    study = upload.study
    for each in manifest["uploads"]:
        for facts in (each["facts"], *(correction["facts"] for correction in each["corrections"])):
            checked_facts(facts, _KEYS)
    for item in manifest["study"]["items"]:
        report_items.parse_item(study, _item_text(item))
    if manifest["document"] is not None:
        bundled_documents.check_document(study, manifest)
    for run in (*manifest["runs"], *bundled_documents.published_entries(manifest)):
        for tag in run["tags"]:
            tagging.parse_tag(tag)
        for note in run["notes"]:
            if not note["text"].strip() or "\0" in note["text"] or len(note["text"]) > notes.LONGEST:
                raise BundleError(f"A note on run {run['run_id']} is none that can be kept")


def _supplied_corrections(manifest: dict[str, Any], folder: str) -> list[Correction]:
    """Return the supplied facts and corrections of each upload for the files' present names."""
    found = []
    for each in manifest["uploads"]:
        names = {path: folder + name for path, name in each["files"].items()}
        everything = tuple(Place(name) for name in names.values())
        if each["facts"]:
            found.append(Correction(each["facts"], everything))
        for kept in each["corrections"]:
            # A folder becomes the places of its files.
            places = tuple(
                Place(name, place.first, place.last)
                for place in (Place(*given) for given in kept["places"])
                for path, name in names.items()
                if place.holds((path, place.first, place.last))
            )
            if places or not kept["places"]:
                found.append(Correction(kept["facts"], places or everything))
    return found


def _match_entries(
    records: Sequence[UploadedRecord], entries: Sequence[dict[str, Any]], folder: str
) -> list[tuple[UploadedRecord, dict[str, Any]]]:
    """Pair each run with the entry of the manifest that shares most lines."""
    places = [{(folder + name, *span) for name, spans in entry["sources"] for span in spans} for entry in entries]
    at = defaultdict(list)
    for number, of_entry in enumerate(places):
        for place in of_entry:
            at[place].append(number)
    scores = []
    for each in records:
        mine = {(fragment.file, *span) for fragment in each.record.fragments for span in spans_of([fragment])}
        shared = Counter(number for place in mine for number in at.get(place, ()))
        scores += [(-same / len(mine | places[number]), each.number, number) for number, same in shared.items()]
    by_number = {each.number: each for each in records}
    found: dict[int, int] = {}
    for _, mine_number, number in sorted(scores):
        if mine_number not in found and number not in found.values():
            found[mine_number] = number
    return [(by_number[mine_number], entries[number]) for mine_number, number in found.items()]


def _is_stored(study: Study, each: UploadedRecord) -> bool:
    withdrawn = Run.objects.filter(study=study, run_id=each.record.run_id, status=Run.Status.WITHDRAWN)
    stored = [run.sources.all() for run in withdrawn.prefetch_related("sources")]
    digests = digests_of(each.record.fragments)
    return any(digests <= {digest for source in sources for digest in source.digests} for sources in stored)


def _annotate(person: User, stored: Sequence[tuple[int, dict[str, Any]]]) -> None:
    """Add the missing notes, tags and withdrawals of stored runs."""
    tagged, reasons = defaultdict(list), defaultdict(list)
    for run, entry in stored:
        for tag in entry["tags"]:
            tagged[tag].append(run)
        if entry.get("withdrawn"):
            reasons[entry["withdrawn"]].append(run)
        _add_notes(person, run, entry["notes"])
    for tag, runs in tagged.items():
        tagging.add_tag(person, Run.objects.filter(pk__in=runs), tag)
    for reason, runs in reasons.items():
        withdraw.withdraw_runs(person, Run.objects.filter(pk__in=runs), reason)


def _add_notes(person: User, run: int, entries: Sequence[dict[str, Any]]) -> None:
    known = set(Note.objects.filter(run=run).values_list("text", flat=True)) if entries else set()
    for each in entries:
        if each["text"] not in known:
            author = User.objects.filter(username=each["author"]).first()
            note = notes.add_note(person, Run.objects.get(pk=run), each["text"])
            times = {"created": each["created"], "edited": each["edited"] or None}
            Note.objects.filter(pk=note.pk).update(author=author, **times)


def _item_text(item: dict[str, Any]) -> ItemText:
    return ItemText(item["kind"], item["number"], item["title"], "\n".join(item["queries"]), item["prose"])


def _add_items(study: Study, items: Sequence[dict[str, Any]]) -> None:
    """Add the missing items at the end of the report."""
    there = [
        (item.kind, item.title, [report_items.live_query(study, text) for text in item.queries], item.prose)
        for item in report_items.list_items(study)
    ]
    numbers = {(kind, number) for kind, number in study.report_items.values_list("kind", "number")}
    for item in items:
        written = _item_text(item)
        columns = report_items.parse_item(study, written)
        if (item["kind"], item["title"], columns["queries"], item["prose"]) not in there:
            free = (item["kind"], item["number"]) not in numbers
            report_items.add_item(study, written if free else replace(written, number=""))
