"""Views of the list of runs, and actions on chosen runs."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from perfdb.analysis.dimensions import BY_NAME, FACTOR, dimension
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.changes import withdraw
from perfdb.results.models import Run
from perfdb.results.queries.keyset_paging import parse_size
from perfdb.results.queries.observations import DIMENSION_COLUMNS
from perfdb.results.queries.run_list import columns, export, facets, filters
from perfdb.results.queries.run_list.columns import ListColumn, read_run_page
from perfdb.results.queries.run_list.facets import Facets
from perfdb.results.queries.run_list.filters import RunFilter
from perfdb.results.runs import measures
from perfdb.results.runs import tags as tagging
from perfdb.web.links import to_run_difference
from perfdb.web.questions import question_links
from perfdb.web.runs import run_list
from perfdb.web.runs.run_list import Row
from perfdb.web.tables import answer_section
from perfdb.web.view_access import person_of, read_required

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
        context |= {"offered": run_list.build_filter_form(asked, found)}
        context |= {
            "alike": answer_section.find_spellings({name: counts.values for name, counts in found.counts.items()})
        }
        context |= _page(asked, filtered, found, _columns(request))
    except QueryError as error:
        return render(request, "web/runs.html", context | {"error": error}, status=400)
    return render(request, "web/runs.html", context)


def _pairs(asked: QueryDict, names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, text) for name in names for text in asked.getlist(name) if text.strip()]


def _filtered(asked: QueryDict) -> RunFilter:
    """Return the filter of an address. Raise QueryError."""
    selecting = asked.copy()
    selecting.pop("columns", None)
    filtered = RunFilter(selecting)
    if error := filtered.first_error():
        raise error
    return filtered


def _columns(request: HttpRequest) -> tuple[ListColumn, ...]:
    """Return the address's columns, else the cookie's, else the usual ones. Raise QueryError."""
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
        first = next(place for place, each in enumerate(shown) if each.measure)
        shown = (*shown[:first], *run_list.find_distinguishing_columns(page.rows), *shown[first:])
    rows = [Row(row["id"], row["run_id"], row["status"], "; ".join(row["notes"])) for row in page.rows]
    read = {each: [*map(each.reader(slots), page.rows)] for each in shown}
    return {
        "listing": run_list.build_list(asked, read, rows, orderings),
        "forms": FORMS.items(),
        "known_tags": list(found.counts["tag"].values) if "tag" in found.counts else [],
        "choosable": run_list.choosable_columns(shown, found, slots, page.rows),
        "shown": [each.name for each in shown],
        "others": _pairs(asked, [name for name in asked if name not in _PLACE]),
        "usual": run_list.address_without(asked, "columns"),
        "next": run_list.cursor_address(asked, page.next),
        "previous": run_list.cursor_address(asked, page.previous),
    }


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


# With more runs, the address has the filters that choose them.
MOST_NAMED = 100
_COLUMNS = {"run": "pk", "factors": "factors", **DIMENSION_COLUMNS}


def _comparison_address(runs: QuerySet[Run], query: str | None) -> str:
    """Return the address of the page that compares runs.

    Explain compares two runs; Charts draws the differences of more. ``query``: the list's query string, if all listed
    runs are chosen. Raise QueryError for fewer than two runs.
    """
    rows = runs.order_by("started", "pk").values_list(*_COLUMNS.values())[: MOST_NAMED + 1]
    found = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    if len(found) < 2:
        raise QueryError("run", "select at least two runs")
    if len(found) == 2:
        return to_run_difference(found[0]["run"], found[1]["run"])
    named = len(found) <= MOST_NAMED
    asked = Query(filters={"run": tuple(row["run"] for row in found)}) if named else _asked(query or "")
    patterns = {str(row["workload"]).partition(" ")[0] for row in found if row["workload"]}
    across, lines = _layout(found)
    return question_links.charts_address(
        asked.replace(metrics=default_metrics(patterns), rows=across, columns=lines), Drawing()
    )


def _asked(query: str) -> Query:
    """Return the query of a list's address. Raise QueryError for the list's own filters."""
    pairs = [(name, text) for name, text in parse_qsl(query) if name not in run_list.NOT_FILTERS]
    try:
        return Query.parse(pairs)
    except QueryError as error:
        raise QueryError(
            error.parameter,
            f"more than {MOST_NAMED} runs are compared by their dimensions and tags, and {error.parameter} is neither; "
            "put a tag on these runs and ask for that",
        ) from None


def _layout(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return rows and columns: the differing dimensions, a quantity first."""
    factors = sorted({f"{FACTOR}{key}" for row in rows for key in row["factors"]})
    names = [name for name in (*BY_NAME, *factors) if name not in REPEATS]

    def value(row: Mapping[str, Any], name: str) -> Any:
        return row["factors"].get(name.removeprefix(FACTOR)) if name.startswith(FACTOR) else row[name]

    differing = [name for name in names if len({value(row, name) for row in rows}) > 1]
    if not differing:
        return ("run_id" if len({row["run_id"] for row in rows}) > 1 else "trial",), ()
    ordered = sorted(differing, key=lambda name: (name != "users", not dimension(name).quantity))
    return (ordered[0],), tuple(ordered[1:])


