"""Answers as JSON, written by orjson: numbers unrounded, times in UTC, not-a-number as null."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.renderers import BaseRenderer


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


def answered(data: Any, headers: Mapping[str, str], *made_of: Any) -> HttpResponse:
    """A large answer, written at once; ``made_of``: what it was made of and nobody needs any more.

    A response of REST framework that keeps its data is part of a circle, and would hold tens of thousands of objects
    until Python looks for garbage. This one keeps them until it is sent: to let them go takes as long as to write them.
    """
    return _Answer(_written(data), (data, made_of), headers)


class _Answer(HttpResponse):
    def __init__(self, content: bytes, kept: Any, headers: Mapping[str, str]) -> None:
        super().__init__(content, JSONRenderer.media_type, headers=headers)
        self._kept = kept


def _written(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
