"""Endpoints of runs: list, one run, JSON records, tags, withdrawing, exports and notes."""

import re
import tempfile
from collections.abc import Callable, Sequence
from typing import IO, Any

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import QuerySet
from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.decorators import api_view, parser_classes
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from importers.model import Status
from importers.run_records import DIMENSIONS
from perfdb.analysis.query.parameters import QueryError
from perfdb.api.errors import Conflict
from perfdb.api.permissions import signed_in
from perfdb.api.renderers import cache_answer, created, page_body, page_place
from perfdb.api.runs.run_data import run_body, upload_reference
from perfdb.api.schema import RUN_PARAMETERS, describe, query_parameter
from perfdb.api.serializers import (
    NewNoteSerializer,
    RunNoteListSerializer,
    RunNoteSerializer,
    RunPageSerializer,
    RunSerializer,
    UploadReferenceSerializer,
    known_only,
    rendered,
    validate,
)
from perfdb.api.uploads.parsers import RecordLinesParser, RecordsParser
from perfdb.api.uploads.views import read_wait, study_called, wait_until_settled
from perfdb.results.changes import withdraw as withdrawing
from perfdb.results.changes.withdraw import MAX_REASON_LENGTH
from perfdb.results.ingest import uploads
from perfdb.results.ingest.json_runs import FILE, parse_records
from perfdb.results.models import Note, Problem, Run, Upload, UploadRun
from perfdb.results.queries.run_list import columns, export, filters
from perfdb.results.queries.run_list.columns import ListColumn, read_run_page
from perfdb.results.queries.run_list.filters import MOST_NUMBERED, choose_runs, filter_runs
from perfdb.results.runs import bulk_changes
from perfdb.results.runs import notes as written
from perfdb.results.runs import tags as tagging


class ChosenSerializer(serializers.Serializer[Any]):
    """The runs to change: give either `runs` or `query`."""

    runs = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        max_length=MOST_NUMBERED,
        help_text="Numbers of runs",
    )
    query = serializers.CharField(
        required=False, allow_blank=True, help_text="All runs that the list has with this query string"
    )


class TagsSerializer(ChosenSerializer):
    """The runs, and the tags to add and to remove."""

    add = serializers.ListField(child=serializers.CharField(), default=list)
    remove = serializers.ListField(child=serializers.CharField(), default=list)


class TaggedSerializer(serializers.Serializer[Any]):
    """The number of runs that gained each added tag and lost each removed tag."""

    added = serializers.DictField(child=serializers.IntegerField())
    removed = serializers.DictField(child=serializers.IntegerField())


class WithdrawSerializer(ChosenSerializer):
    """The runs to withdraw, and the reason."""

    reason = serializers.CharField(max_length=MAX_REASON_LENGTH)


class ChangedSerializer(serializers.Serializer[Any]):
    """The number of runs that changed.

    Runs that were already in the requested state do not count.
    """

    runs = serializers.IntegerField()


class RunRecordSerializer(serializers.Serializer[Any]):
    """A run as a JSON record.

    This schema only documents records: the importer checks them and names each wrong field.
    """

    run_id = serializers.CharField(max_length=200)
    trial = serializers.IntegerField(required=False, min_value=1, max_value=9999, help_text="1 unless said")
    started = serializers.DateTimeField(required=False, help_text="When it was received, unless said")
    status = serializers.CharField(required=False, help_text=f"{', '.join(Status)}; complete unless said")
    study = serializers.SlugField(required=False, help_text="The same in all records of a request")
    dimensions = serializers.DictField(
        child=serializers.CharField(), required=False, help_text=f"Texts or numbers: {', '.join(DIMENSIONS)}"
    )
    factors = serializers.DictField(child=serializers.CharField(), required=False, help_text="The study's own")
    facts = serializers.DictField(child=serializers.CharField(), required=False, help_text="Other circumstances")
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    metrics = serializers.DictField(
        child=serializers.FloatField(),
        help_text='By metric or metric@role: a number, or {"value": 1102, "unit": "us"} in another unit',
    )


class RecordedRunSerializer(serializers.Serializer[Any]):
    """The outcome of one record.

    `id` is the id of the run in perfdb, null if there is none.
    """

    id = serializers.IntegerField(help_text="Of the run", allow_null=True)
    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    outcome = serializers.ChoiceField(UploadRun.Outcome.choices)


class RecordedSerializer(serializers.Serializer[Any]):
    """The upload that keeps the records, and the outcome of each record in order."""

    upload = UploadReferenceSerializer()
    runs = RecordedRunSerializer(many=True)


_VOCABULARY = ("study", "system", "level", "workload", "device")


