"""Endpoints of a study's report: tables, figures, audit, and editing of the items."""

from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.analysis.dimensions import NUMBERS
from perfdb.analysis.render.charts.combined_charts import combine_charts
from perfdb.analysis.render.exports.json import note_data, table_data
from perfdb.analysis.tables.table import Table
from perfdb.api.permissions import get_own_study, get_study, signed_in
from perfdb.api.renderers import cache_answer, page_body, page_place
from perfdb.api.schema import LIST_PARAMETERS, describe
from perfdb.api.serializers import AddressField, PageSerializer, known_only, rendered, validate
from perfdb.api.tables.serializers import CellSerializer, NoteSerializer, TableSerializer
from perfdb.results.models import Disagreement, RemovedItem, ReportItem, Study
from perfdb.results.queries.keyset_paging import Column, Ordering, read_page
from perfdb.results.runs.vocabulary import read_looks
from perfdb.results.studies import report_items as items
from perfdb.results.studies.report_answers import FORMS, AnsweredItem, answer_item
from perfdb.results.studies.report_items import ItemText


class ReportItemSerializer(serializers.Serializer[Any]):
    """A table or figure of a report."""

    number = serializers.CharField()
    title = serializers.CharField()
    queries = serializers.ListField(child=serializers.CharField())


class ReportSerializer(serializers.Serializer[Any]):
    """The tables and figures of a study's report."""

    tables = ReportItemSerializer(many=True)
    figures = ReportItemSerializer(many=True)


class ReportCellSerializer(CellSerializer):
    """A cell of a report's table, with its dimensions.

    `printed` is the text in the document; null if the document does not print the number.
    """

    dimensions = serializers.DictField()
    metric = serializers.CharField()
    role = serializers.CharField()
    unit = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    printed = serializers.CharField(allow_null=True)
    printed_diff = serializers.CharField(allow_null=True, help_text="The document's difference in per cent")


class ReportPartSerializer(TableSerializer):
    """A part of a report's table: one metric in rows and columns."""

    cells = ReportCellSerializer(many=True)


class ReportTableSerializer(serializers.Serializer[Any]):
    """A table of a report.

    A table of several parts has a query for each part, in the order of `tables`.
    """

    number = serializers.CharField()
    title = serializers.CharField()
    query = serializers.CharField(help_text="The first of `queries`")
    queries = serializers.ListField(child=serializers.CharField())
    tables = ReportPartSerializer(many=True)
    warnings = NoteSerializer(many=True)


class DisagreementSerializer(serializers.Serializer[Any]):
    """A printed number that does not match its inputs.

    `recomputed` and `interval` are in `unit`.
    """

    kind = serializers.CharField()
    severity = serializers.CharField()
    table = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField()
    run_id = serializers.CharField()
    metric = serializers.CharField()
    role = serializers.CharField()
    dimensions = serializers.DictField()
    printed = serializers.CharField()
    recomputed = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField())
    unit = serializers.CharField()
    formula = serializers.CharField()
    message = serializers.CharField()


class ProblemListSerializer(PageSerializer):
    """A page of the audit of a study."""

    results = DisagreementSerializer(many=True)


class ItemChangeSerializer(serializers.Serializer[Any]):
    """Changes of an item. Omitted fields stay.

    `version` is the version that was read; the answer is 409 if there is a newer one.
    """

    title = serializers.CharField(max_length=300, required=False)
    number = serializers.CharField(max_length=20, required=False, allow_blank=True)
    queries = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Query strings, or addresses of pages that answer"
    )
    prose = serializers.CharField(allow_blank=True, required=False, trim_whitespace=False)
    version = serializers.IntegerField(min_value=1)


class NewItemSerializer(serializers.Serializer[Any]):
    """A new item of a report.

    The item is put before the item with the id `before`, or at the end.
    """

    kind = serializers.ChoiceField(ReportItem.Kind.choices)
    title = serializers.CharField(max_length=300)
    number = serializers.CharField(max_length=20, default="", allow_blank=True)
    queries = serializers.ListField(child=serializers.CharField(), default=list)
    prose = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)
    half = serializers.BooleanField(default=False, help_text="Draw a figure in half the width")
    before = serializers.IntegerField(required=False)


