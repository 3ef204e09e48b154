"""The start page: what is here, and the one next step where nothing is."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import user_passes_test
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from perfdb.analysis.parameters import ordered
from perfdb.analysis.query import Query
from perfdb.results.access import may_read
from perfdb.results.models import Experiment, Run, Study, Upload
from perfdb.results.paging import Column, Ordering, page
from perfdb.results.querysets import RUN_COLUMNS
from perfdb.web import listing, questions

NEWEST = 12
# Ids rise as runs are stored: when a run was measured says nothing of when it was brought in.
_ADDED_LAST = Ordering("-added", Column.integer("id"), descending=True)


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study, how many runs it has, and its first questions: (workload, address of the charts, of the maximum)."""

    study: Study
    runs: int
    workloads: list[tuple[str, str, str]]


@require_GET
@user_passes_test(may_read)
def home(request: HttpRequest) -> HttpResponse:
    """The runs added last, uploads that still need somebody, and the studies with how many runs they have."""
    kept = Run.objects.exclude(status=Run.Status.WITHDRAWN)
    waiting = Upload.objects.exclude(state__in=Upload.SETTLED - {Upload.State.PREVIEW})
    context = {
        "rows": page(kept, RUN_COLUMNS, _ADDED_LAST, size=NEWEST).rows,
        "headings": listing.fixed_headings(),
        "uploads": waiting.select_related("study", "owner").order_by("-created", "-id")[:NEWEST],
        "studies": _studies(),
    }
    return render(request, "web/home.html", context)


def _studies() -> list[StudyLine]:
    """The studies that have runs, by title."""
    kept = Run.objects.exclude(status=Run.Status.WITHDRAWN)
    counts = dict(kept.order_by().values_list("study").annotate(number=Count("pk")))
    named = Experiment.objects.exclude(workload=None).order_by().values_list("study")
    workloads = dict(named.annotate(names=ArrayAgg("workload__name", distinct=True)))
    studies = Study.objects.filter(pk__in=counts).order_by("title")
    return [
        StudyLine(study, counts[study.pk], _first_questions(study, workloads.get(study.pk, []))) for study in studies
    ]


def _first_questions(study: Study, workloads: Sequence[str]) -> list[tuple[str, str, str]]:
    charts, maximum = reverse("web:charts"), reverse("web:maximum")
    about = Query().with_filter("study", study.slug)
    return [
        (
            name,
            f"{charts}?{questions.for_workload(name).with_filter('study', study.slug).encode()}",
            f"{maximum}?{about.with_filter('workload', name).encode()}",
        )
        for name in sorted(workloads, key=ordered)
    ]
