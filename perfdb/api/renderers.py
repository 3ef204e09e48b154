"""Answers as JSON by orjson: numbers unrounded, times in UTC, not-a-number as null."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


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


def large_answer(request: Request, data: Any, headers: Mapping[str, str], *made_of: Any) -> HttpResponse:
    """Return a large answer, and keep ``made_of`` alive until the answer is sent.

    Freeing tens of thousands of objects takes as long as writing the answer, so the client gets the answer first. The
    view is part of a cycle and would keep the objects until the next garbage collection.
    """
    return _Answer(request, _written(data), (data, made_of), headers)


class _Answer(HttpResponse):
    def __init__(self, request: Request, content: bytes, kept: Any, headers: Mapping[str, str]) -> None:
        super().__init__(content, JSONRenderer.media_type, headers=headers)
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
