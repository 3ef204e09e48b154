"""Endpoints of named queries and frozen links."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, parser_classes
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.exports import json, latex, markdown, text
from perfdb.analysis.render.exports.tidy import render_csv, render_parquet
from perfdb.analysis.tables.table import Table
from perfdb.api.errors import Conflict
from perfdb.api.permissions import signed_in
from perfdb.api.questions.serializers import (
    FrozenAnswerSerializer,
    FrozenLinkSerializer,
    NewSavedQuerySerializer,
    QuestionSerializer,
    SavedQueryChangeSerializer,
    SavedQueryListSerializer,
    SavedQuerySerializer,
)
from perfdb.api.schema import errors
from perfdb.api.tables.table_data import best_body, comparison_body
from perfdb.results.models import FrozenLink, SavedQuery
from perfdb.results.queries import frozen_links
from perfdb.results.queries import saved_queries as saved
from perfdb.results.queries.questions import Answer, Question
from perfdb.results.queries.saved_queries import NameTakenError

_FORMS: Mapping[str, tuple[Callable[[Query, Sequence[Table]], str | bytes], str]] = {
    "csv": (render_csv, "text/csv; charset=utf-8"),
    "md": (lambda _, tables: markdown.render(tables), "text/markdown; charset=utf-8"),
    "tex": (lambda _, tables: latex.render(tables), "application/x-tex; charset=utf-8"),
    "txt": (lambda _, tables: text.render(tables), "text/plain; charset=utf-8"),
    "parquet": (render_parquet, "application/vnd.apache.parquet"),
}


@extend_schema(
    methods=["GET"],
    operation_id="saved_queries",
    summary="Named queries",
    responses={200: SavedQueryListSerializer, **errors(401)},
)
@extend_schema(
    methods=["POST"],
    operation_id="saved_query_create",
    summary="Keep a question under a name",
    request=NewSavedQuerySerializer,
    responses={201: SavedQuerySerializer, **errors(400, 401, 409, 415)},
)
@api_view(["GET", "POST"])
@parser_classes([JSONParser])
def saved_queries(request: Request) -> Response:
    """List named queries by name, or save one.

    A named query is answered with the current data whenever it is opened. If you already have a query of that name,
    the answer is 409, unless `replace` is true.
    """
    if request.method == "GET":
        return Response({"results": [_saved(request, each) for each in saved.list_queries()]})
    asked = NewSavedQuerySerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    given = asked.validated_data
    question = Question.parse(given["page"], given["query"])
    try:
        kept = saved.save_query(signed_in(request), given["name"], question, replace=given["replace"])
    except NameTakenError as error:
        raise Conflict(f"{error}; send replace=true to put this one in its place") from None
    body = _saved(request, kept)
    return Response(body, status=201, headers={"Location": body["url"]})


@extend_schema(
    methods=["GET"],
    operation_id="saved_query",
    summary="One named query",
    responses={200: SavedQuerySerializer, **errors(401, 404)},
)
@extend_schema(
    methods=["PATCH"],
    operation_id="saved_query_change",
    summary="Rename a named query, or let it ask something else",
    request=SavedQueryChangeSerializer,
    responses={200: SavedQuerySerializer, **errors(400, 401, 403, 404, 409, 415)},
)
@extend_schema(
    methods=["DELETE"],
    operation_id="saved_query_delete",
    summary="Forget a named query",
    request=None,
    responses={204: None, **errors(401, 403, 404)},
)
@api_view(["GET", "PATCH", "DELETE"])
@parser_classes([JSONParser])
def saved_query(request: Request, pk: int) -> Response:
    """Return, change or delete a named query.

    Only the person who saved the query, and staff, may change or delete the query.
    """
    found = get_object_or_404(SavedQuery.objects.select_related("owner", "study"), pk=pk)
    if request.method == "GET":
        return Response(_saved(request, found))
    if not saved.may_change(signed_in(request), found):
        raise PermissionDenied(f"it was saved by {found.owner}; only they and staff may change it")
    if request.method == "DELETE":
        found.delete()
        return Response(status=204)
    asked = SavedQueryChangeSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    _change(found, asked.validated_data)
    return Response(_saved(request, found))


def _change(found: SavedQuery, given: Mapping[str, str]) -> None:
    if "page" in given or "query" in given:
        saved.overwrite_query(found, Question.parse(given.get("page", found.page), given.get("query", found.query)))
    if "name" in given:
        try:
            saved.rename_query(found, given["name"])
        except NameTakenError as error:
            raise Conflict(str(error)) from None


def _saved(request: Request, found: SavedQuery) -> dict[str, Any]:
    try:
        error = None
        saved.parse_question(found)
    except QueryError as refused:
        error = refused.message
    return {
        "id": found.pk,
        "name": found.name,
        "page": found.page,
        "query": found.query,
        "study": found.study.slug if found.study else None,
        "owner": found.owner.get_username(),
        "created": found.created,
        "changed": found.changed,
        "error": error,
        "url": reverse("api:saved-query", [found.pk], request=request),
        "address": request.build_absolute_uri(f"/saved/{found.pk}/"),
    }


@extend_schema(
    operation_id="freeze",
    summary="Pin the answer of now",
    request=QuestionSerializer,
    responses={201: FrozenLinkSerializer, **errors(400, 401, 415)},
)
@api_view(["POST"])
@parser_classes([JSONParser])
def freeze(request: Request) -> Response:
    """Freeze the answer to a question under a short address.

    The link keeps the present rows, so its answer stays the same when runs change.
    """
    asked = QuestionSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    question = Question.parse(asked.validated_data["page"], asked.validated_data["query"])
    body = _link(request, frozen_links.freeze_question(question, signed_in(request)))
    return Response(body, status=201, headers={"Location": body["url"]})


@extend_schema(
    operation_id="frozen",
    summary="A frozen link with its answer",
    responses={200: FrozenAnswerSerializer, **errors(400, 401, 404)},
)
@api_view(["GET"])
def frozen(request: Request, token: str) -> Response:
    """Return the answer of a frozen link, and the changes of the data since."""
    link = _found(token)
    with frozen_links.open_link(link) as (_, answer):
        body = _link(request, link) | _answer(answer)
    changes = frozen_links.find_changes(link)
    return Response(body | {"changes": asdict(changes) if changes else None})


@extend_schema(
    operation_id="frozen_tables",
    summary="The tables of a frozen link as CSV, Markdown, LaTeX, text or Parquet",
    responses={(200, "text/csv"): OpenApiTypes.STR, **errors(400, 401, 404)},
)
@api_view(["GET"])
def frozen_tables(request: Request, token: str, form: str) -> HttpResponseBase:
    """Return the tables of a frozen link in the format of the address's ending.

    The endings are `csv`, `md`, `tex`, `txt` and `parquet`. A link to a comparison has its pairs as tables.
    """
    if form not in _FORMS:
        raise Http404(f"no tables as {form}; there are {', '.join(_FORMS)}")
    render, media_type = _FORMS[form]
    with frozen_links.open_link(_found(token)) as (_, answer):
        response = HttpResponse(render(answer.query, answer.tables), media_type)
    if form == "parquet":
        response.headers["Content-Disposition"] = f'attachment; filename="perfdb-frozen-{token}.parquet"'
    return response


def _found(token: str) -> FrozenLink:
    return get_object_or_404(FrozenLink.objects.select_related("made_by"), token=token)


def _link(request: Request, link: FrozenLink) -> dict[str, Any]:
    return {
        "token": link.token,
        "page": link.page,
        "query": link.query,
        "created": link.created,
        "made_by": link.made_by.get_username() if link.made_by else None,
        "digest": link.digest,
        "url": reverse("api:frozen", [link.token], request=request),
        "address": request.build_absolute_uri(f"/f/{link.token}/"),
    }


def _answer(answer: Answer) -> dict[str, Any]:
    if answer.comparison is not None:
        return {"tables": None, "comparison": comparison_body(answer.comparison)}
    body = json.render(answer.query, answer.tables) | {"best": best_body(answer.query, answer.best)}
    return {"tables": body, "comparison": None}
