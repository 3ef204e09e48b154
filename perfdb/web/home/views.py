"""The start page: what is here, what is being brought in, and the one next step where nothing is."""

from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import reselect, reswap, retarget

from perfdb.results.models import Run
from perfdb.results.queries.run_list.pages import RUN_COLUMNS
from perfdb.results.queries.run_list.paging import Column, Ordering, read_page
from perfdb.results.runs.access import may_read, signed_in_user
from perfdb.results.studies.load_document import enqueue_loading
from perfdb.web.home import overview

NEWEST = 12
# Ids rise as runs are stored: when a run was measured says nothing of when it was brought in.
_ADDED_LAST = Ordering("-added", Column("id"), descending=True)
_COLUMNS = {**RUN_COLUMNS, "study_title": "study__title"}


@require_GET
@user_passes_test(may_read)
def home(request: HttpRequest) -> HttpResponse:
    """The studies, the runs added last, and the uploads that still need somebody or something."""
    kept = Run.objects.exclude(status=Run.Status.WITHDRAWN)
    newest = overview.Newest.of(read_page(kept, _COLUMNS, _ADDED_LAST, size=NEWEST).rows)
    uploads, studies = overview.uploads(), overview.studies()
    context = {
        "newest": newest,
        "uploads": uploads,
        "busy": any(each.busy for each in uploads),
        "studies": studies,
        "totals": overview.totals(),
    }
    response = render(request, "web/home.html", context)
    if request.htmx and not context["busy"]:  # type: ignore[attr-defined] # set by django-htmx's middleware
        # What was watched is done: studies and runs are other ones now.
        return retarget(reselect(reswap(response, "outerHTML"), "#home"), "#home")
    return response


@require_POST
@user_passes_test(may_read)
def demonstration(request: HttpRequest) -> HttpResponse:
    """Bring in the demonstration and the published studies, for staff."""
    if not signed_in_user(request.user).is_staff:
        raise PermissionDenied
    call_command("loaddemo", person=signed_in_user(request.user).get_username())
    enqueue_loading()
    messages.success(request, "The demonstration and the published studies are on their way.")
    return redirect("web:home")
