"""Permissions: open reading with PUBLIC_READ; writing for signed-in users and tokens."""

from typing import Any

from django.contrib.auth.models import User
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from perfdb.results.models import Upload
from perfdb.results.runs import access


class ReadMayBePublic(BasePermission):
    """Permission to read by `access.may_read`, and to write for signed-in users."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether this request is permitted."""
        if request.method in SAFE_METHODS:
            return access.may_read(request.user)
        return bool(request.user and request.user.is_authenticated)


def signed_in(request: Request) -> User:
    """Return the user of a request that may write."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def must_own(request: Request, upload: Upload) -> None:
    """Raise PermissionDenied unless the upload is the user's own or the user is staff."""
    if upload.owner_id != request.user.pk and not request.user.is_staff:
        raise PermissionDenied(f"upload {upload.pk} belongs to {upload.owner}; only its owner or staff may change it")
