"""Views of the list of runs."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.queries.keyset_paging import parse_size
from perfdb.results.queries.run_list import columns, facets
from perfdb.results.queries.run_list.columns import ListColumn, read_run_page
from perfdb.results.queries.run_list.facets import Facets
from perfdb.results.queries.run_list.filters import RunFilter
from perfdb.results.runs import measures
from perfdb.web.runs import run_filters, run_list
from perfdb.web.runs.chosen_run_views import FORMS
from perfdb.web.runs.run_list import Row
from perfdb.web.tables import answer_hints
from perfdb.web.view_access import read_required

_COOKIE = "perfdb_columns"
_YEAR = 365 * 24 * 60 * 60
# Parameters that a choice of columns replaces.
_PLACE = ("columns", "cursor")
# Parameters without a field, kept in hidden fields.
_KEPT = ("size", "columns", "exclude", "range", "run_id", "run", "trial", "date")


@read_required()
def runs(request: HttpRequest) -> HttpResponse:
    """List runs by filters, order, columns and page; answer 400 for invalid parameters."""
    asked = request.GET
    context: dict[str, Any] = {"asked": asked, "kept": _pairs(asked, _KEPT), "query": asked.urlencode()}
    # Messages belong to the swapped part of the page.
    context |= {"done": list(messages.get_messages(request)), "messages": ()}
    try:
        filtered = _filtered(asked)
        found = facets.count_facets(filtered)
        context |= {"offered": run_filters.build_filter_form(asked, found)}
        context |= {
            "alike": answer_hints.find_spellings({name: counts.values for name, counts in found.counts.items()})
        }
        context |= _page(asked, filtered, found, _columns(request))
    except QueryError as error:
        return render(request, "web/runs.html", context | {"error": error}, status=400)
    return render(request, "web/runs.html", context)


def _pairs(asked: QueryDict, names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, text) for name in names for text in asked.getlist(name) if text.strip()]


def _filtered(asked: QueryDict) -> RunFilter:
    """Return the filter of an address. Raise QueryError."""
    filters = asked.copy()
    filters.pop("columns", None)
    filtered = RunFilter(filters)
    if error := filtered.first_error():
        raise error
    return filtered


def _columns(request: HttpRequest) -> tuple[ListColumn, ...]:
    """Return the address's columns, else those in the cookie. Raise QueryError.

    An invalid cookie means the default columns.
    """
    if asked := request.GET.getlist("columns"):
        return columns.parse_columns(asked)
    try:
        return columns.parse_columns([request.COOKIES.get(_COOKIE, "")])
    except QueryError:
        return columns.parse_columns([])


def _page(asked: QueryDict, filtered: RunFilter, found: Facets, shown: tuple[ListColumn, ...]) -> dict[str, Any]:
    """Return a page of the list. Raise QueryError."""
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
        shown = _insert_columns(shown, run_list.find_distinguishing_columns(page.rows))
    rows = [Row(row["id"], row["run_id"], row["status"], "; ".join(row["notes"])) for row in page.rows]
    read = {each: [*map(each.reader(slots), page.rows)] for each in shown}
    return {
        "listing": run_list.build_list(asked, read, rows, orderings),
        "forms": FORMS.items(),
        "known_tags": list(found.counts["tag"].values) if "tag" in found.counts else [],
        "choosable": run_filters.choosable_columns(shown, found, slots, page.rows),
        "shown": [each.name for each in shown],
        "others": _pairs(asked, [name for name in asked if name not in _PLACE]),
        "usual": run_list.address_without(asked, "columns"),
        "next": run_list.cursor_address(asked, page.next),
        "previous": run_list.cursor_address(asked, page.previous),
    }


def _insert_columns(shown: tuple[ListColumn, ...], more: list[ListColumn]) -> tuple[ListColumn, ...]:
    """Insert dimensions before the measures."""
    at = next(place for place, each in enumerate(shown) if each.measure)
    return (*shown[:at], *more, *shown[at:])


@read_required("POST")
def remember_columns(request: HttpRequest) -> HttpResponse:
    """Remember the chosen columns in a cookie."""
    query = QueryDict(request.POST.get("query", ""), mutable=True)
    query.pop("columns", None)
    answer = redirect(run_list.list_address(query))
    try:
        chosen = columns.parse_columns(request.POST.getlist("columns"))
    except QueryError:
        # The list shows the error.
        query.setlist("columns", request.POST.getlist("columns"))
        return redirect(run_list.list_address(query))
    answer.set_cookie(_COOKIE, ",".join(each.name for each in chosen), _YEAR, httponly=True, samesite="Lax")
    return answer
