"""The list of runs."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.queries.run_list import columns, facets
from perfdb.results.queries.run_list.columns import ListColumn
from perfdb.results.queries.run_list.facets import Facets
from perfdb.results.queries.run_list.filters import RunFilter
from perfdb.results.queries.run_list.pages import read_run_page
from perfdb.results.queries.run_list.paging import parse_size
from perfdb.results.runs import measures
from perfdb.results.runs.access import may_read
from perfdb.web.runs import run_filters, run_list
from perfdb.web.runs.chosen_run_views import FORMS
from perfdb.web.runs.run_list import Row
from perfdb.web.tables import answer_hints

_COOKIE = "perfdb_columns"
_YEAR = 365 * 24 * 60 * 60
# What changes when other columns are chosen.
_PLACE = ("columns", "cursor")
# Parameters of the address that the filter form has no field for and carries on.
_KEPT = ("size", "columns", "exclude", "range", "run_id", "run", "trial", "date")


@require_GET
@user_passes_test(may_read)
def runs(request: HttpRequest) -> HttpResponse:
    """Filter, sort, choose columns and page; what is not understood answers 400 and lists the known parameters."""
    asked = request.GET
    context: dict[str, Any] = {"asked": asked, "kept": _pairs(asked, _KEPT), "query": asked.urlencode()}
    # What was done is said in the part of the page that is swapped, and not above it.
    context |= {"done": list(messages.get_messages(request)), "messages": ()}
    try:
        filtered = _filtered(asked)
        found = facets.count_facets(filtered)
        context |= {"offered": run_filters.of(asked, found)}
        context |= {
            "alike": answer_hints.find_spellings({name: counts.values for name, counts in found.counts.items()})
        }
        context |= _page(asked, filtered, found, _columns(request))
    except QueryError as error:
        return render(request, "web/runs.html", context | {"error": error}, status=400)
    return render(request, "web/runs.html", context)


def _pairs(asked: QueryDict, names: Iterable[str]) -> list[tuple[str, str]]:
    """These parameters, for hidden fields."""
    return [(name, text) for name in names for text in asked.getlist(name) if text.strip()]


def _filtered(asked: QueryDict) -> RunFilter:
    """The filter of an address, whose columns say nothing about which runs; raises QueryError."""
    filters = asked.copy()
    filters.pop("columns", None)
    filtered = RunFilter(filters)
    if error := filtered.first_error():
        raise error
    return filtered


def _columns(request: HttpRequest) -> tuple[ListColumn, ...]:
    """The columns of the address, else those that this browser remembers; raises QueryError for unknown ones."""
    if asked := request.GET.getlist("columns"):
        return columns.parse_columns(asked)
    try:
        return columns.parse_columns([request.COOKIES.get(_COOKIE, "")])
    except QueryError:
        return columns.parse_columns([])


def _page(asked: QueryDict, filtered: RunFilter, found: Facets, shown: tuple[ListColumn, ...]) -> dict[str, Any]:
    """A page of the list; raises QueryError."""
    slots = measures.read_slots()
    orderings = columns.build_orderings(slots, few=found.all.exact and found.all.total <= facets.MOST_COUNTED)
    page = read_run_page(
        facets.select_listed_runs(filtered, found),
        asked.get("sort", ""),
        asked.get("cursor", ""),
        parse_size(asked.get("size", "")),
        columns=columns.ROW_COLUMNS,
        orderings=orderings,
    )
    if shown == columns.parse_columns([]):
        shown = _with(shown, run_list.telling_apart(page.rows))
    rows = [Row(row["id"], row["run_id"], row["status"], "; ".join(row["notes"])) for row in page.rows]
    read = {each: [*map(each.reader(slots), page.rows)] for each in shown}
    return {
        "listing": run_list.of(asked, read, rows, orderings),
        "forms": FORMS.items(),
        "known_tags": list(found.counts["tag"].values) if "tag" in found.counts else [],
        "choosable": run_filters.choosable(shown, found, slots, page.rows),
        "shown": [each.name for each in shown],
        "others": _pairs(asked, [name for name in asked if name not in _PLACE]),
        "usual": run_list.without(asked, "columns"),
        "next": run_list.with_cursor(asked, page.next),
        "previous": run_list.with_cursor(asked, page.previous),
    }


def _with(shown: tuple[ListColumn, ...], more: list[ListColumn]) -> tuple[ListColumn, ...]:
    """Further dimensions beside the usual ones, before the figures."""
    at = next(place for place, each in enumerate(shown) if each.measure)
    return (*shown[:at], *more, *shown[at:])


@require_POST
@user_passes_test(may_read)
def remember_columns(request: HttpRequest) -> HttpResponse:
    """Remember the chosen columns in this browser, for addresses that name none; none chosen are the usual ones."""
    query = QueryDict(request.POST.get("query", ""), mutable=True)
    query.pop("columns", None)
    answer = redirect(run_list.address(query))
    try:
        chosen = columns.parse_columns(request.POST.getlist("columns"))
    except QueryError:
        # The list says what is wrong with them.
        query.setlist("columns", request.POST.getlist("columns"))
        return redirect(run_list.address(query))
    answer.set_cookie(_COOKIE, ",".join(each.name for each in chosen), _YEAR, httponly=True, samesite="Lax")
    return answer
