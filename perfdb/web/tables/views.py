"""Pages that answer a query: charts with tables, and the maximum-throughput table."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.gzip import gzip_page

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Draw, Drawing, check_drawing
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Page
from perfdb.results.queries.answers import answer_query
from perfdb.results.queries.questions import Answer, Question, answer_question
from perfdb.web.links import read_pairs, to_question
from perfdb.web.questions import question_links
from perfdb.web.questions.question_links import question_actions_context
from perfdb.web.tables import answer_section, filter_form, maximum_page, table_grids
from perfdb.web.view_access import read_required

# Parameters without a field, kept in hidden fields.
_KEPT = ("exclude", "range", "order", "pick", "layout")


@read_required()
def charts(request: HttpRequest) -> HttpResponse:
    """Show a query's charts and tables; by default a question about the newest run.

    An address with filters alone redirects to the usual question about the runs that the filters leave.
    """
    there = filter_form.read_offered_values()
    drawing = Drawing()
    try:
        drawing, pairs = Drawing.parse(read_pairs(request.GET))
        asked = Query.parse(pairs) if request.GET else question_links.default_query(there)
        filter_form.check_studies(asked)
        # An emptied form (htmx) is not laid out again.
        if not request.htmx and (usual := question_links.usual_query(asked)) != asked:  # type: ignore[attr-defined]
            return redirect(question_links.charts_address(usual, drawing))
        query, answered = answer_query(asked)
        check_drawing(drawing, compared=bool(query.baseline), measures=len(query.metrics))
    except QueryError as error:
        context = _form(Query(), drawing, there, []) | {"error": error}
        return render(request, "web/charts.html", context, status=filter_form.error_status(error))
    question = Question(Page.CHARTS, query, drawing)
    context = _form(query, drawing, there, answered) | answer_section.build_result(question, Answer(query, answered))
    return render(request, "web/charts.html", context | question_actions_context(request, question))


@read_required()
@gzip_page
def figure(request: HttpRequest) -> HttpResponse:
    """Return the first figure of a query as JSON."""
    try:
        _, shown = _panels(request.GET)
    except QueryError as error:
        return JsonResponse({"detail": str(error)}, status=400)
    drawn = next((panel.figure for panel in shown if panel.figure), None)
    if drawn is None:
        return JsonResponse({"detail": "no run has a value of what is asked for"}, status=404)
    return JsonResponse(drawn)


@read_required()
def table(request: HttpRequest) -> HttpResponse:
    """Show the table with number ``panel``, which was too large for the charts page."""
    asked = request.GET.copy()
    number = str(asked.pop("panel", ["0"])[-1])
    try:
        question, shown = _panels(asked)
    except QueryError as error:
        return render(request, "web/table.html", {"error": error}, status=400)
    found = next((panel for panel in shown if str(panel.number) == number), None)
    if found is None:
        raise Http404(f"the question has {len(shown)} tables")
    return render(request, "web/table.html", {"panel": found, "charts": to_question(question)})


def _panels(data: QueryDict) -> tuple[Question, list[table_grids.Panel]]:
    """Return a charts question and all of its panels. Raise QueryError."""
    drawing, pairs = Drawing.parse(read_pairs(data))
    query, answered = answer_query(Query.parse(pairs))
    check_drawing(drawing, compared=bool(query.baseline), measures=len(query.metrics))
    shown = [panel for group in table_grids.build_panels(answered, drawing) for panel in group]
    return Question(Page.CHARTS, query, drawing), shown


def _form(
    query: Query, drawing: Drawing, there: dict[str, list[tuple[str, str]]], answered: Sequence[Table]
) -> dict[str, Any]:
    names = filter_form.layout_dimensions()
    compared = bool(query.baseline) or drawing.draw is Draw.HEAT
    # The first one has a field.
    baselines = [pair for pair in query.pairs() if pair[0] == "baseline"]
    selects = [*filter_form.drawing_selects(drawing, compared=compared), filter_form.summary_select(query)]
    return {
        "query": query,
        "presets": question_links.workload_presets(query, there),
        "facets": filter_form.dimension_facets(there, dict(query.filters)),
        "layout_facets": [
            filter_form.metric_facet(query.metrics),
            filter_form.layout_facet("rows", "X axis", names, query.rows),
            filter_form.layout_facet("columns", "One line per", names, query.columns),
            filter_form.layout_facet("split", "Split into charts by", names, query.split),
        ],
        "selects": selects,
        "drawn": filter_form.describe_drawing(selects, query),
        "baseline": filter_form.baseline_select(query, answered),
        "kept": [pair for pair in query.pairs() if pair[0] in _KEPT] + baselines[1:],
    }


@read_required()
def maximum(request: HttpRequest) -> HttpResponse:
    """Show the experiment with the highest throughput of each device or other dimension."""
    there = filter_form.read_offered_values()
    try:
        asked = Query.parse(read_pairs(request.GET)) if request.GET else question_links.default_query(there)
        question = _maximum_question(asked)
        filter_form.check_studies(question.query)
        found = answer_question(question)
    except QueryError as error:
        context = {"facets": filter_form.dimension_facets(there, {}, without=("workload",)), "error": error}
        return render(request, "web/maximum.html", context, status=filter_form.error_status(error))
    query = question.query
    context = {
        "presets": question_links.maximum_presets(query, there),
        # Presets above the form choose the workload.
        "facets": filter_form.dimension_facets(there, dict(query.filters), without=("workload",)),
        "each": maximum_page.each_select(query.columns, found.query.columns),
        "kept": [(name, value) for name, value in query.pairs() if name in ("workload", "exclude", "range")],
    }
    context |= answer_section.build_result(question, found) | question_actions_context(request, question)
    return render(request, "web/maximum.html", context)


def _maximum_question(asked: Query) -> Question:
    """Return the question about maxima; of other pages' layouts, only columns without rows count."""
    workload = asked.filters.get("workload") or ("RR",)
    query = Query(
        filters=dict(asked.filters) | {"workload": workload},
        exclude=asked.exclude,
        ranges=asked.ranges,
        columns=() if asked.rows else asked.columns,
        summary=asked.summary,
    )
    return Question(Page.MAXIMUM, query)