@describe("runs", "List runs", RunPageSerializer, (400,), parameters=RUN_PARAMETERS)
@describe(
    "run_records",
    "Bring results in as JSON",
    {200: RecordedSerializer, 201: RecordedSerializer, 202: UploadReferenceSerializer},
    (409, 413),
    post={"application/json": RunRecordSerializer(many=True), "application/x-ndjson": RunRecordSerializer},
    description="All of the records or none. `/api/v1/uploads/ID/` follows and undoes what they brought.",
    parameters=[
        query_parameter("study", "Slug, made when there is none of that slug; your inbox when this is left out"),
        query_parameter("wait", "Seconds to wait for the runs, at most 30; 10 unless said", int),
    ],
)
@api_view(["GET", "POST"])
@parser_classes([RecordsParser, RecordLinesParser])
def runs(request: Request) -> HttpResponseBase:
    """List runs, newest first, or store runs given as JSON records.

    The list leaves out withdrawn runs unless `status=withdrawn` asks for them.
    """
    if request.method == "POST":
        return create(request)
    asked = request.query_params
    found = filter_runs(asked)

    def make() -> Response:
        page = read_run_page(found, asked.get("sort", ""), *page_place(request))
        return Response(page_body(request, page, lambda row: _row(request, row)))

    return cache_answer(request, (), make)


