"""Answers of lists as pages, and caching of answers by clients with weak ETags."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.conf import settings
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Study
from perfdb.results.queries.keyset_paging import Page


def cache_answer(
    request: Request, slugs: Iterable[object], make: Callable[[dict[str, str]], HttpResponseBase]
) -> HttpResponseBase:
    """Return a 304 if the client has the answer over ``slugs``, else ``make(headers)``.

    Without slugs, the answer is over all studies. Every change of a study's data raises its version in the same
    transaction, so equal versions are equal data.
    """
    studies = Study.objects.order_by("pk")
    wanted = [str(slug) for slug in slugs if slug]
    versions = (studies.filter(slug__in=wanted) if wanted else studies).values_list("pk", "version")
    state = [settings.VERSION, request.build_absolute_uri(), *versions]
    tag = f'W/"{hashlib.blake2b(repr(state).encode(), digest_size=16).hexdigest()}"'
    same = get_conditional_response(request, etag=tag)
    return same or make({"ETag": tag, "Cache-Control": "private, no-cache"})


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


def known_only(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise QueryError for a parameter that is not in ``known``."""
    for name in given:
        if name not in known:
            raise QueryError(name, f"{name!r} is not a parameter", known)
