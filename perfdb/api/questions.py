"""Endpoints of named queries and frozen links."""

from dataclasses import asdict
from typing import Any

from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.exports import json
from perfdb.api.errors import Conflict
from perfdb.api.permissions import signed_in
from perfdb.api.renderers import created
from perfdb.api.schema import describe
from perfdb.api.serializers import AddressField, rendered, validate
from perfdb.api.tables.serializers import ComparisonSerializer, TablesSerializer
from perfdb.api.tables.views import FORMS, best_body, comparison_body, file_answer
from perfdb.results.models import FrozenLink, Page, SavedQuery
from perfdb.results.queries import frozen_links
from perfdb.results.queries import saved_queries as saved
from perfdb.results.queries.questions import Answer, Question
from perfdb.results.queries.saved_queries import LONGEST_NAME, NameTakenError
from perfdb.results.runs import access


class QuestionSerializer(serializers.Serializer[Any]):
    """A question, as in the address of the page that answers the question."""

    page = serializers.ChoiceField(Page.choices)
    query = serializers.CharField(help_text="The query string of the page")


class QueryErrorField(serializers.CharField):
    """Field with the reason why a named query is not understood, or None."""

    def to_representation(self, value: Any) -> Any:
        """Return the message of the error."""
        try:
            Question.parse(value.page, value.query)
        except QueryError as error:
            return error.message
        return None


class NewSavedQuerySerializer(QuestionSerializer):
    """A question, and the name to save the question under."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    replace = serializers.BooleanField(default=False, help_text="Take the place of your own query of that name")


class SavedQueryChangeSerializer(serializers.Serializer[Any]):
    """Changes of a named query. Omitted fields stay.

    Send `page` and `query` together when the question changes.
    """

    name = serializers.CharField(max_length=LONGEST_NAME, required=False)
    page = serializers.ChoiceField(Page.choices, required=False)
    query = serializers.CharField(required=False)


class SavedQuerySerializer(QuestionSerializer):
    """A named query."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    study = serializers.CharField(
        source="study.slug", allow_null=True, help_text="The only study that it is about, if it is one"
    )
    owner = serializers.CharField(source="owner.username")
    created = serializers.DateTimeField(format=None)
    changed = serializers.DateTimeField(format=None)
    error = QueryErrorField(source="*", allow_null=True, help_text="Why it is not understood any more, if it is not")
    url = AddressField("api:saved-query", "pk")
    address = AddressField("web:saved-query", "pk", help_text="Opens it in a browser")


class SavedQueryListSerializer(serializers.Serializer[Any]):
    """All named queries."""

    results = SavedQuerySerializer(many=True)


class FrozenLinkSerializer(QuestionSerializer):
    """A frozen link.

    `digest` is the digest of the stored rows.
    """

    token = serializers.CharField()
    created = serializers.DateTimeField(format=None, help_text="The numbers are as of then")
    made_by = serializers.CharField(source="made_by.username", allow_null=True)
    digest = serializers.CharField()
    url = AddressField("api:frozen", "token")
    address = AddressField("web:frozen", "token", help_text="Opens it in a browser")


class ChangesSerializer(serializers.Serializer[Any]):
    """Changes of the data since the link was frozen, as ids of runs.

    If all three lists are empty, only notes, circumstances or earlier campaigns have changed.
    """

    added = serializers.ListField(child=serializers.IntegerField())
    gone = serializers.ListField(child=serializers.IntegerField())
    altered = serializers.ListField(child=serializers.IntegerField(), help_text="There, with other values")


class FrozenAnswerSerializer(FrozenLinkSerializer):
    """A frozen link with its answer.

    One of `tables` and `comparison` is present, the other is null.
    """

    changes = ChangesSerializer(allow_null=True, help_text="Null while today's answer rests on the same rows")
    tables = TablesSerializer(allow_null=True)
    comparison = ComparisonSerializer(allow_null=True)


