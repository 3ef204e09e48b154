"""Endpoints of studies: reading, editing, publishing, moving runs, and the bundle."""

from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.http import HttpResponseBase, StreamingHttpResponse
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.api.errors import Conflict
from perfdb.api.permissions import get_own_study, get_study, signed_in
from perfdb.api.renderers import created
from perfdb.api.schema import describe
from perfdb.api.serializers import validate
from perfdb.results.bundles import make_bundle
from perfdb.results.changes import move_runs, reparse
from perfdb.results.changes.reparse import Scope
from perfdb.results.models import Job, Study
from perfdb.results.runs import access
from perfdb.results.studies import run_id_patterns, study_details
from perfdb.results.studies.run_id_patterns import DecodedRunId


class StudySerializer(serializers.Serializer[Any]):
    """A study in the list.

    `url`, `aliases` and `runs` are the addresses of the study, of its aliases and of its runs.
    """

    slug = serializers.CharField()
    title = serializers.CharField()
    purpose = serializers.CharField(allow_blank=True)
    owner = serializers.CharField(allow_null=True)
    url = serializers.URLField()
    aliases = serializers.URLField()
    runs = serializers.URLField()


class StudyListSerializer(serializers.Serializer[Any]):
    """All studies that you can see, by title."""

    results = StudySerializer(many=True)


class StudyNoteSerializer(serializers.Serializer[Any]):
    """A remark on a study's data, and the tables concerned."""

    tables = serializers.ListField(child=serializers.CharField(), default=list, help_text="The tables it is about")
    text = serializers.CharField()


class StudyChangeSerializer(serializers.Serializer[Any]):
    """Changes of a study. Omitted fields stay."""

    title = serializers.CharField(max_length=200, required=False)
    purpose = serializers.CharField(allow_blank=True, required=False, trim_whitespace=False)
    method = serializers.CharField(allow_blank=True, required=False, trim_whitespace=False)
    source = serializers.CharField(allow_blank=True, required=False)  # type: ignore[assignment] # a field's own name
    notes = StudyNoteSerializer(many=True, required=False)
    run_id_pattern = serializers.CharField(
        allow_blank=True,
        required=False,
        help_text="A template such as `NM{device:2}{users:2}`, or a regular expression with a named group a dimension",
    )
    run_id_values = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField()),
        required=False,
        help_text="By group of the pattern: code and the value it means",
    )
    trend_order = serializers.CharField(
        required=False,
        help_text="What orders the points of trends: `date`, `campaign`, `level`, `kernel`, `commit`, or `factor.NAME`",
    )
    plan = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Parts: lists of values by dimension, beside `name` and `trials`",
    )
    state = serializers.CharField(
        required=False, help_text="The `state` that was read: 409 where somebody has changed the study since"
    )


class NewStudySerializer(StudyChangeSerializer):
    """A new study.

    Without `slug`, perfdb makes the slug from the title.
    """

    title = serializers.CharField(max_length=200)
    slug = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)


class WholeStudySerializer(StudyChangeSerializer):
    """A study with all its texts.

    `shared` is the published address of the report. It is null if there is none, and for users who may not change the
    study.
    """

    slug = serializers.CharField()
    owner = serializers.CharField(allow_null=True)
    shared = serializers.CharField(allow_null=True)
    url = serializers.URLField()
    aliases = serializers.URLField()
    runs = serializers.URLField()
    items = serializers.URLField()


class SharedSerializer(serializers.Serializer[Any]):
    """The address at which everybody can read the report."""

    shared = serializers.URLField(help_text="The published address")


class TriedSerializer(serializers.Serializer[Any]):
    """The dimensions that a pattern reads from a run ID.

    `says` is null if the pattern does not match.
    """

    run_id = serializers.CharField()
    says = serializers.DictField(child=serializers.CharField(), allow_null=True)
    stored = serializers.DictField(child=serializers.CharField(), help_text="What stored runs have otherwise")
    runs = serializers.IntegerField(help_text="Stored runs of this id")


class TryPatternSerializer(serializers.Serializer[Any]):
    """A pattern, and run IDs to try it on.

    Without `run_ids`, the run IDs of the study are used.
    """

    run_id_pattern = serializers.CharField()
    run_id_values = serializers.DictField(child=serializers.DictField(child=serializers.CharField()), default=dict)
    run_ids = serializers.ListField(child=serializers.CharField(), default=list, max_length=50)


class PatternTriedSerializer(serializers.Serializer[Any]):
    """The regular expression of a pattern, and its result for each run ID."""

    regex = serializers.CharField()
    results = TriedSerializer(many=True)


