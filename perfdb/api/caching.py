"""Answers that a client may keep until data changes: weak ETags from the versions of the studies they rest on."""

import hashlib
from collections.abc import Iterable

from django.conf import settings
from django.db import connection
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from perfdb.results.naming import places

_VERSIONS = "SELECT id, version FROM study"


def etag(request: Request, slugs: Iterable[object] = ()) -> str:
    """The tag of this address as of now. ``slugs``: the studies the answer rests on; none means all.

    Every change of a study's data raises its version in the same transaction, so equal versions are equal data.
    """
    wanted = [str(slug) for slug in slugs if slug]
    # By hand: asked before every answer, and Django would take longer to say it than PostgreSQL to answer.
    with connection.cursor() as cursor:
        which = f" WHERE slug IN ({places(wanted)})" if wanted else ""
        cursor.execute(f"{_VERSIONS}{which} ORDER BY id", wanted)
        state = [settings.VERSION, request.build_absolute_uri(), *cursor.fetchall()]
    return f'W/"{hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()}"'


def unchanged(request: Request, tag: str) -> HttpResponseBase | None:
    """A 304 when the client has this answer already, else None."""
    return get_conditional_response(request, etag=tag)


def headers(tag: str) -> dict[str, str]:
    """What lets a client keep an answer and ask whether it still holds."""
    return {"ETag": tag, "Cache-Control": "private, no-cache"}
