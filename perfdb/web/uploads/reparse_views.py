"""Preview and start of the re-import of stale runs."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from perfdb.results.changes import reparse as reparsing
from perfdb.results.changes.reparse import Scope
from perfdb.results.models import Job
from perfdb.web.view_access import person_of, read_required, sign_in_required

# So many runs are read again for one page of the preview.
SHOWN = 20
_OPEN = (Job.State.QUEUED, Job.State.RUNNING)


@require_http_methods(["GET", "POST"])
def reparse(request: HttpRequest) -> HttpResponse:
    """Preview the changes of stale runs; POST starts the re-import of all of them."""
    return _start(request) if request.method == "POST" else _show(request)


@read_required()
def _show(request: HttpRequest) -> HttpResponse:
    last = Job.objects.filter(kind=reparsing.KIND).order_by("-pk").first()
    working = last is not None and last.state in _OPEN
    runs = Scope().runs
    page = _page(request.GET.get("page", ""))
    first = (page - 1) * SHOWN
    # While runs are being changed, reading them here as well would only slow that down.
    reviews = [] if working else list(reparsing.review_runs(runs[first : first + SHOWN]))
    total = runs.count()
    context = {
        "stale": reparsing.count_stale_runs(),
        "total": total,
        "reviews": reviews,
        "first": first + 1,
        "last_shown": first + len(reviews),
        "previous": page - 1,
        "next": page + 1 if first + SHOWN < total else 0,
        "job": last,
        "working": working,
        "may_apply": request.user.is_authenticated and request.user.is_staff,
    }
    return render(request, "web/reparse.html", context)


def _page(text: str) -> int:
    """Return a page's number, by default the first."""
    return max(1, int(text)) if text.isdecimal() and text.isascii() and len(text) < 8 else 1


@sign_in_required()
def _start(request: HttpRequest) -> HttpResponse:
    if not person_of(request).is_staff:
        raise PermissionDenied
    if reparsing.enqueue_reparse(Scope(), person_of(request)) is None:
        messages.error(request, "Runs are being read again already.")
    return redirect("web:reparse")
