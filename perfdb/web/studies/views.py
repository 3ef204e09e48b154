"""Views of the list of studies, and of one study."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from perfdb.analysis.insights import plan_coverage
from perfdb.analysis.insights.plan_coverage import Part
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError, value_order
from perfdb.analysis.query.query import DELTA, Query
from perfdb.analysis.tables.observations import narrow_observations
from perfdb.results.models import Disagreement, ReportItem, Study, StudyActivity
from perfdb.results.queries.answers import answer_query
from perfdb.results.runs import access
from perfdb.results.studies.report_items import count_runs
from perfdb.results.studies.study_details import parse_plan
from perfdb.web.home.overview import read_names
from perfdb.web.reports import audit_page
from perfdb.web.reports.report_page import build_report
from perfdb.web.studies import coverage_matrix, study_contents
from perfdb.web.studies.coverage_matrix import observed
from perfdb.web.studies.study_contents import MOST_WORKLOADS, answer_study, first_charts
from perfdb.web.tables import table_grids
from perfdb.web.trends.event_lines import newest_events
from perfdb.web.view_access import get_study, read_required

# The list only says what was measured at all, whatever difference is to be decided.
_ANY = 0.02
_MOST_EVENTS = 3
# A study's texts are long, and not shown here.
_SHOWN = ("slug", "title", "source", "plan", "document_digest", "owner__username")


def _listed(user: User | AnonymousUser) -> list[dict[str, Any]]:
    """Return the studies that a visitor may see, published ones first. ``plan``: "12 of 50 measured", or "".

    The number of SQL queries does not depend on the number of studies.
    """
    studies = list(access.visible_studies(user).only(*_SHOWN))
    # Triggers keep the number: there may be a million runs.
    runs = dict(StudyActivity.objects.values_list("study", "runs"))
    wrong = dict(Disagreement.objects.order_by().values_list("run__study").annotate(number=Count("pk")))
    counted = ReportItem.objects.order_by().values_list("study", "kind").annotate(number=Count("pk"))
    items = {(study, kind): number for study, kind, number in counted}
    plans, names = _plans(studies), read_names(studies)
    studies.sort(key=lambda each: (not each.source, each.title.casefold()))
    return [
        {
            "study": each,
            "devices": sorted(names[each.pk, "device"], key=value_order),
            "workloads": sorted(names[each.pk, "workload"], key=value_order),
            "runs": runs.get(each.pk, 0),
            "tables": items.get((each.pk, ReportItem.Kind.TABLE), 0),
            "figures": items.get((each.pk, ReportItem.Kind.FIGURE), 0),
            "wrong": wrong.get(each.pk, 0),
            "plan": plans.get(each.pk, ""),
        }
        for each in studies
    ]


def _plans(studies: Sequence[Study]) -> Mapping[int, str]:
    """Return each study's plan coverage in words, reading all runs at once."""
    parts: dict[int, list[Part]] = {}
    said: dict[int, str] = {}
    for study in studies:
        try:
            parts |= {study.pk: parse_plan(study.plan)} if study.plan else {}
        except QueryError:
            said[study.pk] = "not understood"
    if not parts:
        return said
    named = {study.pk: study.slug for study in studies if study.pk in parts}
    found = observed(list(named.values()), [part for each in parts.values() for part in each])
    for pk, slug in named.items():
        of_study = narrow_observations(Query(filters={"study": (slug,)}), found)
        covered = plan_coverage.coverage(parts[pk], of_study, _ANY)
        planned, measured = sum(each.part.size for each in covered), sum(each.measured for each in covered)
        said[pk] = f"{measured} of {planned} measured"
    return said


@read_required()
def studies(request: HttpRequest) -> HttpResponse:
    """Show all studies, published ones first."""
    found = _listed(request.user)
    published = sum(bool(each["study"].source) for each in found)
    context = {
        "studies": found,
        "published": published,
        "own": len(found) - published,
        "runs": sum(each["runs"] for each in found),
        "wrong": sum(each["wrong"] for each in found),
    }
    return render(request, "web/studies.html", context)


@read_required()
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a study's report, or charts of its runs if there is none.

    ``severity`` filters the audit; ``delta`` is the difference that the test plan has to decide.
    """
    found = get_study(request, slug)
    try:
        context = contents(found, request.GET, fetched=True)
    except QueryError as error:
        context = {"study": found, "error": error}
        return render(request, "web/study.html", context, status=400)
    own = {
        "may_change": access.may_change(request.user, found),
        "saved": found.saved_queries.all(),
        "events": newest_events(Study.objects.filter(pk=found.pk), _MOST_EVENTS),
    }
    return render(request, "web/study.html", context | own)


def contents(study: Study, asked: Mapping[str, str], *, fetched: bool = False) -> dict[str, Any]:
    """Return the template context of a study. Raise QueryError.

    ``asked`` may have ``delta`` and ``severity``. ``fetched``: the page fetches the charts of a study without a report
    when they come into sight; files have them inside.
    """
    delta = parameters.parse_percentage("delta", asked.get("delta", "").strip(), DELTA)
    severity = parameters.parse_choice(
        audit_page.Severity, "severity", asked.get("severity", "").strip(), audit_page.ANY
    )
    wrong = audit_page.read_disagreements(study)
    runs = count_runs(study)
    context = {
        "study": study,
        "runs": runs,
        "subjects": study_contents.subjects(study),
        "workloads": study_contents.workloads(study),
        "audit": audit_page.build_audit(wrong, severity),
        "delta": delta,
        **_plan(study, delta),
    }
    if study.report_items.exists():
        return context | {"report": build_report(study, wrong, runs)}
    devices = dict(context["subjects"]).get("Devices", ())
    context["answer"] = answer_study(study, context["workloads"], len(devices))
    if fetched:
        return context | {"first": first_charts(study, context["workloads"])}
    return context | _charts(context["workloads"])


def _plan(study: Study, delta: float) -> dict[str, Any]:
    """Return the coverage of a study's plan, or the error of an invalid plan."""
    if not study.plan:
        return {}
    try:
        return {"coverage": coverage_matrix.covered(study, parse_plan(study.plan), delta)}
    except QueryError as error:
        return {"plan_error": error}


def _charts(workloads: list[study_contents.WorkloadLinks]) -> dict[str, Any]:
    """Return the answered first questions of a study without a report."""
    shown = workloads[:MOST_WORKLOADS]
    answered = [table for each in shown for table in answer_query(each.query)[1]]
    panels = [panel for group in table_grids.build_panels(answered) for panel in group]
    return {"panels": [panel for panel in panels if panel.figure]}
