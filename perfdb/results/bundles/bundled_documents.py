"""Published runs that a bundle brings: they have no logs, and are stored as their document was."""

from collections.abc import Sequence
from datetime import date, datetime
from hashlib import sha256
from typing import Any

from importers.model import Status
from perfdb.analysis import units
from perfdb.results.models import Disagreement, Run, Study, Upload, UploadRun
from perfdb.results.runs.record import SystemIdentity
from perfdb.results.studies.document_format import (
    Document,
    DocumentClaim,
    DocumentDevice,
    DocumentFigure,
    DocumentItem,
    DocumentPercent,
    DocumentRun,
)
from perfdb.results.studies.load_document import load_document

# What stands around a printed number.
_AROUND = "()% "


def runs_said(said: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """The published runs of a bundle; none where it is of no document."""
    return [] if said["document"] is None else said["document"]["runs"]


def digest(said: dict[str, Any]) -> str:
    """What the document's study is told from others by: that of the document, unless only some of it was taken."""
    whole = str(said["study"]["document_digest"])
    return sha256(f"{whole}?{said['asked']}".encode()).hexdigest() if said["asked"] else whole


def check(study: Study, said: dict[str, Any]) -> None:
    """Raise ValueError for what could not be stored as a document's."""
    try:
        document = _document(study, said)
        for figure in document.figures:
            units.convert(figure.number, figure.read_as, figure.metric)
        for each in said["document"]["disagreements"]:
            Disagreement(**{name: value for name, value in each.items() if name != "run"})
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"perfdb-bundle.json holds published runs that cannot be read: {error}") from error


def rows(upload: Upload, said: dict[str, Any], first: int) -> list[UploadRun]:
    """The published runs for the page of the upload; ``first``: the number of the first."""
    there = upload.study.document_digest == digest(said)
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
        for number, run in enumerate(runs_said(said), start=first)
    ]


def load(upload: Upload, said: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Store the published runs with all that their document prints; answers each with what is said of it.

    Raises ValueError for figures that cannot be read. Nothing changes where the document is there already.
    """
    study = upload.study
    _make_way(study, said)
    if load_document(_document(study, said), upload.owner):
        study.refresh_from_db()
        stored = _published(study)
        Disagreement.objects.filter(run__in=stored).delete()
        by_row = {run["row"]: pk for run, pk in zip(runs_said(said), stored, strict=True)}
        # What the audit must know of the method stands in no bundle; what it found does.
        Disagreement.objects.bulk_create(
            Disagreement(**{name: value for name, value in each.items() if name != "run"}, run_id=by_row[each["run"]])
            for each in said["document"]["disagreements"]
        )
    found = list(zip(_published(study), runs_said(said), strict=True))
    shown = {(row.run_label, row.trial): row for row in upload.runs.filter(run=None)}
    for pk, run in found:
        if row := shown.get((run["run_id"], run["trial"])):
            row.run_id, row.loaded = pk, True
            row.save(update_fields=["run", "loaded"])
    return found


def _make_way(study: Study, said: dict[str, Any]) -> None:
    """Let a study that was made for the bundle be that of its document."""
    if not study.document_digest and not Run.objects.filter(study=study).exists():
        Study.objects.filter(pk=study.pk).update(document_digest=f"to be {digest(said)}"[:64])


def _published(study: Study) -> list[int]:
    """The published runs in the order in which they were stored."""
    return list(Run.objects.filter(study=study, sources=None).order_by("pk").values_list("pk", flat=True))


def _document(study: Study, said: dict[str, Any]) -> Document:
    about, document = said["study"], said["document"]
    return Document(
        slug=study.slug,
        title=about["title"],
        purpose=about["purpose"],
        method=about["method"],
        source=about["source"],
        digest=digest(said),
        date=_date(document["runs"]),
        runs=[_run(each) for each in document["runs"]],
        figures=[DocumentFigure(**each, number=each["printed"].strip(_AROUND)) for each in document["figures"]],
        percents=[DocumentPercent(**each) for each in document["percents"]],
        claims=[DocumentClaim(**each) for each in about["claims"]],
        items=[DocumentItem(**{**each, "queries": tuple(each["queries"])}) for each in about["items"]],
        systems={name: SystemIdentity(**each) for name, each in document["systems"].items()},
        devices={name: DocumentDevice(**each) for name, each in document["devices"].items()},
        notes=about["notes"],
        plan=about["plan"],
        run_id_pattern=about["run_id_pattern"],
        run_id_values=about["run_id_values"],
    )


def _date(runs: Sequence[dict[str, Any]]) -> date:
    """What all runs of a document are dated by."""
    return datetime.fromisoformat(runs[0]["started"]).date() if runs else date(1970, 1, 1)


def _run(run: dict[str, Any]) -> DocumentRun:
    facts = run["facts"]
    return DocumentRun(
        row=run["row"],
        run_id=run["run_id"],
        trial=run["trial"],
        trials=int(facts.get("mean_of_trials", "1")),
        mtu_printed=facts.get("mtu", ""),
        dimensions=run["dimensions"],
    )
