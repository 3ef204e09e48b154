"""Answers as JSON, written by orjson: numbers unrounded, times in UTC, not-a-number as null."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JSONRenderer(BaseRenderer):
    """Plain data to bytes."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """Render an answer; no content stays empty."""
        if data is None:
            return b""
        return _written(data)


def answered(request: Request, data: Any, headers: Mapping[str, str], *made_of: Any) -> HttpResponse:
    """A large answer, written at once; ``made_of``: what it was made of and nobody needs any more.

    Tens of thousands of objects are kept until it is sent, for to let them go takes as long as to write them, and no
    longer: what is part of a circle would stay until Python looks for garbage, which then takes as long as the answer.
    """
    return _Answer(request, _written(data), (data, made_of), headers)


class _Answer(HttpResponse):
    def __init__(self, request: Request, content: bytes, kept: Any, headers: Mapping[str, str]) -> None:
        super().__init__(content, JSONRenderer.media_type, headers=headers)
        self._view = request.parser_context["view"]
        self._kept = kept

    def close(self) -> None:
        """It is sent, and the view lets go of it: views are in circles with themselves and with their requests."""
        super().close()
        self._kept = self._view.response = None


def _written(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
