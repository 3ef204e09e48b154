"""Endpoints of tables, comparisons and explanations, with the query strings of the pages."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample
from rest_framework.request import Request

from perfdb.analysis.query.query import Layout, Query, Summary
from perfdb.analysis.render.charts.chart_options import DRAWING_PARAMETERS, Drawing
from perfdb.analysis.render.exports import json
from perfdb.analysis.render.exports.text import render_latex, render_markdown, render_text
from perfdb.analysis.render.exports.tidy import render_csv, render_parquet
from perfdb.analysis.tables.matched_pairs import LeftOver, Sides
from perfdb.analysis.tables.table import Table
from perfdb.analysis.verdicts import words
from perfdb.api.renderers import cache_answer, large_answer
from perfdb.api.schema import DIMENSION_PARAMETERS, describe, query_parameter
from perfdb.api.tables import serializers
from perfdb.results.queries import compare
from perfdb.results.queries.answers import make_tables, read_answer
from perfdb.results.queries.bottlenecks import Best, find_best
from perfdb.results.queries.compare import ComparedValue, Comparison
from perfdb.results.queries.explain import Explanation, explain_address

# File names have at most so many metrics.
_MOST_NAMED = 3
# Renderer and media type by the ending of an address.
FORMS: Mapping[str, tuple[Callable[[Query, Sequence[Table]], str | bytes], str]] = {
    "csv": (render_csv, "text/csv; charset=utf-8"),
    "md": (lambda _, tables: render_markdown(tables), "text/markdown; charset=utf-8"),
    "tex": (lambda _, tables: render_latex(tables), "application/x-tex; charset=utf-8"),
    "txt": (lambda _, tables: render_text(tables), "text/plain; charset=utf-8"),
    "parquet": (render_parquet, "application/vnd.apache.parquet"),
}
QUERY_PARAMETERS = [
    query_parameter("metric", "`name` or `name@role`; the workloads' own metrics when none is asked", many=True),
    *DIMENSION_PARAMETERS,
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
_EXAMPLE = OpenApiExample(
    "One cell",
    value=orjson.loads((Path(__file__).with_name("example.json")).read_text()),
    response_only=True,
    status_codes=["200"],
)


def _pairs(request: Request) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, texts in request.query_params.lists() for text in texts)


def _query(request: Request) -> Query:
    """Return the query; drawing options are checked and ignored."""
    _, pairs = Drawing.parse(_pairs(request))
    return Query.parse(pairs)


@describe(
    "tables",
    "Ask a question about measurements",
    serializers.TablesSerializer,
    (400,),
    parameters=QUERY_PARAMETERS,
    examples=[_EXAMPLE],
)
def tables(request: Request) -> HttpResponseBase:
    """Return the tables that answer a query.

    The answer has every sample with its runs, and numbers are unrounded.
    """
    asked = _query(request)

    def make() -> HttpResponseBase:
        query, found = read_answer(asked)
        laid, best = make_tables(query, found), find_best(query, found)
        body = json.render(query, laid) | {"best": best_body(query, best)}
        return large_answer(request, body, found, laid, best)

    return cache_answer(request, asked.filters.get("study", ()), make)


@describe(
    "comparisons",
    "Compare two values of a dimension",
    serializers.ComparisonSerializer,
    (400,),
    parameters=COMPARISON_PARAMETERS,
)
def comparisons(request: Request) -> HttpResponseBase:
    """Return the matched pairs of an old value and one or more new values.

    Two experiments match if they are equal in all other dimensions. The answer also lists the experiments left over.
    """
    _, pairs = Drawing.parse(_pairs(request))
    chosen, pairs = compare.take_sides(pairs)
    sides = compare.parse_sides(chosen)
    query = Query.parse(pairs)
    about = query.with_filter(sides[0].dimension, sides[0].old, *(each.new for each in sides))

    def make() -> HttpResponseBase:
        found = compare.compare_sides(query, *sides)
        return large_answer(request, comparison_body(found), found)

    return cache_answer(request, about.filters.get("study", ()), make)


@describe(
    "explanations", "Explain a difference", serializers.ExplanationSerializer, (400,), parameters=EXPLANATION_PARAMETERS
)
def explanations(request: Request) -> HttpResponseBase:
    """Return the evidence about a difference.

    The difference is that of a cell from its base (`of` and `at`), or that of two runs (`old` and `new`).
    """
    return cache_answer(
        request, (), lambda: large_answer(request, explanation_body(explain_address(_pairs(request))[0]))
    )


def file_answer(form: str, query: Query, tables: Sequence[Table], name: str) -> HttpResponse:
    """Return tables in one of FORMS; Parquet is a download called ``name``."""
    render, media_type = FORMS[form]
    answer = HttpResponse(render(query, tables), media_type)
    if form == "parquet":
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}.parquet"'
    return answer


def _name(query: Query) -> str:
    """Return the beginning of a file name: the query's first measures, in safe letters."""
    named = [str(measure) for measure in query.metrics[:_MOST_NAMED]]
    return re.sub(r"[^\w.-]+", "-", "-".join(["perfdb", *named]))


