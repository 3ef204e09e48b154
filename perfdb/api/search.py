"""Endpoint of the search over all names."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.api.schema import describe, query_parameter
from perfdb.results.queries.name_search import LONGEST, Hit, Kind, search_names

SEARCH_PARAMETERS = [
    query_parameter("q", "Words, all of which must occur", required=True),
    query_parameter("size", "Most of each kind, 1 to 50; 10 unless said", int),
]


class HitSerializer(serializers.Serializer[Any]):
    """A search result: an object whose name or text has the words."""

    kind = serializers.ChoiceField([kind.value for kind in Kind])
    name = serializers.CharField(help_text="A title, a name, a run id, a path, or the text of a note")
    text = serializers.CharField(help_text="What else was looked through, such as a study's purpose; may be empty")
    url = serializers.URLField(help_text="The resource, or the list of the runs that have it")


class SearchSerializer(serializers.Serializer[Any]):
    """Search results, the best of each kind first."""

    near = serializers.BooleanField(help_text="Whether nothing has all the words, and these are like them")
    results = HitSerializer(many=True)


_MOST, _USUAL = 50, 10


@describe("search", "Search", SearchSerializer, (400,), parameters=SEARCH_PARAMETERS)
def find(request: Request) -> Response:
    """Return studies, runs and other named objects that have all words of `q`.

    If nothing has all words, the answer has similar names and `near` is true.
    """
    found = search_names(_text(request), _size(request))
    hits = [
        {"kind": hit.kind.value, "name": hit.name, "text": hit.text, "url": _ADDRESSES[hit.kind](request, hit)}
        for of_kind in found.hits.values()
        for hit in of_kind
    ]
    return Response({"near": found.near, "results": hits})


def _text(request: Request) -> str:
    text = str(request.query_params.get("q", "")).strip()
    if not text:
        raise QueryError("q", "q says what to search for")
    if len(text) > LONGEST:
        raise QueryError("q", f"q has {len(text)} letters; at most {LONGEST} are searched for")
    return text


def _size(request: Request) -> int:
    text = request.query_params.get("size", "") or str(_USUAL)
    if not (text.isdecimal() and text.isascii() and 1 <= int(text) <= _MOST):
        raise QueryError("size", f"size={text} is not a whole number from 1 to {_MOST}")
    return int(text)


def _list(request: Request, **chosen: str) -> str:
    return f"{reverse('api:runs', request=request)}?{urlencode(chosen)}"


def _of_runs(request: Request, hit: Hit) -> str:
    if hit.about["several"]:
        return _list(request, run_id=hit.name)
    return reverse("api:run", [hit.about["pk"]], request=request)


def _of_query(request: Request, hit: Hit) -> str:
    page = "api:comparisons" if hit.about["page"] == "compare" else "api:tables"
    return f"{reverse(page, request=request)}?{hit.about['query']}"


_ADDRESSES: dict[Kind, Callable[[Request, Hit], str]] = {
    **dict.fromkeys(
        (Kind.DEVICE, Kind.WORKLOAD, Kind.SYSTEM, Kind.LEVEL, Kind.TAG),
        lambda request, hit: _list(request, **{hit.kind.value: hit.name}),
    ),
    Kind.STUDY: lambda request, hit: reverse("api:study", [hit.about["slug"]], request=request),
    Kind.RUN: _of_runs,
    Kind.QUERY: _of_query,
    Kind.REPORT: lambda request, hit: reverse("api:report", [hit.about["study__slug"]], request=request),
    Kind.NOTE: lambda request, hit: reverse("api:run", [hit.about["run_id"]], request=request),
    Kind.FILE: lambda request, hit: reverse("api:artifact", [hit.about["artifact_id"]], request=request),
}
