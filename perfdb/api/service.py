"""Endpoints of the service: health, unknown addresses, and the recorder script."""

import shlex
from pathlib import Path
from typing import NoReturn

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

_TIMEOUT_S = 2.0


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _broker() -> None:
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S) as it:
        it.ping()


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if the process is alive.

    Database and broker are not checked: a restart of this process would not repair them.
    """
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if database and broker respond, else 503 with the missing ones."""
    missing = {}
    for name, check in (("database", _database), ("broker", _broker)):
        try:
            check()
        except (DatabaseError, redis.RedisError, OSError) as error:
            missing[name] = str(error).strip().partition("\n")[0] or type(error).__name__
    body = {"status": "missing" if missing else "ok", "missing": missing}
    return JsonResponse(body, status=503 if missing else 200)


@extend_schema(exclude=True)
@api_view(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
@permission_classes([AllowAny])
def nothing_here(request: Request, rest: str) -> NoReturn:
    """Answer 404 to every method at an unknown address of the API."""
    raise NotFound(f"there is nothing at {request.path}; /api/docs/ lists what there is")


# One file for whoever uses it, in parts for whoever reads it.
_FOLDER = Path(__file__).resolve().parent / "recorder"
_PARTS = ("head", "snapshots", "run", "upload", "command_line")
_NO_ADDRESS = "default_url=''"


def script(address: str = "") -> str:
    """Return the recorder script; ``address`` is the default perfdb to upload to."""
    text = "\n".join((_FOLDER / f"{part}.sh").read_text() for part in _PARTS)
    return text.replace(_NO_ADDRESS, f"default_url={shlex.quote(address)}", 1)


@never_cache
@require_safe
def record_sh(request: HttpRequest) -> HttpResponse:
    """Return the recorder script, with this server's address as its default.

    The script holds no data, so its download needs no sign-in.
    """
    address = request.build_absolute_uri("/").rstrip("/")
    return HttpResponse(script(address), content_type="text/x-shellscript; charset=utf-8")
