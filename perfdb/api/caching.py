"""Caching by clients: weak ETags from the versions of an answer's studies."""

import hashlib
from collections.abc import Iterable

from django.conf import settings
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from perfdb.results.models import Study


def etag(request: Request, slugs: Iterable[object] = ()) -> str:
    """Return the present ETag of an answer that rests on the studies ``slugs``.

    Without ``slugs``, the answer rests on all studies. Every change of a study's data raises its version in the same
    transaction, so equal versions are equal data.
    """
    studies = Study.objects.order_by("pk")
    wanted = [str(slug) for slug in slugs if slug]
    versions = (studies.filter(slug__in=wanted) if wanted else studies).values_list("pk", "version")
    state = [settings.VERSION, request.build_absolute_uri(), *versions]
    return f'W/"{hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()}"'


def unchanged(request: Request, tag: str) -> HttpResponseBase | None:
    """Return a 304 if the client has this answer already, else None."""
    return get_conditional_response(request, etag=tag)


def headers(tag: str) -> dict[str, str]:
    """Return the headers that let a client keep and revalidate an answer."""
    return {"ETag": tag, "Cache-Control": "private, no-cache"}
