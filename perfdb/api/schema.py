"""Shared parts of the OpenAPI schema: parameters, errors and examples."""

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import api_view

from perfdb.analysis.dimensions import DIMENSIONS, SELECTORS, parse_bytes, parse_integer
from perfdb.analysis.trends.states import Phase
from perfdb.api.errors import MEDIA_TYPE
from perfdb.api.serializers import ProblemDetailsSerializer
from perfdb.results.queries.keyset_paging import LARGEST_PAGE, PAGE_SIZE
from perfdb.results.queries.run_list.columns import RUN_ORDERINGS
from perfdb.results.queries.run_list.filters import RunFilter

_View = Callable[..., Any]

_STATUS_TEXT = {
    400: "A parameter or field is not understood; `parameter` and `known` say which and what is.",
    401: "Reading needs a token here, and writing always does.",
    403: "It belongs to somebody else.",
    404: "There is nothing at this address.",
    409: "Its state does not allow this.",
    413: "More bytes than `UPLOAD_LIMIT_BYTES`.",
    415: "The body has another media type than is read here.",
}


def describe(
    operation_id: str,
    summary: str,
    answers: Any,
    failures: Sequence[int] = (),
    *,
    method: str = "GET",
    post: Any = None,
    put: Any = None,
    patch: Any = None,
    **more: Any,
) -> Callable[[_View], _View]:
    """Describe a method of an endpoint in OpenAPI; a plain function becomes a view.

    ``answers`` are by status, or a 200's serializer, or the media type of a file. ``failures`` are statuses; 401 is
    always possible. ``post``, ``put`` or ``patch`` is the body of that method, which adds the failures 400 and 415.
    """
    bodies = {"POST": post, "PUT": put, "PATCH": patch}
    method, body = next(((name, body) for name, body in bodies.items() if body), (method, None))
    statuses = sorted({401, *failures, *((400, 415) if body else ())})
    errors = {
        (status, MEDIA_TYPE): OpenApiResponse(ProblemDetailsSerializer, description=_STATUS_TEXT[status])
        for status in statuses
    }
    schema = extend_schema(
        operation_id, methods=[method], summary=summary, request=body, responses=_by_status(answers) | errors, **more
    )
    return lambda view: schema(view if hasattr(view, "cls") else api_view([method])(view))


def _by_status(answers: Any) -> dict[Any, Any]:
    if isinstance(answers, str):
        kinds = {"application/json": OpenApiTypes.OBJECT, "text/csv": OpenApiTypes.STR}
        return {(200, answers): kinds.get(answers, OpenApiTypes.BINARY)}
    return answers if isinstance(answers, dict) else {200: answers}


def query_parameter(name: str, text: str, kind: Any = str, **more: Any) -> OpenApiParameter:
    """Return a parameter of the query string with its description."""
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=text, **more)


_HINTS: dict[Any, str] = {parse_bytes: "; in bytes, 8K is 8192"}

DIMENSION_PARAMETERS = [
    *(
        query_parameter(d.name, d.title + _HINTS.get(d.parse, ""), int if d.parse is parse_integer else str, many=True)
        for d in (*DIMENSIONS, *SELECTORS.values())
    ),
    query_parameter("factor.NAME", "A factor of a study, such as `factor.kernel=6.4`", many=True),
]

LIST_PARAMETERS = [
    query_parameter("cursor", "Where the page begins; taken from `next` or `previous`"),
    query_parameter("size", f"Rows in a page, 1 to {LARGEST_PAGE}; {PAGE_SIZE} unless said", int),
]
RUN_PARAMETERS = [
    *DIMENSION_PARAMETERS,
    *(query_parameter(name, str(found.label), many=name == "status") for name, found in RunFilter.base_filters.items()),
    query_parameter("sort", f"`-started` unless said; one of {', '.join(RUN_ORDERINGS)}, with `-` downwards"),
    *LIST_PARAMETERS,
]
TREND_PARAMETERS = [
    query_parameter("study", "Slug of the study", required=True),
    query_parameter("state", f"Only series with a change of this state: {', '.join(Phase)}"),
]
EVENT_PARAMETERS = [
    query_parameter("study", "Slug of a study; all studies when this is left out"),
    query_parameter("state", "`open`, `new` (nobody has decided yet) or `closed`"),
    query_parameter("since", "Only events whose first campaign began on this day or later: `2026-11-01`"),
    query_parameter("mine", "Any text: only events assigned to you"),
]
