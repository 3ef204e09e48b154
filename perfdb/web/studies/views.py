"""The list of studies, and a study as a published page."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import DELTA
from perfdb.results.models import Study
from perfdb.results.queries.answers import answer_query
from perfdb.results.runs import access
from perfdb.results.studies.report_items import count_runs
from perfdb.results.studies.study_plan import parse_plan
from perfdb.web.reports import audit_page
from perfdb.web.reports.report_page import report
from perfdb.web.studies import coverage_matrix, study_contents
from perfdb.web.studies.first_charts import MOST_WORKLOADS, first_charts
from perfdb.web.studies.study_list import listed
from perfdb.web.tables import table_grids


@require_GET
@user_passes_test(access.may_read)
def studies(request: HttpRequest) -> HttpResponse:
    """All studies, published ones first."""
    return render(request, "web/studies.html", {"studies": listed(request.user)})


@require_GET
@user_passes_test(access.may_read)
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """A study's report, or what its runs say where it has none; ``severity`` and ``delta`` narrow two of its parts."""
    found = get_object_or_404(access.visible_studies(request.user), slug=slug)
    try:
        context = contents(found, request.GET, fetched=True)
    except QueryError as error:
        context = {"study": found, "error": error}
        return render(request, "web/study.html", context, status=400)
    own = {"may_change": access.may_change(request.user, found), "saved": found.saved_queries.all()}
    return render(request, "web/study.html", context | own)


def contents(study: Study, asked: Mapping[str, str], *, fetched: bool = False) -> dict[str, Any]:
    """All that the page of a study shows; ``asked`` may hold ``delta`` and ``severity``. Raises QueryError.

    ``fetched``: the page fetches the charts of a study without a report when somebody is about to see them. A page
    for people who cannot ask for them has them inside.
    """
    delta = parameters.parse_percentage("delta", asked.get("delta", "").strip(), DELTA)
    severity = parameters.parse_choice(
        audit_page.Severity, "severity", asked.get("severity", "").strip(), audit_page.ANY
    )
    wrong = audit_page.disagreements(study)
    runs = count_runs(study)
    context = {
        "study": study,
        "runs": runs,
        "subjects": study_contents.subjects(study),
        "workloads": study_contents.workloads(study),
        "audit": audit_page.audited(wrong, severity),
        "delta": delta,
        **_plan(study, delta),
    }
    if study.report_items.exists():
        return context | {"report": report(study, wrong, runs)}
    if fetched:
        return context | {"first": first_charts(study, context["workloads"])}
    return context | _charts(context["workloads"])


def _plan(study: Study, delta: float) -> dict[str, Any]:
    """The coverage of a plan; a plan that is not understood is said, and the rest of the page is there."""
    if not study.plan:
        return {}
    try:
        return {"coverage": coverage_matrix.covered(study, parse_plan(study.plan), delta)}
    except QueryError as error:
        return {"plan_error": error}


def _charts(workloads: list[study_contents.WorkloadLinks]) -> dict[str, Any]:
    """The first questions about a study that has no report, with their answers."""
    shown = workloads[:MOST_WORKLOADS]
    answered = [table for each in shown for table in answer_query(each.query)[1]]
    panels = [panel for group in table_grids.panels(answered) for panel in group]
    return {"panels": [panel for panel in panels if panel.figure]}
