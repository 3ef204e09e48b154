"""Answers that a client may keep until data changes: weak ETags from the versions of the studies they rest on."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from django.conf import settings
from django.db import connection
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from perfdb.results.runs.vocabulary import places

# What ``get_conditional_response`` goes by.
_CONDITIONS = frozenset({"HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE"})
_VERSIONS = "SELECT id, version FROM study"


def etag(request: Request, slugs: Iterable[object] = (), versions: Mapping[int, int] | None = None) -> str:
    """The tag of this address as of now. ``slugs``: the studies the answer rests on; none means all.

    ``versions``: theirs by number, where they are known. Every change of a study's data raises its version in the same
    transaction, so equal versions are equal data.
    """
    wanted = [str(slug) for slug in slugs if slug]
    known = _read(wanted) if versions is None or not wanted else sorted(versions.items())
    state = [settings.VERSION, request.build_absolute_uri(), *known]
    return f'W/"{hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()}"'


def _read(slugs: Sequence[str]) -> list[tuple[int, int]]:
    """Number and version of each of these studies, or of all."""
    # By hand: asked before every answer, and Django would take longer to say it than PostgreSQL to answer.
    with connection.cursor() as cursor:
        which = f" WHERE slug IN ({places(slugs)})" if slugs else ""
        cursor.execute(f"{_VERSIONS}{which} ORDER BY id", slugs)
        found: list[tuple[int, int]] = cursor.fetchall()
        return found


def unchanged(request: Request, tag: str) -> HttpResponseBase | None:
    """A 304 when the client has this answer already, else None."""
    return get_conditional_response(request, etag=tag)


def is_conditional(request: Request) -> bool:
    """Whether the client wants an answer only if it has not got it already."""
    return not request.META.keys().isdisjoint(_CONDITIONS)


def headers(tag: str) -> dict[str, str]:
    """What lets a client keep an answer and ask whether it still holds."""
    return {"ETag": tag, "Cache-Control": "private, no-cache"}