def _row(request: Request, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the list: dimensions, tags, and the run's main metrics."""
    about = {name: value for name, value in row.items() if name not in Run.HOT}
    values = {name: row[name] for name in Run.HOT if row[name] is not None}
    return about | {
        "tags": row["tags"] or [],
        "values": values,
        "url": reverse("api:run", [row["id"]], request=request),
    }


@describe("run", "One run", RunSerializer, (404,))
def run(request: Request, pk: int) -> Response:
    """Return one run with all its data.

    The answer has the dimensions, measurements with their origins, counters, problems, files, tags and notes.
    """
    related = Run.objects.select_related(*_VOCABULARY, *(f"experiment__{name}" for name in _VOCABULARY))
    return Response(run_body(request, get_object_or_404(related, pk=pk)))


_USUAL_WAIT = "10"
_SLUG = re.compile(r"[-\w]{1,80}", re.ASCII)


def create(request: Request) -> Response:
    """Store JSON records: 201 with new runs, 200 without, 202 if importing; or Conflict."""
    known_only(request.query_params, ("study", "wait"))
    wait = read_wait(request.query_params.get("wait", _USUAL_WAIT))
    user = signed_in(request)
    # Of an empty request the framework makes a form without fields.
    sent = request.data if isinstance(request.data, bytes) else b""
    records = parse_records(sent)
    slug = _slug(request.query_params.get("study", "") or records.study)
    with transaction.atomic():
        study = study_called(user, slug, create=True)
        upload = uploads.receive(user, [(FILE, ContentFile(records.content))], study=study)
    # Free the memory while waiting for the worker.
    del records
    wait_until_settled(upload.pk, wait)
    upload.refresh_from_db(fields=["state"])
    body = upload_reference(request, upload)
    if upload.state == Upload.State.DONE:
        rows = upload.runs.order_by("number").values_list("run_id", "run_label", "trial", "outcome")
        runs = [dict(zip(("id", "run_id", "trial", "outcome"), row, strict=True)) for row in rows]
        status = 201 if any(run["outcome"] == UploadRun.Outcome.NEW for run in runs) else 200
        return Response({"upload": body, "runs": runs}, status=status)
    if upload.state in Upload.SETTLED:
        raise Conflict(_said(upload, body["url"]))
    return created(body, 202)


def _slug(text: str) -> str:
    if text and not _SLUG.fullmatch(text):
        raise QueryError("study", f"{text[:80]!r} is no slug: letters, digits, hyphens and underscores, 80 at most")
    return text


def _said(upload: Upload, url: str) -> str:
    """Return a sentence with the reason why nothing was stored."""
    first = upload.problems.filter(severity=Problem.Severity.ERROR).order_by("pk").first()
    why = f": {first.message} {first.remedy}" if first else "."
    decide = " Decide with its preview." if upload.state == Upload.State.PREVIEW else ""
    return f"nothing was stored of upload {upload.pk}{why}{decide} It is at {url}"


def _given(kind: type[serializers.Serializer[Any]], request: Request) -> tuple[QuerySet[Run], dict[str, Any]]:
    """Return the chosen runs and the checked body. Raise QueryError without one choice."""
    given = validate(kind, request.data)
    if ("runs" in given) == ("query" in given):
        raise QueryError("runs", "name the runs either by their numbers or by a query string", ["runs", "query"])
    return filters.choose_runs([str(number) for number in given.get("runs", ())], given.get("query")), given


@describe("runs_tag", "Put tags on runs and take them off", TaggedSerializer, (403,), post=TagsSerializer)
def tags(request: Request) -> Response:
    """Add tags to runs and remove tags from runs.

    All changes are made or none. A repeated request changes nothing.
    """
    runs, given = _given(TagsSerializer, request)
    user = signed_in(request)
    # By their numbers: a query may ask for the very tag that is changed. One too many is refused.
    fixed = Run.objects.filter(pk__in=list(runs.values_list("pk", flat=True)[: bulk_changes.MOST_CHANGED + 1]))
    with transaction.atomic():
        added = {tagging.parse_tag(name): tagging.add_tag(user, fixed, name) for name in given["add"]}
        removed = {tagging.parse_tag(name): tagging.remove_tag(user, fixed, name) for name in given["remove"]}
    return Response({"added": added, "removed": removed})


@describe("runs_withdraw", "Withdraw runs", ChangedSerializer, (403,), post=WithdrawSerializer)
def withdraw(request: Request) -> Response:
    """Withdraw runs from all tables, with a reason.

    The files of the runs stay, and the runs can be restored.
    """
    runs, given = _given(WithdrawSerializer, request)
    return Response({"runs": withdrawing.withdraw_runs(signed_in(request), runs, given["reason"])})


@describe("runs_restore", "Restore withdrawn runs", ChangedSerializer, (403,), post=ChosenSerializer)
def restore(request: Request) -> Response:
    """Restore runs that a person withdrew.

    A `query` finds such runs only if it has `status=withdrawn`.
    """
    runs, _ = _given(ChosenSerializer, request)
    return Response({"runs": withdrawing.restore_runs(signed_in(request), runs)})


_BESIDE = ("cursor", "size", "sort")
_PARAMETERS = [
    *(each for each in RUN_PARAMETERS if each.name not in _BESIDE),
    query_parameter(
        "columns", "Dimensions, `factor.NAME`, `METRIC@ROLE`, separated by commas; the usual ones unless said"
    ),
]
_Write = Callable[[QuerySet[Run], Sequence[ListColumn], IO[bytes]], object]


def _asked(request: Request) -> tuple[QuerySet[Run], Sequence[ListColumn]]:
    query = request.query_params
    return choose_runs([], query.urlencode()), columns.parse_columns(query.getlist("columns"))


def _written(request: Request, write: _Write, name: str) -> HttpResponseBase:
    runs, shown = _asked(request)
    # The response closes it.
    out = tempfile.TemporaryFile()  # noqa: SIM115
    write(runs, shown, out)
    out.seek(0)
    return FileResponse(out, as_attachment=True, filename=name)


@describe("runs_csv", "The list of runs as CSV", "text/csv", (400,), parameters=_PARAMETERS)
def runs_csv(request: Request) -> HttpResponseBase:
    """Return all runs that the filters leave as CSV, with the chosen columns."""
    return StreamingHttpResponse(export.render_csv(*_asked(request)), "text/csv; charset=utf-8")


@describe("runs_json", "The list of runs as one JSON document", "application/json", (400,), parameters=_PARAMETERS)
def runs_json(request: Request) -> HttpResponseBase:
    """Return all runs that the filters leave as a JSON list.

    Each run is a flat object on a line of its own, with the chosen columns.
    """
    return StreamingHttpResponse(export.render_json(*_asked(request)), "application/json")


@describe(
    "runs_parquet", "The list of runs as Parquet", "application/vnd.apache.parquet", (400,), parameters=_PARAMETERS
)
def runs_parquet(request: Request) -> HttpResponseBase:
    """Return all runs that the filters leave as Parquet.

    The chosen columns have types, for use in data frames.
    """
    return _written(request, export.write_parquet, "runs.parquet")


@describe("runs_zip", "The logs of runs", "application/zip", (400,), parameters=_PARAMETERS)
def runs_zip(request: Request) -> HttpResponseBase:
    """Return the files of all runs that the filters leave, as a zip.

    The files are as received, in a folder for each upload.
    """
    return _written(request, lambda runs, _, out: export.write_logs_zip(runs, out), "runs.zip")


@describe("notes", "The notes on a run", RunNoteListSerializer, (404,))
@describe("note_create", "Write a note on a run", {201: RunNoteSerializer}, (404,), post=NewNoteSerializer)
@api_view(["GET", "POST"])
def notes(request: Request, pk: int) -> Response:
    """List the notes on a run, oldest first, or add one.

    Every signed-in user may add a note.
    """
    run = get_object_or_404(Run.objects.select_related("study"), pk=pk)
    if request.method == "POST":
        note = written.add_note(signed_in(request), run, _text(request))
        return created(rendered(RunNoteSerializer, note, request))
    return Response({"results": rendered(RunNoteSerializer, run.notes.select_related("author"), request, many=True)})


@describe("note", "One note", RunNoteSerializer, (404,))
@describe("note_edit", "Put another text in a note's place", RunNoteSerializer, (403, 404), put=NewNoteSerializer)
@describe("note_remove", "Remove a note", {204: None}, (403, 404), method="DELETE")
@api_view(["GET", "PUT", "DELETE"])
def note(request: Request, pk: int) -> Response:
    """Return, change or remove a note.

    Its author, the owner of the study and staff may change or remove a note. The history keeps the text.
    """
    found = get_object_or_404(Note.objects.select_related("author", "run__study"), pk=pk)
    if request.method == "GET":
        return Response(rendered(RunNoteSerializer, found, request))
    user = signed_in(request)
    if not written.may_edit(user, found):
        raise PermissionDenied("the note is somebody else's; its author, the study's owner and staff may change it")
    if request.method == "DELETE":
        written.remove_note(user, found)
        return Response(status=204)
    written.edit_note(user, found, _text(request))
    found.refresh_from_db(fields=["text", "edited"])
    return Response(rendered(RunNoteSerializer, found, request))


def _text(request: Request) -> str:
    return str(validate(NewNoteSerializer, request.data)["text"])
