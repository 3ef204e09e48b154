"""Frozen links: making one, the answer as it was then, and its runs as they were then."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required, user_passes_test
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import dimension
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.tables.observations import Observations, Row, narrow_observations
from perfdb.results.models import FrozenLink, Run
from perfdb.results.queries import frozen_links
from perfdb.results.queries.questions import Question
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.access import may_read, signed_in_user
from perfdb.web.shared.links import to_question
from perfdb.web.tables import answer_section

# More runs than this are counted, not listed.
MOST_LISTED = 500

_FORMS = (("csv", "CSV"), ("parquet", "Parquet"), ("md", "Markdown"), ("tex", "LaTeX"), ("txt", "text"))


@require_POST
@login_required
def freeze(request: HttpRequest) -> HttpResponse:
    """Pin a question's answer of now, and go there."""
    try:
        question = Question.parse(request.POST.get("page", ""), request.POST.get("query", ""))
        link = frozen_links.freeze_question(question, signed_in_user(request.user))
    except QueryError as error:
        return render(request, "web/frozen.html", {"error": error}, status=400)
    return redirect("web:frozen", token=link.token)


@require_GET
@user_passes_test(may_read)
def frozen(request: HttpRequest, token: str) -> HttpResponse:
    """The answer as of then, with a word on whether today's would be another."""
    link = _link(token)
    try:
        with frozen_links.open_link(link) as (question, answer):
            context = answer_section.result(question, answer)
        changes = frozen_links.find_changes(link)
    except QueryError as error:
        return render(request, "web/frozen.html", {"link": link, "error": error}, status=400)
    # What leads to today's data would answer something else than what stands here.
    context |= {"charts": "", "compare": "", "address": "", "exports": _exports(token)}
    context |= {
        "link": link,
        "frozen": True,
        "changes": changes,
        "living": to_question(question),
        "title": answer_section.title(question),
        "keeping": {"link": request.build_absolute_uri()},
    }
    return render(request, f"web/frozen_{link.page}.html", context)


def _link(token: str) -> FrozenLink:
    return get_object_or_404(FrozenLink.objects.select_related("made_by"), token=token)


def _exports(token: str) -> list[tuple[str, str]]:
    base = f"/api/v1/frozen/{token}/"
    return [("JSON", base), *((title, f"{base}tables.{form}") for form, title in _FORMS)]


@require_GET
@user_passes_test(may_read)
def frozen_run(request: HttpRequest, token: str, pk: int) -> HttpResponse:
    """One run as it was then, as far as the answer rests on it."""
    link, found = _kept(token)
    rows = [row for row in found.rows if row[0] == pk]
    if not rows:
        raise Http404(f"run {pk} is not in this answer")
    return _listed(request, link, found, rows)


@require_GET
@user_passes_test(may_read)
def frozen_runs(request: HttpRequest, token: str) -> HttpResponse:
    """Runs as they were then: those that the address asks for by number or as a query does."""
    link, found = _kept(token)
    try:
        asked = Query.parse((name, text) for name, texts in request.GET.lists() for text in texts)
    except QueryError as error:
        raise Http404(error.message) from None
    return _listed(request, link, found, narrow_observations(asked, found).rows)


def _kept(token: str) -> tuple[FrozenLink, Observations]:
    link = _link(token)
    found = recorded_reads.find_observations(frozen_links.read_tape(link), frozen_links.RUNS)
    if found is None:
        raise Http404("there are no runs in this answer")
    return link, found


def _listed(request: HttpRequest, link: FrozenLink, found: Observations, rows: Sequence[Row]) -> HttpResponse:
    there = set(Run.objects.filter(pk__in=[row[0] for row in rows]).values_list("pk", flat=True))
    names = [*found.dimensions, *map(str, found.measures)]
    told = [at for at in range(len(names)) if any(row[at + 1] is not None for row in rows)]
    titles = [dimension(name).title for name in found.dimensions] + [measure_title(each) for each in found.measures]
    units = ["" for _ in found.dimensions] + [metrics.BY_NAME[each.metric].unit for each in found.measures]
    shown = rows[:MOST_LISTED]
    context: dict[str, Any] = {
        "link": link,
        "headings": [(titles[at], units[at], at >= len(found.dimensions)) for at in told],
        "rows": [(_living(row[0], there), [_cell(found, row, at) for at in told]) for row in shown],
        "number": len(rows),
        "more": len(rows) - len(shown),
    }
    return render(request, "web/frozen_runs.html", context)


def _living(number: int, there: set[int]) -> str:
    """Where a run is today; empty where it is gone."""
    return reverse("web:run", args=[number]) if number in there else ""


def _cell(found: Observations, row: Row, at: int) -> tuple[str, bool]:
    """A value in full, and whether it is a number."""
    value = row[at + 1]
    text = "–" if value is None else repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
    return text, at >= len(found.dimensions)