class ItemSerializer(serializers.Serializer[Any]):
    """An item of a report."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    number = serializers.CharField()
    title = serializers.CharField()
    queries = serializers.ListField(child=serializers.CharField())
    prose = serializers.CharField()
    half = serializers.BooleanField()
    version = serializers.IntegerField()
    written_with = serializers.IntegerField(allow_null=True, help_text="Runs of the study when its prose was written")
    url = AddressField("api:report-item", "study.slug", "pk")


class ItemListSerializer(serializers.Serializer[Any]):
    """The items of a report in order.

    `runs` is the present number of runs in the study.
    """

    runs = serializers.IntegerField()
    results = ItemSerializer(many=True)


class OrderSerializer(serializers.Serializer[Any]):
    """The ids of items in the new order.

    Omitted items follow in their old order.
    """

    order = serializers.ListField(child=serializers.IntegerField(), max_length=1000)


class ItemRemovedSerializer(serializers.Serializer[Any]):
    """The address that undoes the removal, by a POST."""

    put_back = serializers.URLField()


_BY_NUMBER = Ordering("id", Column("id"), descending=False)


def _item(request: Request, slug: str, kind: ReportItem.Kind, number: str) -> ReportItem:
    items = ReportItem.objects.filter(kind=kind, number=number).select_related("study")
    return get_object_or_404(items, study=get_study(request, slug))


@describe("report", "What a study's report holds", ReportSerializer, (404,))
def report(request: Request, slug: str) -> HttpResponseBase:
    """List the numbers and titles of the report's tables and figures.

    A figure without queries is a drawing and has no data.
    """
    study = get_study(request, slug)

    def make() -> Response:
        items = list(study.report_items.all())
        shown = (("tables", ReportItem.Kind.TABLE), ("figures", ReportItem.Kind.FIGURE))
        listed = {name: [item for item in items if item.kind == kind] for name, kind in shown}
        return Response(ReportSerializer(listed).data)

    return cache_answer(request, [slug], make)


@describe("report_table", "A table of a study's report", ReportTableSerializer, (404,))
def table_json(request: Request, slug: str, number: str) -> HttpResponseBase:
    """Return a table of the report with its numbers and printed texts.

    The answer is like that of `/api/v1/tables/`. Each cell also has its dimensions and the text that the document
    prints.
    """
    item = _item(request, slug, ReportItem.Kind.TABLE, number)
    return cache_answer(request, [slug], lambda: Response(_table_body(answer_item(item))))


@describe("report_table_form", "A table of a study's report as CSV, Markdown, LaTeX or text", "text/csv", (404,))
def table_form(request: Request, slug: str, number: str, form: str) -> HttpResponseBase:
    """Return a table of the report in the format of the address's ending.

    The endings are `csv`, `md`, `tex` and `txt`. Numbers are as printed in the document.
    """
    if form not in FORMS:
        raise Http404(f"no tables as {form}; there are json, {', '.join(FORMS)}")
    item = _item(request, slug, ReportItem.Kind.TABLE, number)
    render, media_type = FORMS[form]
    return cache_answer(
        request, [slug], lambda: HttpResponse(render(answer_item(item).tables), f"{media_type}; charset=utf-8")
    )


@describe("report_figure", "A figure of a study's report, as Plotly takes it", OpenApiTypes.OBJECT, (404,))
def figure_json(request: Request, slug: str, number: str) -> HttpResponseBase:
    """Return `data` and `layout` of a figure's chart for Plotly.

    A figure without queries, such as a drawing of a set-up, answers 404.
    """
    item = _item(request, slug, ReportItem.Kind.FIGURE, number)
    if not item.queries:
        raise Http404(f"figure {number} has no data: it is a drawing of a set-up, or shows what is not published")
    return cache_answer(request, [slug], lambda: Response(combine_charts(answer_item(item).tables, read_looks())))


@describe(
    "study_problems",
    "The inconsistent numbers of a study",
    ProblemListSerializer,
    (400, 404),
    parameters=LIST_PARAMETERS,
)
def problems(request: Request, slug: str) -> HttpResponseBase:
    """List the inconsistent numbers of a study.

    Each has its formula, the recomputed value, and the interval that rounding allows.
    """
    study = get_study(request, slug)
    known_only(request.query_params, ("cursor", "size"))

    def make() -> Response:
        every = Disagreement.objects.filter(run__study=study)
        found = read_page(every, {"id": "id"}, _BY_NUMBER, *page_place(request))
        related = ("run", "run__workload", "run__device", "run__level", "run__system")
        known = Disagreement.objects.select_related(*related).in_bulk([row["id"] for row in found.rows])
        return Response(page_body(request, found, lambda row: _problem(known[row["id"]])))

    return cache_answer(request, [slug], make)


@describe("report_items", "The items of a report in their order", ItemListSerializer, (404,))
@describe("report_item_create", "Put an item into a report", {201: ItemSerializer}, (403, 404), post=NewItemSerializer)
@describe("report_items_order", "Put the items in another order", ItemListSerializer, (403, 404), put=OrderSerializer)
@api_view(["GET", "POST", "PUT"])
def report_items(request: Request, slug: str) -> Response:
    """List the items of a report in order, add an item, or reorder items.

    The items are tables, figures, findings and prose. Only the study's owner and staff may add or reorder items.
    """
    if request.method == "GET":
        return Response(_list(request, get_study(request, slug)))
    study = get_own_study(request, slug)
    if request.method == "POST":
        given = validate(NewItemSerializer, request.data)
        item = items.add_item(study, _written(given), given.get("before"))
        return Response(rendered(ItemSerializer, item, request), status=201)
    items.reorder_items(study, validate(OrderSerializer, request.data)["order"])
    return Response(_list(request, study))


@describe("report_item", "One item of a report", ItemSerializer, (404,))
@describe(
    "report_item_change", "Change an item of a report", ItemSerializer, (403, 404, 409), patch=ItemChangeSerializer
)
@describe("report_item_remove", "Take an item out of a report", ItemRemovedSerializer, (403, 404), method="DELETE")
@api_view(["GET", "PATCH", "DELETE"])
def report_item(request: Request, slug: str, pk: int) -> Response:
    """Return, change or remove one item of a report.

    A change sends the `version` that it is based on, and gets 409 if somebody has changed the item since. The answer
    to a removal has an address that puts the item back.
    """
    study = get_study(request, slug) if request.method == "GET" else get_own_study(request, slug)
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=study, pk=pk)
    if request.method == "DELETE":
        removed = items.remove_item(item, signed_in(request))
        return Response({"put_back": reverse("api:report-item-put-back", [slug, removed.pk], request=request)})
    if request.method == "PATCH":
        given = validate(ItemChangeSerializer, request.data)
        items.change_item(item, _written(rendered(ItemSerializer, item, request) | given), given["version"])
        item.refresh_from_db()
    return Response(rendered(ItemSerializer, item, request))


@describe(
    "report_item_put_back", "Put back what was taken out of a report", {201: ItemSerializer}, (403, 404), method="POST"
)
def put_back(request: Request, slug: str, pk: int) -> Response:
    """Put a removed item back in its former place in the report."""
    study = get_own_study(request, slug)
    removed = get_object_or_404(RemovedItem.objects.select_related("study"), study=study, pk=pk)
    return Response(rendered(ItemSerializer, items.restore_item(removed), request), status=201)


def _written(given: dict[str, Any]) -> ItemText:
    title, queries, width = given["title"].strip(), "\n".join(given["queries"]), "half" if given["half"] else "full"
    return ItemText(given["kind"], given["number"], title, queries, given["prose"], width=width)


def _list(request: Request, study: Study) -> dict[str, Any]:
    found = items.list_items(study)
    return {"runs": items.count_runs(study), "results": rendered(ItemSerializer, found, request, many=True)}


def _table_body(found: AnsweredItem) -> dict[str, Any]:
    """Return the tables of an item, each cell with its dimensions and printed value."""
    warnings = dict.fromkeys(note for table in found.tables for note in table.warnings)
    queries = [query.encode() for query in found.queries]
    return {
        "number": found.item.number,
        "title": found.item.title,
        "query": queries[0] if queries else "",
        "queries": queries,
        "tables": [_table(found, table) for table in found.tables],
        "warnings": [note_data(note) for note in warnings],
    }


def _table(found: AnsweredItem, table: Table) -> dict[str, Any]:
    data = table_data(table)
    for body in data["cells"]:
        row, column = table.rows[body["row"]], table.columns[body["column"]]
        cell = table.cells[row, column]
        shown = dict(zip(table.query.layout_names, table.split + row + column, strict=True))
        body.update(
            dimensions={**table.common, **shown},
            metric=table.measure.metric,
            role=table.measure.role,
            unit=table.metric.unit,
            value=cell.centre,
            printed=cell.printed or None,
            printed_diff=found.difference(table, cell) or None,
        )
    return data


def _problem(found: Disagreement) -> dict[str, Any]:
    run = found.run
    named = {"workload": run.workload, "device": run.device, "level": run.level, "system": run.system}
    return {
        "kind": found.kind,
        "severity": found.severity,
        "table": found.table,
        "line": found.line,
        "run": run.pk,
        "run_id": run.run_id,
        "metric": found.metric,
        "role": found.role,
        "dimensions": {
            **{name: row.name for name, row in named.items() if row},
            **{name: getattr(run, name) for name in NUMBERS},
            **{f"factor.{name}": value for name, value in run.factors.items()},
        },
        "printed": found.printed,
        "recomputed": found.recomputed,
        "interval": [found.low, found.high],
        "unit": found.unit,
        "formula": found.formula,
        "message": found.message,
    }