# Made where all bundles are.
BUNDLE = "bundle"
# The files that chosen runs can be taken away as: what people call them.
FORMS = {"csv": "CSV", "json": "JSON", "parquet": "Parquet", "zip": "their logs (zip)", BUNDLE: "offline bundle"}


@read_required("POST")
def chosen(request: HttpRequest) -> HttpResponseBase:
    """Apply the pressed button's action to the ticked runs, or to all listed ones."""
    back = run_list.list_address(QueryDict(request.POST.get("query", "")))
    act = request.POST.get("act", "")
    everything = request.POST.get("query", "") if request.POST.get("all") else None
    try:
        runs = filters.choose_runs(request.POST.getlist("run"), everything)
        if act == "compare":
            return redirect(_comparison_address(runs, everything))
        if act == BUNDLE:
            return redirect(f"{reverse('web:bundle')}?{_bundle_query(request.POST, everything)}")
        if act in FORMS:
            return _file(act, runs, columns.parse_columns(request.POST.getlist("columns")))
        if not request.user.is_authenticated:
            return redirect_to_login(back)
        messages.success(request, _change(act, person_of(request), runs, request.POST))
    except (QueryError, PermissionDenied) as error:
        messages.error(request, f"{error}.")
    return redirect(back)


def _bundle_query(given: QueryDict, everything: str | None) -> str:
    """Return the query string of the chosen runs' bundle."""
    asked = QueryDict(everything or "", mutable=True)
    asked["page"] = "runs"
    if everything is None:
        asked.setlist("pk", given.getlist("run"))
    asked.setlist("columns", given.getlist("columns"))
    return asked.urlencode()


def _change(act: str, user: User, runs: QuerySet[Run], given: QueryDict) -> str:
    """Change the runs and return a message. Raise QueryError or PermissionDenied."""
    tag, reason = given.get("tag", ""), given.get("reason", "")
    acts: dict[str, tuple[Callable[[], int], str]] = {
        "tag": (lambda: tagging.add_tag(user, runs, tag), "Tag {tag} added to {runs}."),
        "untag": (lambda: tagging.remove_tag(user, runs, tag), "Tag {tag} removed from {runs}."),
        "withdraw": (lambda: withdraw.withdraw_runs(user, runs, reason), "{runs} withdrawn: see status withdrawn."),
        "restore": (lambda: withdraw.restore_runs(user, runs), "{runs} restored."),
    }
    if act not in acts:
        raise QueryError("act", f"{act!r} is nothing that can be done with runs", [*FORMS, *acts, "compare"])
    do, done = acts[act]
    number = do()
    changed = f"{number:,} run{'' if number == 1 else 's'}"
    return done.format(runs=changed, tag=tagging.parse_tag(tag) if "tag" in act else "")


def _file(form: str, runs: QuerySet[Run], shown: tuple[ListColumn, ...]) -> HttpResponseBase:
    """Return the runs as a file, streamed if the format allows. Raise QueryError."""
    disposition = f'attachment; filename="runs.{form}"'
    streams: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
        "csv": ("text/csv; charset=utf-8", lambda: export.render_csv(runs, shown)),
        "json": ("application/json", lambda: export.render_json(runs, shown)),
    }
    if form in streams:
        media_type, lines = streams[form]
        return StreamingHttpResponse(lines(), media_type, headers={"Content-Disposition": disposition})
    # The response closes the file, whose size is unknown.
    out = tempfile.TemporaryFile()  # noqa: SIM115
    if form == "zip":
        export.write_logs_zip(runs, out)
    else:
        export.write_parquet(runs, shown, out)
    out.seek(0)
    return FileResponse(out, as_attachment=True, filename=f"runs.{form}")
