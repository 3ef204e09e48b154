"""Health endpoints for load balancers and orchestrators."""

from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

_TIMEOUT_S = 2.0


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _broker() -> None:
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S) as it:
        it.ping()


def _failure(check: Callable[[], None]) -> str:
    """Return the reason of a failed check, or ""."""
    try:
        check()
    except (DatabaseError, redis.RedisError, OSError) as error:
        return str(error).strip().partition("\n")[0] or type(error).__name__
    return ""


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if the process is alive, without checking database or broker."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if database and broker respond, else 503 with the missing one."""
    checks = {"database": _failure(_database), "broker": _failure(_broker)}
    missing = {name: why for name, why in checks.items() if why}
    body = {"status": "missing" if missing else "ok", "missing": missing}
    return JsonResponse(body, status=503 if missing else 200)