class MoveSerializer(serializers.Serializer[Any]):
    """The runs to move, and the study to move the runs to."""

    to = serializers.CharField(help_text="Slug of the other study")
    runs = serializers.CharField(
        default="", allow_blank=True, help_text="Parameters of the list of runs, such as `upload=12`; blank for all"
    )
    preview = serializers.BooleanField(default=False, help_text="Count them, and move none")


class LeftSerializer(serializers.Serializer[Any]):
    """A run that was left unchanged, and the reason."""

    run = serializers.IntegerField()
    run_id = serializers.CharField()
    why = serializers.CharField()


class WorkSerializer(serializers.Serializer[Any]):
    """The progress of a job that changes runs.

    `state` is null if no such job was ever requested.
    """

    state = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField(help_text="How many were looked at, or would be")
    changed = serializers.IntegerField()
    left = LeftSerializer(many=True)
    url = serializers.URLField()


@describe("studies", "List studies", StudyListSerializer)
@describe("study_create", "Make a study", {201: WholeStudySerializer}, post=NewStudySerializer)
@api_view(["GET", "POST"])
def studies(request: Request) -> Response:
    """List all studies by title, or create a study."""
    if request.method == "GET":
        found = access.visible_studies(request.user).order_by("title", "id")
        return Response({"results": [_study_body(request, study) for study in found]})
    given = validate(NewStudySerializer, request.data)
    with transaction.atomic():
        study = study_details.create_study(signed_in(request), given.pop("title"), given.pop("slug"))
        _change(study, given)
    return created(_whole_body(request, study))


@describe("study", "One study", WholeStudySerializer, (404,))
@describe(
    "study_change",
    "Change what a study says about itself",
    WholeStudySerializer,
    (403, 404, 409),
    patch=StudyChangeSerializer,
)
@describe("study_delete", "Delete an empty study", {204: None}, (403, 404, 409), method="DELETE")
@api_view(["GET", "PATCH", "DELETE"])
def study(request: Request, slug: str) -> Response:
    """Return, change or delete one study.

    The study's owner and staff may change or delete a study; only an empty study can be deleted.
    """
    if request.method == "GET":
        return Response(_whole_body(request, get_study(request, slug)))
    found = get_own_study(request, slug)
    if request.method == "PATCH":
        _change(found, validate(StudyChangeSerializer, request.data))
        return Response(_whole_body(request, found))
    try:
        study_details.delete_study(found)
    except QueryError as error:
        raise Conflict(error.message) from None
    return Response(status=204)


def _study_body(request: Request, study: Study) -> dict[str, Any]:
    return {
        "slug": study.slug,
        "title": study.title,
        "purpose": study.purpose,
        "owner": study.owner.get_username() if study.owner else None,
        "url": reverse("api:study", [study.slug], request=request),
        "aliases": reverse("api:aliases", [study.slug], request=request),
        "runs": f"{reverse('api:runs', request=request)}?{urlencode({'study': study.slug})}",
    }


def _whole_body(request: Request, study: Study) -> dict[str, Any]:
    """Return a study with all its texts; the published address only for editors."""
    shown = study.share_token and access.may_change(request.user, study)
    said = ("method", "source", "notes", "run_id_pattern", "run_id_values", "plan", "trend_order")
    return {
        **_study_body(request, study),
        **{name: getattr(study, name) for name in said},
        "state": study_details.details_digest(study),
        "items": reverse("api:report-items", [study.slug], request=request),
        "shared": _shared(request, study) if shown else None,
    }


def _shared(request: Request, study: Study) -> str:
    return request.build_absolute_uri(f"/shared/{study.share_token}/")


def _change(study: Study, given: dict[str, Any]) -> None:
    """Change a study as requested. Raise QueryError, or ChangedMeanwhileError if ``state`` is old."""
    columns = {name: value for name, value in given.items() if name not in ("state", "slug")}
    if {"run_id_pattern", "run_id_values"} & columns.keys():
        regex = columns.get("run_id_pattern", study.run_id_pattern)
        values = columns.get("run_id_values", study.run_id_values)
        columns |= study_details.pattern_columns(run_id_patterns.parse_pattern(regex, values if regex.strip() else {}))
    study_details.change_details(study, columns, given.get("state", ""))


