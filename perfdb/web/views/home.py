"""The start page: what is here, and the one next step where nothing is."""

from django.contrib.auth.decorators import user_passes_test
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from perfdb.results.access import may_read
from perfdb.results.models import Run, Study, Upload
from perfdb.results.querysets import run_page
from perfdb.web import listing

NEWEST = 12


@require_GET
@user_passes_test(may_read)
def home(request: HttpRequest) -> HttpResponse:
    """Newest runs, uploads that still need somebody, and the studies with how many runs they have."""
    kept = Run.objects.exclude(status=Run.Status.WITHDRAWN)
    counts = dict(kept.order_by().values_list("study").annotate(number=Count("pk")))
    studies = [(study, counts.get(study.pk, 0)) for study in Study.objects.order_by("title")]
    waiting = Upload.objects.exclude(state__in=Upload.SETTLED - {Upload.State.PREVIEW})
    context = {
        "rows": run_page(kept, size=NEWEST).rows,
        "headings": listing.fixed_headings(),
        "uploads": waiting.select_related("study", "owner").order_by("-created", "-id")[:NEWEST],
        "studies": [(study, number) for study, number in studies if number],
    }
    return render(request, "web/home.html", context)