@describe("saved_queries", "Named queries", SavedQueryListSerializer)
@describe(
    "saved_query_create",
    "Keep a question under a name",
    {201: SavedQuerySerializer},
    (409,),
    post=NewSavedQuerySerializer,
)
@api_view(["GET", "POST"])
def saved_queries(request: Request) -> Response:
    """List named queries by name, or save one.

    A named query is answered with the current data whenever it is opened. If you already have a query of that name,
    the answer is 409, unless `replace` is true.
    """
    if request.method == "GET":
        return Response({"results": rendered(SavedQuerySerializer, saved.list_queries(), request, many=True)})
    given = validate(NewSavedQuerySerializer, request.data)
    question = Question.parse(given["page"], given["query"])
    try:
        kept = saved.save_query(signed_in(request), given["name"], question, replace=given["replace"])
    except NameTakenError as error:
        raise Conflict(f"{error}; send replace=true to put this one in its place") from None
    return created(rendered(SavedQuerySerializer, kept, request))


@describe("saved_query", "One named query", SavedQuerySerializer, (404,))
@describe(
    "saved_query_change",
    "Rename a named query, or let it ask something else",
    SavedQuerySerializer,
    (403, 404, 409),
    patch=SavedQueryChangeSerializer,
)
@describe("saved_query_delete", "Forget a named query", {204: None}, (403, 404), method="DELETE")
@api_view(["GET", "PATCH", "DELETE"])
def saved_query(request: Request, pk: int) -> Response:
    """Return, change or delete a named query.

    Only the person who saved the query, and staff, may change or delete the query.
    """
    found = get_object_or_404(SavedQuery.objects.select_related("owner", "study"), pk=pk)
    if request.method == "GET":
        return Response(rendered(SavedQuerySerializer, found, request))
    if not access.may_change(signed_in(request), found):
        raise PermissionDenied(f"it was saved by {found.owner}; only they and staff may change it")
    if request.method == "DELETE":
        found.delete()
        return Response(status=204)
    given = validate(SavedQueryChangeSerializer, request.data)
    if "page" in given or "query" in given:
        saved.overwrite_query(found, Question.parse(given.get("page", found.page), given.get("query", found.query)))
    if "name" in given:
        saved.rename_query(found, given["name"])
    return Response(rendered(SavedQuerySerializer, found, request))


@describe("freeze", "Pin the answer of now", {201: FrozenLinkSerializer}, post=QuestionSerializer)
def freeze(request: Request) -> Response:
    """Freeze the answer to a question under a short address.

    The link keeps the present rows, so its answer stays the same when runs change.
    """
    given = validate(QuestionSerializer, request.data)
    question = Question.parse(given["page"], given["query"])
    return created(rendered(FrozenLinkSerializer, frozen_links.freeze_question(question, signed_in(request)), request))


@describe("frozen", "A frozen link with its answer", FrozenAnswerSerializer, (400, 404))
def frozen(request: Request, token: str) -> Response:
    """Return the answer of a frozen link, and the changes of the data since."""
    link = _found(token)
    with frozen_links.open_link(link) as (_, answer):
        body = rendered(FrozenLinkSerializer, link, request) | _answer(answer)
    changes = frozen_links.find_changes(link)
    return Response(body | {"changes": asdict(changes) if changes else None})


@describe(
    "frozen_tables", "The tables of a frozen link as CSV, Markdown, LaTeX, text or Parquet", "text/csv", (400, 404)
)
def frozen_tables(request: Request, token: str, form: str) -> HttpResponseBase:
    """Return the tables of a frozen link in the format of the address's ending.

    The endings are `csv`, `md`, `tex`, `txt` and `parquet`. A link to a comparison has its pairs as tables.
    """
    if form not in FORMS:
        raise Http404(f"no tables as {form}; there are {', '.join(FORMS)}")
    with frozen_links.open_link(_found(token)) as (_, answer):
        return file_answer(form, answer.query, answer.tables, f"perfdb-frozen-{token}")


def _found(token: str) -> FrozenLink:
    return get_object_or_404(FrozenLink.objects.select_related("made_by"), token=token)


def _answer(answer: Answer) -> dict[str, Any]:
    if answer.comparison is not None:
        return {"tables": None, "comparison": comparison_body(answer.comparison)}
    body = json.render(answer.query, answer.tables) | {"best": best_body(answer.query, answer.best)}
    return {"tables": body, "comparison": None}
