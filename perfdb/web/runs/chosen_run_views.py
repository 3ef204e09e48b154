"""What is done with chosen runs: they are compared, exported, tagged, withdrawn. Each act is a button of one form."""

import tempfile
from collections.abc import Callable, Iterator
from typing import IO

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

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import withdraw
from perfdb.results.models import Run
from perfdb.results.queries.run_list import columns, export, filters
from perfdb.results.queries.run_list.columns import ListColumn
from perfdb.results.runs import access, tags
from perfdb.web.runs import chosen_run_links, run_list

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
            return redirect(chosen_run_links.compared(runs, everything))
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
