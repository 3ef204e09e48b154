"""Access to pages: decorators that require reading or signing in, and lookups of studies."""

from collections.abc import Callable
from typing import TypeVar

from django.contrib.auth.decorators import login_required, user_passes_test
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from perfdb.results.models import Study
from perfdb.results.runs import access

_View = TypeVar("_View", bound=Callable[..., HttpResponseBase])


def read_required(*methods: str) -> Callable[[_View], _View]:
    """Allow a view, by default for GET, to visitors who may read."""
    readers: Callable[[_View], _View] = user_passes_test(access.may_read)
    allowed: Callable[[_View], _View] = require_http_methods(list(methods) or ["GET"])
    return lambda view: allowed(readers(view))


def sign_in_required(*methods: str) -> Callable[[_View], _View]:
    """Allow a view, by default for POST, to people who are signed in."""
    allowed: Callable[[_View], _View] = require_http_methods(list(methods) or ["POST"])
    return lambda view: allowed(login_required(view))


def person_of(request: HttpRequest) -> User:
    """Return the signed-in person."""
    return access.signed_in_user(request.user)


def get_study(request: HttpRequest, slug: str) -> Study:
    """Return a study that the visitor can name; raise Http404 for others."""
    return get_object_or_404(access.visible_studies(request.user), slug=slug)


def get_own_study(request: HttpRequest, slug: str) -> Study:
    """Return a study that the person may change; raise PermissionDenied for others."""
    study = get_study(request, slug)
    if not access.may_change(request.user, study):
        raise PermissionDenied
    return study


def changeable_studies(request: HttpRequest) -> QuerySet[Study]:
    """Return the studies that the person may change, by title."""
    person = person_of(request)
    found = access.visible_studies(person).order_by("title")
    return found if person.is_staff else found.filter(owner=person)
