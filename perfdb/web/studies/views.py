"""The list of studies: for each what it holds, how much of it does not follow, and how far its plan is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import user_passes_test
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from perfdb.analysis.insights import plan_coverage
from perfdb.analysis.insights.plan_coverage import Part
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import DELTA, Query
from perfdb.analysis.tables.observations import narrow_observations
from perfdb.results.models import Disagreement, ReportItem, Study, StudyActivity
from perfdb.results.queries.answers import answer_query
from perfdb.results.runs import access
from perfdb.results.studies.report_items import count_runs
from perfdb.results.studies.study_plan import parse_plan
from perfdb.web.reports import audit_page
from perfdb.web.reports.report_page import report
from perfdb.web.studies import coverage_matrix, study_contents
from perfdb.web.studies.coverage_matrix import observed
from perfdb.web.studies.study_contents import MOST_WORKLOADS, first_charts
from perfdb.web.tables import table_grids

# The list only says what was measured at all, whatever difference is to be decided.
_ANY = 0.02
# A study's texts are long, and not shown here.
_SHOWN = ("slug", "title", "source", "plan", "document_digest", "owner__username")


@dataclass(frozen=True, slots=True)
class Listed:
    """A study with its counts; ``plan`` is "12 of 50 experiments" and the like, empty without a plan."""

    study: Study
    runs: int
    tables: int
    figures: int
    wrong: int
    plan: str


def listed(user: User | AnonymousUser) -> list[Listed]:
    """All studies that a visitor can mean, published ones first; as many SQL queries for one as for a hundred."""
    studies = list(access.visible_studies(user).only(*_SHOWN))
    # Triggers keep the number: there may be a million runs.
    runs = dict(StudyActivity.objects.values_list("study", "runs"))
    wrong = dict(Disagreement.objects.order_by().values_list("run__study").annotate(number=Count("pk")))
    counted = ReportItem.objects.order_by().values_list("study", "kind").annotate(number=Count("pk"))
    items = {(study, kind): number for study, kind, number in counted}
    plans = _plans(studies)
    studies.sort(key=lambda each: (not each.source, each.title.casefold()))
    return [
        Listed(
            each,
            runs.get(each.pk, 0),
            items.get((each.pk, ReportItem.Kind.TABLE), 0),
            items.get((each.pk, ReportItem.Kind.FIGURE), 0),
            wrong.get(each.pk, 0),
            plans.get(each.pk, ""),
        )
        for each in studies
    ]


def _plans(studies: Sequence[Study]) -> Mapping[int, str]:
    """How far each plan is; the runs of all of them are read together."""
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
    published = {study.pk for study in studies if study.document_digest}
    found = observed(list(named.values()), [part for each in parts.values() for part in each])
    for pk, slug in named.items():
        of_study = narrow_observations(Query(filters={"study": (slug,)}), found)
        covered = plan_coverage.coverage(parts[pk], of_study, _ANY)
        planned, measured = sum(each.part.size for each in covered), sum(each.measured for each in covered)
        said[pk] = _far(measured, planned, published=pk in published)
    return said


def _far(measured: int, planned: int, *, published: bool) -> str:
    """How far a plan is; a document's is done, and only some of its figures may be here."""
    if published:
        return f"figures of {measured or 'none'} of {planned} experiments"
    return f"{measured} of {planned} experiments"


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
    panels = [panel for group in table_grids.build_panels(answered) for panel in group]
    return {"panels": [panel for panel in panels if panel.figure]}
