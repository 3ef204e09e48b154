"""Shared parts of the OpenAPI schema: parameters, errors and examples."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import api_view

from perfdb.analysis.dimensions import DIMENSIONS, SELECTORS, parse_bytes, parse_integer
from perfdb.analysis.query.query import Layout, Summary
from perfdb.analysis.render.charts.chart_options import DRAWING_PARAMETERS
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


_KINDS: dict[Any, Any] = {parse_integer: int}
_HINTS: dict[Any, str] = {parse_bytes: "; in bytes, 8K is 8192"}

_DIMENSION_PARAMETERS = [
    query_parameter(d.name, d.title + _HINTS.get(d.parse, ""), _KINDS.get(d.parse, str), many=True)
    for d in (*DIMENSIONS, *SELECTORS.values())
]
_FACTOR_PARAMETER = query_parameter("factor.NAME", "A factor of a study, such as `factor.kernel=6.4`", many=True)

LIST_PARAMETERS = [
    query_parameter("cursor", "Where the page begins; taken from `next` or `previous`"),
    query_parameter("size", f"Rows in a page, 1 to {LARGEST_PAGE}; {PAGE_SIZE} unless said", int),
]
RUN_PARAMETERS = [
    *_DIMENSION_PARAMETERS,
    _FACTOR_PARAMETER,
    *(query_parameter(name, str(found.label), many=name == "status") for name, found in RunFilter.base_filters.items()),
    query_parameter("sort", f"`-started` unless said; one of {', '.join(RUN_ORDERINGS)}, with `-` downwards"),
    *LIST_PARAMETERS,
]
QUERY_PARAMETERS = [
    query_parameter("metric", "`name` or `name@role`; the workloads' own metrics when none is asked", many=True),
    *_DIMENSION_PARAMETERS,
    _FACTOR_PARAMETER,
    query_parameter("rows", "Dimensions, separated by commas"),
    query_parameter("columns", "Dimensions, separated by commas"),
    query_parameter("split", "Dimensions with a table for each value"),
    query_parameter("exclude", "`dimension:value`: all but the runs with this value", many=True),
    query_parameter("range", "`dimension:low..high`, both included, either may be left out", many=True),
    query_parameter("order", "`dimension:value`: values that come first, in this order", many=True),
    query_parameter("baseline", "`dimension:value` of the layout: what every other cell is compared with", many=True),
    query_parameter("delta", "The practical size of a difference in per cent; 2 unless said", float),
    query_parameter("pick", "`metric:dimension,…`: only the best experiment for each value"),
    query_parameter("summary", "How a sample becomes one number", enum=list(Summary)),
    query_parameter("layout", "A table for each metric, or one with metrics as rows or as columns", enum=list(Layout)),
    *(
        query_parameter(name, "How a page draws it; makes no difference here", enum=list(kind))
        for name, kind in DRAWING_PARAMETERS.items()
    ),
]
COMPARISON_PARAMETERS = [
    query_parameter("dimension", "What is compared: any dimension, also a factor or `date`", required=True),
    query_parameter("old", "The value that the other is held against; `(none)` for a missing one", required=True),
    query_parameter("new", "The values that are held against it", required=True, many=True),
    *QUERY_PARAMETERS,
]
EXPLANATION_PARAMETERS = [
    query_parameter("old", "The id of a run; with `new`, these two runs are explained", int),
    query_parameter("new", "The id of the run that is held against it", int),
    query_parameter("of", "The measure; of a cell it must be said, of two runs it is their workload's rate"),
    query_parameter("at", "`dimension:value` of each dimension shown: which cell of the query's tables", many=True),
    *QUERY_PARAMETERS,
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
WAIT_PARAMETER = query_parameter("wait", "Seconds to hold the answer until the upload has settled, at most 30", int)
RECORD_PARAMETERS = [
    query_parameter("study", "Slug, made when there is none of that slug; your inbox when this is left out"),
    query_parameter("wait", "Seconds to wait for the runs, at most 30; 10 unless said", int),
]

ACCEPT_EXAMPLE = OpenApiExample("Decide a conflict", value={"decisions": {"NMGBR110/1": "replace"}}, request_only=True)
TABLES_EXAMPLE = OpenApiExample(
    "One cell",
    value=json.loads((Path(__file__).resolve().parent / "tables" / "example.json").read_text()),
    response_only=True,
    status_codes=["200"],
)
