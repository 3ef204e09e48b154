"""Answers that a client may keep until data changes: weak ETags from the versions of the studies they rest on."""

import hashlib
from collections.abc import Iterable

from django.conf import settings
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from perfdb.results.models import Study


def etag(request: Request, slugs: Iterable[object] = ()) -> str:
    """Return the tag of this address as of now. ``slugs`` are the studies that the answer rests on, all by default.

    Every change of a study's data raises its version in the same transaction, so equal versions are equal data.
    """
    studies = Study.objects.order_by("pk")
    wanted = [str(slug) for slug in slugs if slug]
    versions = (studies.filter(slug__in=wanted) if wanted else studies).values_list("pk", "version")
    state = [settings.VERSION, request.build_absolute_uri(), *versions]
    return f'W/"{hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()}"'


def unchanged(request: Request, tag: str) -> HttpResponseBase | None:
    """A 304 when the client has this answer already, else None."""
    return get_conditional_response(request, etag=tag)


def headers(tag: str) -> dict[str, str]:
    """What lets a client keep an answer and ask whether it still holds."""
    return {"ETag": tag, "Cache-Control": "private, no-cache"}
