"""Where chosen runs are compared: two with each other, several in a chart of what they differ in."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from perfdb.analysis.dimensions import BY_NAME, FACTOR, dimension
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Query, default_metrics
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.changes import withdraw
from perfdb.results.models import Run
from perfdb.results.queries.observations import DIMENSION_COLUMNS
from perfdb.results.queries.run_list import columns, export, filters
from perfdb.results.queries.run_list.columns import ListColumn
from perfdb.results.runs import access, tags
from perfdb.web.questions import question_links
from perfdb.web.runs import run_list

# So many runs are named one by one in an address; more of them go by the filters that choose them.
MOST_NAMED = 100
_COLUMNS = {"run": "pk", "factors": "factors", **DIMENSION_COLUMNS}
# What a list's address has that says nothing about which complete runs are meant.
_BESIDE = {"sort", "cursor", "size", "columns"}


def compared(runs: QuerySet[Run], query: str | None) -> str:
    """The page that compares these runs; ``query`` is the list's address if all of it is meant. Raises QueryError."""
    rows = runs.order_by("started", "pk").values_list(*_COLUMNS.values())[: MOST_NAMED + 1]
    found = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    if len(found) < 2:
        raise QueryError("run", "choose two runs or more to compare them")
    if len(found) == 2:
        return f"{reverse('web:explain')}?{urlencode({'old': found[0]['run'], 'new': found[1]['run']})}"
    if len(found) <= MOST_NAMED:
        asked = Query(filters={"run": tuple(row["run"] for row in found)})
    else:
        asked = _asked(query or "")
    patterns = {str(row["workload"]).partition(" ")[0] for row in found if row["workload"]}
    across, lines = _layout(found)
    return question_links.charts_address(
        asked.replace(metrics=default_metrics(patterns), rows=across, columns=lines), Drawing()
    )


def _asked(query: str) -> Query:
    """The runs of a list's address as a question; raises QueryError where only the list understands the address."""
    pairs = [(name, text) for name, text in parse_qsl(query) if name not in _BESIDE]
    try:
        return Query.parse(pairs)
    except QueryError as error:
        raise QueryError(
            error.parameter,
            f"more than {MOST_NAMED} runs are compared by their dimensions and tags, and {error.parameter} is neither; "
            "put a tag on these runs and ask for that",
        ) from None


def _layout(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Along x and as lines: what the runs differ in, a quantity along x; runs that are equal stand side by side."""
    factors = sorted({f"{FACTOR}{key}" for row in rows for key in row["factors"]})
    names = [name for name in (*BY_NAME, *factors) if name not in REPEATS]
    differing = [name for name in names if len({_value(row, name) for row in rows}) > 1]
    if not differing:
        return ("run_id" if len({row["run_id"] for row in rows}) > 1 else "trial",), ()
    ordered = sorted(differing, key=lambda name: (name != "users", not dimension(name).quantity))
    return (ordered[0],), tuple(ordered[1:])


def _value(row: Mapping[str, Any], name: str) -> Any:
    return row["factors"].get(name.removeprefix(FACTOR)) if name.startswith(FACTOR) else row[name]


# Made where all bundles are.
BUNDLE = "bundle"
# The files that chosen runs can be taken away as: what people call them.
FORMS = {"csv": "CSV", "json": "JSON", "parquet": "Parquet", "zip": "their logs (zip)", BUNDLE: "offline bundle"}


@require_POST
@user_passes_test(access.may_read)
def chosen(request: HttpRequest) -> HttpResponseBase:
    """Do what the pressed button says with the runs that are ticked, or with all that the list's address asks for."""
    back = run_list.address(QueryDict(request.POST.get("query", "")))
    act = request.POST.get("act", "")
    everything = request.POST.get("query", "") if request.POST.get("all") else None
    try:
        runs = filters.choose_runs(request.POST.getlist("run"), everything)
        if act == "compare":
            return redirect(compared(runs, everything))
        if act == BUNDLE:
            return redirect(f"{reverse('web:bundle')}?{_bundled(request.POST, everything)}")
        if act in FORMS:
            return _file(act, runs, columns.parse_columns(request.POST.getlist("columns")))
        if not request.user.is_authenticated:
            return redirect_to_login(back)
        messages.success(request, _change(act, access.signed_in_user(request.user), runs, request.POST))
    except (QueryError, PermissionDenied) as error:
        messages.error(request, f"{error}.")
    return redirect(back)


def _bundled(given: QueryDict, everything: str | None) -> str:
    """The query string of a bundle of the runs that are ticked, or of all that the list's address asks for."""
    asked = QueryDict(everything or "", mutable=True)
    asked["page"] = "runs"
    if everything is None:
        asked.setlist("pk", given.getlist("run"))
    asked.setlist("columns", given.getlist("columns"))
    return asked.urlencode()


def _change(act: str, user: User, runs: QuerySet[Run], given: QueryDict) -> str:
    """Change the runs, and say what was done; raises QueryError, PermissionDenied."""
    tag, reason = given.get("tag", ""), given.get("reason", "")
    acts: dict[str, Callable[[], str]] = {
        "tag": lambda: f"{_runs(tags.add_tag(user, runs, tag))} got the tag {tags.parse_tag(tag)}.",
        "untag": lambda: f"{_runs(tags.remove_tag(user, runs, tag))} lost the tag {tags.parse_tag(tag)}.",
        "withdraw": lambda: f"{_runs(withdraw.withdraw_runs(user, runs, reason))} withdrawn: see status withdrawn.",
        "restore": lambda: f"{_runs(withdraw.restore_runs(user, runs))} restored.",
    }
    if act not in acts:
        raise QueryError("act", f"{act!r} is nothing that can be done with runs", [*FORMS, *acts, "compare"])
    return acts[act]()


def _runs(number: int) -> str:
    return f"{number:,} run{'' if number == 1 else 's'}"


def _file(form: str, runs: QuerySet[Run], shown: tuple[ListColumn, ...]) -> HttpResponseBase:
    """The runs as a file: as they are read where the form allows it, else written aside first. Raises QueryError."""
    disposition = f'attachment; filename="runs.{form}"'
    streams: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
        "csv": ("text/csv; charset=utf-8", lambda: export.render_csv(runs, shown)),
        "json": ("application/json", lambda: export.render_json(runs, shown)),
    }
    if form in streams:
        media_type, lines = streams[form]
        return StreamingHttpResponse(lines(), media_type, headers={"Content-Disposition": disposition})
    return FileResponse(_written(form, runs, shown), as_attachment=True, filename=f"runs.{form}")


def _written(form: str, runs: QuerySet[Run], shown: tuple[ListColumn, ...]) -> IO[bytes]:
    # The response closes it; a spooled file would hold all of a small one in memory, and none is small.
    out = tempfile.TemporaryFile()  # noqa: SIM115
    if form == "zip":
        export.write_logs_zip(runs, out)
    else:
        export.write_parquet(runs, shown, out)
    out.seek(0)
    return out
