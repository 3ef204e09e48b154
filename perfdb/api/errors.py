"""Errors as problem details (RFC 9457).

``status``, ``title`` and ``detail`` are always present; ``parameter`` names the wrong parameter and ``known`` lists the
accepted values, where this applies.
"""

import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import DataError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.ingest.json_runs import RecordsError
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.published.load_tables import NotLoadedError
from perfdb.results.queries.saved_queries import NameTakenError
from perfdb.results.runs.access import ChangedMeanwhileError

MEDIA_TYPE = "application/problem+json"
# What a script may tell errors apart by, beyond their status.
PARAMETER, INTAKE, RECORDS = "urn:perfdb:parameter", "urn:perfdb:intake", "urn:perfdb:records"

logger = logging.getLogger(__name__)


class Conflict(exceptions.APIException):
    """A request that does not fit the present state of its object (409)."""

    status_code = HTTPStatus.CONFLICT


class TooLarge(exceptions.APIException):
    """A request with more bytes than accepted (413)."""

    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def problem(status: int, detail: str, kind: str = "about:blank", **more: Any) -> dict[str, Any]:
    """Return the body of an error, with ``more`` as further fields."""
    title = HTTPStatus(status).phrase
    return {"type": kind, "title": title, "status": status, "detail": detail} | more


# Exceptions that say themselves what is wrong, or else this text; a kind stands before its base.
_PLAIN: tuple[tuple[tuple[type[Exception], ...], int, str], ...] = (
    ((Http404,), 404, "there is nothing at this address"),
    ((PermissionDenied,), 403, "this is not allowed"),
    ((RequestDataTooBig,), 413, ""),
    ((SuspiciousOperation, MultiPartParserError), 400, ""),
    ((ChangedMeanwhileError, NameTakenError, NotLoadedError), 409, ""),
)


def problem_details(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Return a view's exception as problem details; an unexpected one is logged, without details."""
    set_rollback()
    body = _described(exc, context)
    # The view put this on a 401.
    header = getattr(exc, "auth_header", None)
    headers = {"WWW-Authenticate": header} if header else {}
    return Response(body, status=body["status"], headers=headers, content_type=MEDIA_TYPE)


def _described(exc: Exception, context: Mapping[str, Any]) -> dict[str, Any]:
    for kinds, status, text in _PLAIN:
        if isinstance(exc, kinds):
            return problem(status, str(exc) or text)
    match exc:
        case QueryError():
            body = problem(400, str(exc), PARAMETER, parameter=exc.parameter, known=exc.known)
        case IntakeError():
            body = problem(400, str(exc), INTAKE)
        case RecordsError():
            errors = [
                {"record": str(each.record or ""), "field": each.field, "detail": each.message, "remedy": each.remedy}
                for each in exc.complaints
            ]
            body = problem(400, str(exc), RECORDS, errors=errors)
        case DataError() | UnicodeEncodeError():
            # Half a surrogate or a NUL inside JSON: valid JSON, but no text that PostgreSQL could hold.
            body = problem(400, "a text contains a character that cannot be stored")
        case exceptions.ValidationError():
            errors = list(_complaints("", exc.detail))
            first = errors[0]
            said = f"{first['parameter']}: {first['detail']}" if first["parameter"] else first["detail"]
            body = problem(400, said, PARAMETER, parameter=first["parameter"], errors=errors)
        case exceptions.APIException():
            body = problem(exc.status_code, str(exc.detail))
        case _:
            body = _unforeseen(exc, context)
    return body


def _complaints(parameter: str, detail: Any) -> Iterator[dict[str, str]]:
    """Yield the complaints of nested details, each with the dotted name of its field."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from _complaints(".".join(filter(None, (parameter, own))), inner)
    elif isinstance(detail, list):
        for inner in detail:
            yield from _complaints(parameter, inner)
    else:
        yield {"parameter": parameter, "detail": str(detail)}


def _unforeseen(exc: Exception, context: Mapping[str, Any]) -> dict[str, Any]:
    request = context["request"]
    logger.error("%s %s failed", request.method, request.path, exc_info=exc)
    # What Django itself sends when a view fails: the test client raises the error again where it hears this.
    got_request_exception.send(sender=None, request=request)
    return problem(500, "perfdb failed to answer; its log says why")
