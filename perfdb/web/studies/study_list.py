"""The list of studies: for each what it holds, how much of it does not follow, and how far its plan is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count

from perfdb.analysis.insights import plan_coverage
from perfdb.analysis.insights.plan_coverage import Part
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import narrow_observations
from perfdb.results.models import Disagreement, ReportItem, Study, StudyActivity
from perfdb.results.runs import access
from perfdb.results.studies.study_plan import parse_plan
from perfdb.web.studies.coverage_matrix import observed

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
