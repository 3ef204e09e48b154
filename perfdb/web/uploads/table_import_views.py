"""Views of the import of published tables: paste, map, preview, load."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from importers.published.pasted_tables import Syntax
from perfdb.results.ingest import artifacts
from perfdb.results.ingest.upload_summary import summary_of
from perfdb.results.models import Study, UploadFile
from perfdb.results.models.dimensions import INBOX
from perfdb.results.published.load_tables import NotLoadedError, Preview, load_tables, preview_tables
from perfdb.results.published.map_tables import Reading, read_paste
from perfdb.results.published.published_records import FORMAT
from perfdb.web.uploads import mapping_form, upload_page
from perfdb.web.uploads.upload_form import UploadForm
from perfdb.web.view_access import person_of, sign_in_required

MOST_BYTES = 1024 * 1024
_SYNTAXES = (
    ("", "recognise it"),
    (Syntax.CSV, "CSV"),
    (Syntax.TSV, "TSV, as copied from a spreadsheet"),
    (Syntax.MARKDOWN, "Markdown or lines between bars"),
    (Syntax.HTML, "HTML"),
    (Syntax.STACKED, "cells below each other"),
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request's text, its syntax, and the target study."""

    form: UploadForm
    text: str
    syntax: Syntax | None
    errors: list[str]

    @property
    def study(self) -> Study | None:
        """Return the target study: by default the inbox, None for a new one."""
        if self.form.chosen is not None or self.form.cleaned_data.get("new_study"):
            return self.form.chosen
        return Study.objects.filter(owner=self.form.owner, slug=INBOX).first()


@sign_in_required("GET", "POST")
def table_import(request: HttpRequest) -> HttpResponse:
    """Show the next step of the import; only the last step stores the tables."""
    person = person_of(request)
    if request.method == "GET":
        pasted = _pasted_before(person, request.GET.get("upload", ""))
        slug, text = request.GET.get("study", ""), ""
        if pasted:
            slug = pasted.upload.study.slug
            with artifacts.open_artifact(pasted.artifact) as stream:
                text = stream.read(MOST_BYTES).decode("utf-8", "replace")
        return _paste_page(request, UploadForm(initial={"study": slug}, owner=person), text, [])
    asked = _asked(request, person)
    if asked.errors or not asked.text.strip():
        return _paste_page(request, asked.form, asked.text, asked.errors or ["Paste a table, or choose a file."])
    first = read_paste(asked.text, asked.study, asked.syntax)
    if not first.tables:
        errors = [f"{each.message} {each.remedy}" for each in first.problems]
        return _paste_page(request, asked.form, asked.text, errors)
    mappings, errors = mapping_form.read_mappings(first.tables, request.POST.dict())
    reading = read_paste(asked.text, asked.study, asked.syntax, mappings)
    action = request.POST.get("action", "read")
    if action == "load" and not errors:
        return _load(request, asked, reading)
    preview = preview_tables(asked.study, reading) if action != "read" and not errors else None
    return _tables_page(request, asked, reading, preview, errors)


def _pasted_before(user: User, upload: str) -> UploadFile | None:
    """Return the file with the text of the user's own upload, or None."""
    number = int(upload) if upload.isdecimal() and len(upload) < 10 else 0
    own = UploadFile.objects.filter(upload=number, upload__owner=user, format=FORMAT)
    return own.select_related("artifact", "upload__study").first()


def _asked(request: HttpRequest, user: User) -> _Asked:
    form = UploadForm(request.POST, owner=user)
    errors = [] if form.is_valid() else [str(text) for texts in form.errors.values() for text in texts]
    text, file = request.POST.get("text", ""), request.FILES.get("file")
    if file is not None and (file.size or 0) > MOST_BYTES:
        errors.append(f"The file has {file.size:,} bytes, and at most {MOST_BYTES:,} are taken.")
    elif file is not None:
        text = _decoded(file.read())
    name = request.POST.get("format", "")
    return _Asked(form, text, Syntax(name) if name in set(Syntax) else None, errors)


def _decoded(data: bytes) -> str:
    """Return text from UTF-8, marked UTF-16, or else Latin-1."""
    encodings = ("utf-16",) if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else ("utf-8-sig", "latin-1")
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return ""


def _load(request: HttpRequest, asked: _Asked, reading: Reading) -> HttpResponse:
    decisions = upload_page.read_decisions(request.POST)
    try:
        # Tables that are refused must not leave a new study behind.
        with transaction.atomic():
            upload = load_tables(asked.form.owner, asked.form.study_for_runs(), reading, decisions)
    except NotLoadedError as error:
        return _tables_page(request, asked, reading, preview_tables(asked.study, reading), [str(error)])
    return redirect("web:upload", pk=upload.pk)


def _paste_page(request: HttpRequest, form: UploadForm, text: str, errors: list[str]) -> HttpResponse:
    context = {"form": form, "text": text, "errors": errors, "syntaxes": _SYNTAXES, **_studies(form)}
    return render(request, "web/table_import.html", context, status=400 if errors else 200)


def _studies(form: UploadForm) -> dict[str, Any]:
    chosen = form["study"].value()
    return {"studies": Study.objects.exclude(slug=INBOX).order_by("title"), "chosen_study": chosen}


def _tables_page(
    request: HttpRequest, asked: _Asked, reading: Reading, preview: Preview | None, errors: list[str]
) -> HttpResponse:
    tables = [mapping_form.build_table(table, table.mapping, number) for number, table in enumerate(reading.tables)]
    context = {
        "form": asked.form,
        "text": asked.text,
        "format": reading.syntax,
        "errors": errors,
        "tables": tables,
        "asks": sum(table["asks"] for table in tables),
        "meanings": mapping_form.meanings(),
        **_studies(asked.form),
        **(_previewed(preview) if preview else {}),
    }
    return render(request, "web/table_import_tables.html", context, status=400 if errors else 200)


def _previewed(preview: Preview) -> dict[str, Any]:
    audit = [each for each in preview.problems if each.code.startswith("audit.")]
    return {
        "preview": preview,
        "outcomes": upload_page.list_outcomes(Counter(match.outcome for match in preview.matches)),
        "runs": [
            {
                "label": match.record.run_id,
                "trial": match.record.trial,
                "decision_name": match.decision_name,
                "outcome": match.outcome,
                "summary": summary_of(match.record),
                "figures": len(run.figures),
                "conflict": match.problems[0].message if match.problems else "",
            }
            for run, match in zip(preview.records.runs, preview.matches, strict=True)
        ],
        "figures": sum(len(run.figures) for run in preview.records.runs),
        "percents": len(preview.records.percents),
        "audit": audit,
        "others": [each for each in preview.problems if each not in audit and each.code != "run.conflict"],
        "decisions": upload_page.DECISIONS,
    }