def _file_view(form: str, title: str, description: str) -> Callable[..., HttpResponseBase]:
    """Return an endpoint of a query's tables in another format."""
    media_type = FORMS[form][1]
    kind = OpenApiTypes.BINARY if form == "parquet" else OpenApiTypes.STR

    @describe(
        f"tables_{form}",
        f"The same tables as {title}",
        {(200, media_type.partition(";")[0]): kind},
        (400,),
        parameters=QUERY_PARAMETERS,
        description=description,
    )
    def view(request: Request) -> HttpResponseBase:
        asked = _query(request)

        def make() -> HttpResponseBase:
            query, found = read_answer(asked)
            return file_answer(form, query, make_tables(query, found), _name(query))

        return cache_answer(request, asked.filters.get("study", ()), make)

    return view


tables_csv = _file_view("csv", "CSV", "Return the tables of a query as CSV for spreadsheets.")
tables_md = _file_view("md", "Markdown", "Return the tables of a query as Markdown for reports.")
tables_txt = _file_view("txt", "text", "Return the tables of a query in aligned columns for a terminal.")
tables_tex = _file_view(
    "tex",
    "LaTeX",
    "Return the tables of a query as LaTeX.\n\nThe document needs the packages booktabs, multirow and amssymb.",
)
tables_parquet = _file_view(
    "parquet",
    "Apache Parquet",
    "Return the tables of a query as Parquet, for data frames.\n\nThe rows are the lines of the CSV, with types.",
)


def comparison_body(found: Comparison) -> dict[str, Any]:
    """Return a comparison: tables of pairs, other differences, and experiments left over.

    The fields beside the tables are of the first compared value; ``others`` has the same for each further value.
    """
    first, *others = found.parts
    sides = first.matched.sides
    return {
        "dimension": sides.dimension,
        "old": sides.old,
        "sign": list(dict.fromkeys(words.sign_rule(table.metric) for table in found.tables)),
        **json.render(found.query, found.tables),
        **_against(first),
        "others": [_against(each) for each in others],
    }


def _against(part: ComparedValue) -> dict[str, Any]:
    return {
        "new": part.matched.sides.new,
        "pairs": part.matched.pairs,
        "differs": list(map(asdict, part.differs)),
        "looked_at": part.looked_at,
        "left_over": [_left_over(each, part.matched.sides) for each in part.matched.left_over],
    }


def _left_over(each: LeftOver, sides: Sides) -> dict[str, Any]:
    side = "old" if each.side == sides.old else "new"
    return {"side": side, "dimensions": dict(each.key), "runs": list(each.runs), "reason": each.reason}


def best_body(query: Query, found: Sequence[Best]) -> list[dict[str, Any]]:
    """Return the evidence of the best experiment of each group of a query."""
    names = query.pick.dimensions if query.pick else ()
    return [
        {
            "of": dict(zip(names, evidence.group, strict=True)),
            "dimensions": dict(evidence.key),
            "runs": [run.id for run in best.runs],
            "curve": json.curve_data(evidence.curve, evidence.edge) if evidence.curve else None,
            "limit": serializers.LimitSerializer(best.limit).data,
            "runners_up": serializers.RunnerUpSerializer(evidence.runners_up, many=True).data,
        }
        for best in found
        for evidence in [best.evidence]
    ]


def explanation_body(found: Explanation) -> dict[str, Any]:
    """Return an explanation; numbers are unrounded."""
    return {
        "metric": found.measure.metric,
        "role": found.measure.role,
        "where": dict(found.where),
        "old": serializers.SideSerializer(found.old).data,
        "new": serializers.SideSerializer(found.new).data,
        "diff": json.diff_data(found.comparison),
        "compared": [{"dimension": name, "old": old, "new": new} for name, old, new in found.compared],
        "differs": list(map(asdict, found.differs)),
        "moved": serializers.MovedSerializer(found.moved, many=True).data,
        "flags": found.flags,
        "problems": [f"{each.run}: {each.message}" for each in found.problems],
        "notes": found.notes,
    }
