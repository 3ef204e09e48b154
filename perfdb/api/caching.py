"""Caching by clients: weak ETags from the versions of an answer's studies."""

import hashlib
from collections.abc import Callable, Iterable

from django.conf import settings
from django.http import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from perfdb.results.models import Study


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