@describe(
    "study_share", "Publish a study's report at a new read-only address", SharedSerializer, (403, 404), method="POST"
)
@describe("study_unshare", "Withdraw the published address of a report", {204: None}, (403, 404), method="DELETE")
@api_view(["POST", "DELETE"])
def share(request: Request, slug: str) -> Response:
    """Publish the report at a new address, or withdraw the published address.

    Everybody with the address can read the report and nothing else. A new address replaces any earlier one.
    """
    study = get_own_study(request, slug)
    if request.method == "DELETE":
        study_details.unpublish_study(study)
        return Response(status=204)
    study_details.publish_study(study)
    return Response({"shared": _shared(request, study)})


@describe(
    "study_try_pattern", "What run ids say by a pattern", PatternTriedSerializer, (404,), post=TryPatternSerializer
)
def try_pattern(request: Request, slug: str) -> Response:
    """Try a pattern on run IDs without storing the pattern.

    `stored` has the dimensions in which the stored runs of an ID differ from the pattern.
    """
    study = get_study(request, slug)
    given = validate(TryPatternSerializer, request.data)
    pattern = run_id_patterns.parse_pattern(given["run_id_pattern"], given["run_id_values"])
    tried = run_id_patterns.decode_run_ids(study, pattern, given["run_ids"] or study_details.example_run_ids(study))
    return Response({"regex": pattern.regex if pattern else "", "results": list(map(_tried, tried))})


def _tried(each: DecodedRunId) -> dict[str, Any]:
    says = None if each.says is None else {said.name: said.value for said in each.says}
    stored = {said.name: said.stored for said in each.says or () if said.stored}
    return {"run_id": each.run_id, "says": says, "stored": stored, "runs": each.runs}


@describe("study_applied", "How far reading a study's runs again is", WorkSerializer, (404,))
@describe(
    "study_apply",
    "Read a study's runs again by its pattern of now",
    {202: WorkSerializer},
    (403, 404, 409),
    method="POST",
)
@api_view(["GET", "POST"])
def apply(request: Request, slug: str) -> Response:
    """Read the runs of a study again by its pattern, or return the progress.

    The runs are read from their files. They keep their ids, and the tags and notes of people.
    """
    url = reverse("api:study-apply", [slug], request=request)
    if request.method == "GET":
        about = {"study": get_study(request, slug).pk}
        job = Job.objects.filter(kind=reparse.KIND, about__contains=about).order_by("-pk").first()
        return Response(_work(job, url))
    study = get_own_study(request, slug)
    job = reparse.enqueue_reparse(Scope(study=study.pk, every=True), signed_in(request))
    if job is None:
        raise Conflict("runs are being read again already; ask once that is done")
    return Response(_work(job, url), status=202)


_MOVES = {200: WorkSerializer, 202: WorkSerializer}


@describe("study_moved", "How far moving runs out of a study is", WorkSerializer, (404,))
@describe("study_move", "Move runs of a study to another", _MOVES, (403, 404), post=MoveSerializer)
@api_view(["GET", "POST"])
def move(request: Request, slug: str) -> Response:
    """Move runs to another study, or return the progress of the last move.

    The runs are rebuilt by the pattern and the aliases of the other study. You must be allowed to change both studies.
    """
    url = reverse("api:study-move", [slug], request=request)
    if request.method == "GET":
        job = Job.objects.filter(kind=move_runs.KIND, study=get_study(request, slug)).order_by("-pk").first()
        return Response(_work(job, url))
    study = get_own_study(request, slug)
    given = validate(MoveSerializer, request.data)
    if given["preview"]:
        return Response(_work(None, url) | {"runs": move_runs.select_runs(study, given["runs"]).count()})
    job = move_runs.enqueue_move(study, get_own_study(request, given["to"]), given["runs"], signed_in(request))
    return Response(_work(job, url), status=202)


def _work(job: Job | None, url: str) -> dict[str, Any]:
    done = job.outcome if job else {}
    left = [{"run": run, "run_id": run_id, "why": why} for run, run_id, why in done.get("left", [])]
    counts = {"runs": done.get("runs", 0), "changed": done.get("changed", 0)}
    return {"state": job.state if job else None, **counts, "left": left, "url": url}


@describe("study_bundle", "A study as one zip: its page, logs and values", "application/zip", (400, 404))
def study_bundle(request: Request, slug: str) -> HttpResponseBase:
    """Return a study as a zip that can be read offline.

    The zip has a page that opens without a server, the logs as received, `runs.csv`, and `perfdb-bundle.json`.
    """
    study = get_study(request, slug)
    found, server = make_bundle.bundle_study(study), request.build_absolute_uri("/")
    content = make_bundle.write_bundle(found, make_bundle.PAGES["study"](study, server), server)
    headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
    return StreamingHttpResponse(content, "application/zip", headers=headers)
