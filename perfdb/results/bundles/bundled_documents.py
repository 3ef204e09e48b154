"""Published runs of a bundle, stored like a document without logs."""

from collections.abc import Sequence
from datetime import date, datetime
from hashlib import sha256
from typing import Any

from importers.model import Status
from perfdb.analysis import units
from perfdb.results.models import Disagreement, Run, Study, Upload, UploadRun
from perfdb.results.runs.record import SystemIdentity
from perfdb.results.studies.load_document import (
    Document,
    DocumentClaim,
    DocumentDevice,
    DocumentFigure,
    DocumentItem,
    DocumentPercent,
    DocumentRun,
    load_document,
)

# Fields that a study in a manifest and a document have in common.
_ABOUT = ("title", "purpose", "method", "source", "notes", "plan", "run_id_pattern", "run_id_values")
# Characters around a printed number.
_AROUND = "()% "


def published_entries(manifest: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the published runs of a manifest, none without a document."""
    return [] if manifest["document"] is None else manifest["document"]["runs"]


def document_digest(manifest: dict[str, Any]) -> str:
    """Return the digest of a document; chosen runs of it have another digest."""
    whole = str(manifest["study"]["document_digest"])
    return sha256(f"{whole}?{manifest['asked']}".encode()).hexdigest() if manifest["asked"] else whole


def check_document(study: Study, manifest: dict[str, Any]) -> None:
    """Check that the published runs can be stored. Raise ValueError."""
    try:
        document = _document(study, manifest)
        for figure in document.figures:
            units.convert(figure.number, figure.read_as, figure.metric)
        for each in manifest["document"]["disagreements"]:
            Disagreement(**{name: value for name, value in each.items() if name != "run"})
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"perfdb-bundle.json holds published runs that cannot be read: {error}") from error


def upload_rows(upload: Upload, manifest: dict[str, Any], first: int) -> list[UploadRun]:
    """Return the published runs as rows of the upload, numbered from ``first``."""
    there = upload.study.document_digest == document_digest(manifest)
    outcome = UploadRun.Outcome.ALREADY_THERE if there else UploadRun.Outcome.NEW
    return [
        UploadRun(
            upload=upload,
            number=number,
            run_label=run["run_id"],
            trial=run["trial"],
            outcome=outcome,
            status=Status.COMPLETE,
            summary={"dimensions": run["dimensions"], "figures": [], "files": []},
        )
        for number, run in enumerate(published_entries(manifest), start=first)
    ]


def load_published(upload: Upload, manifest: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Store the published runs once; return ids and entries. Raise ValueError for unreadable figures."""
    study = upload.study
    if not study.document_digest and not Run.objects.filter(study=study).exists():
        # A study without runs becomes that of the document.
        Study.objects.filter(pk=study.pk).update(document_digest=f"to be {document_digest(manifest)}"[:64])
    if load_document(_document(study, manifest), upload.owner):
        study.refresh_from_db()
        stored = _published(study)
        Disagreement.objects.filter(run__in=stored).delete()
        by_row = {run["row"]: pk for run, pk in zip(published_entries(manifest), stored, strict=True)}
        # A bundle has the results of the audit, not the facts about the method that it needs.
        Disagreement.objects.bulk_create(
            Disagreement(**{name: value for name, value in each.items() if name != "run"}, run_id=by_row[each["run"]])
            for each in manifest["document"]["disagreements"]
        )
    found = list(zip(_published(study), published_entries(manifest), strict=True))
    shown = {(row.run_label, row.trial): row for row in upload.runs.filter(run=None)}
    for pk, run in found:
        if row := shown.get((run["run_id"], run["trial"])):
            row.run_id, row.loaded = pk, True
            row.save(update_fields=["run", "loaded"])
    return found


def _published(study: Study) -> list[int]:
    """Return the ids of a study's published runs, in the order of storage."""
    return list(Run.objects.filter(study=study, sources=None).order_by("pk").values_list("pk", flat=True))


def _document(study: Study, manifest: dict[str, Any]) -> Document:
    about, document = manifest["study"], manifest["document"]
    return Document(
        slug=study.slug,
        digest=document_digest(manifest),
        # All runs of a document have the same date.
        date=datetime.fromisoformat(document["runs"][0]["started"]).date() if document["runs"] else date(1970, 1, 1),
        runs=[_run(each) for each in document["runs"]],
        figures=[DocumentFigure(**each, number=each["printed"].strip(_AROUND)) for each in document["figures"]],
        percents=[DocumentPercent(**each) for each in document["percents"]],
        claims=[DocumentClaim(**each) for each in about["claims"]],
        items=[DocumentItem(**{**each, "queries": tuple(each["queries"])}) for each in about["items"]],
        systems={name: SystemIdentity(**each) for name, each in document["systems"].items()},
        devices={name: DocumentDevice(**each) for name, each in document["devices"].items()},
        **{name: about[name] for name in _ABOUT},
    )


def _run(run: dict[str, Any]) -> DocumentRun:
    facts, own = run["facts"], {name: run[name] for name in ("row", "run_id", "trial", "dimensions")}
    return DocumentRun(**own, trials=int(facts.get("mean_of_trials", "1")), mtu_printed=facts.get("mtu", ""))
