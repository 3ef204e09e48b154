"""Permissions and tokens: PUBLIC_READ opens reading; writing needs a user or token."""

from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from perfdb.results.models import Study
from perfdb.results.runs import access


class ReadMayBePublic(BasePermission):
    """Permission to read by `access.may_read`, and to write for signed-in users."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether this request is permitted."""
        if request.method in SAFE_METHODS:
            return access.may_read(request.user)
        return bool(request.user and request.user.is_authenticated)


def signed_in(request: Request) -> User:
    """Return the user of a request that may write. Raise NotAuthenticated without a user."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def get_study(request: Request, slug: str) -> Study:
    """Return a study that the user can name. Raise Http404."""
    return get_object_or_404(access.visible_studies(request.user), slug=slug)


def get_own_study(request: Request, slug: str) -> Study:
    """Return a study that the user may change. Raise Http404 or PermissionDenied."""
    study = get_study(request, slug)
    if not access.may_change(request.user, study):
        raise PermissionDenied(f"study {study.slug} belongs to somebody else; only its owner or staff may change it")
    return study


class TokenAuthentication(BaseAuthentication):
    """Authentication by ``Authorization: Bearer TOKEN``."""

    def authenticate(self, request: Request) -> tuple[User, str] | None:
        """Return user and token, None without one. Raise AuthenticationFailed for an invalid one."""
        scheme, _, secret = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = secret.strip().decode("latin-1")
        user = access.find_token_user(token)
        if user is None:
            raise AuthenticationFailed("the token is not known, or it was revoked; make one with manage.py apitoken")
        return user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate header of a 401."""
        return 'Bearer realm="perfdb"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # registers itself, without types
    """Tokens in the OpenAPI schema."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the definition of a bearer token."""
        return {"type": "http", "scheme": "bearer"}
