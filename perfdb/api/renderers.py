"""Answers: JSON by orjson, pages of lists, and caching by clients with weak ETags.

Numbers are unrounded, times in UTC, and not-a-number is null.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.results.models import Study
from perfdb.results.queries.keyset_paging import Page, parse_size


class JSONRenderer(BaseRenderer):
    """Renderer of plain data."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """Return an answer as bytes; an answer without content has no bytes."""
        if data is None:
            return b""
        return _written(data)


def large_answer(request: Request, data: Any, *made_of: Any) -> HttpResponse:
    """Return a large answer, and keep ``made_of`` alive until the answer is sent.

    Freeing tens of thousands of objects takes as long as writing the answer, so the client gets the answer first. The
    view is part of a cycle and would keep the objects until the next garbage collection.
    """
    return _Answer(request, _written(data), (data, made_of))


class _Answer(HttpResponse):
    def __init__(self, request: Request, content: bytes, kept: Any) -> None:
        super().__init__(content, JSONRenderer.media_type)
        self._view = request.parser_context["view"]
        self._kept = kept

    def close(self) -> None:
        """Close the answer, and release the kept objects and the view's response."""
        super().close()
        self._kept = self._view.response = None


def _written(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)


class AddressDecides(DefaultContentNegotiation):
    """Content negotiation without a choice: each address has one format, and none answers 406."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the view's only renderer."""
        only = next(iter(renderers))
        return only, str(only.media_type)


def created(body: dict[str, Any], status: int = 201) -> Response:
    """Return the answer to a request that made the object at ``url``."""
    return Response(body, status=status, headers={"Location": body["url"]})


def page_place(request: Request) -> tuple[str, int]:
    """Return cursor and size of the requested page. Raise QueryError."""
    return request.query_params.get("cursor", ""), parse_size(request.query_params.get("size", ""))


def page_body(request: Request, page: Page, row: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return ``{"results", "next", "previous"}`` of a page.

    ``row`` makes an item of ``results`` from a stored row; the links are null at the ends of the list.
    """
    return {
        "results": [row(found) for found in page.rows],
        "next": _address(request, page.next),
        "previous": _address(request, page.previous),
    }


def _address(request: Request, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    parameters = request.query_params.copy()
    parameters["cursor"] = cursor
    return request.build_absolute_uri(f"{request.path}?{parameters.urlencode()}")


def cache_answer(request: Request, slugs: Iterable[object], make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Return a 304 if the client has the answer over ``slugs``, else the answer that ``make`` returns.

    Without slugs, the answer is over all studies. Every change of a study's data raises its version in the same
    transaction, so equal versions are equal data.
    """
    studies = Study.objects.order_by("pk")
    wanted = [str(slug) for slug in slugs if slug]
    versions = (studies.filter(slug__in=wanted) if wanted else studies).values_list("pk", "version")
    state = [settings.VERSION, request.build_absolute_uri(), *versions]
    tag = f'W/"{hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()}"'
    same = get_conditional_response(request, etag=tag)
    if same:
        return same
    answer = make()
    answer["ETag"], answer["Cache-Control"] = tag, "private, no-cache"
    return answer
