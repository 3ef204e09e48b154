"""Views of the home page, the rules, and signing in."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import reselect, reswap, retarget

from perfdb.analysis import trends
from perfdb.results.models import Upload
from perfdb.results.runs import access
from perfdb.results.studies.load_document import enqueue_loading
from perfdb.web.home import overview
from perfdb.web.home.overview import build_live_comparison, suggest_comparison
from perfdb.web.home.rules_page import build_chapters, read_calibration, worst_rates
from perfdb.web.trends.event_lines import describe_quiet, newest_events
from perfdb.web.view_access import person_of, read_required, sign_in_required

_MOST_EVENTS = 5


@read_required()
def home(request: HttpRequest) -> HttpResponse:
    """Show a comparison, the studies, and the last uploads."""
    uploads, failed, studies = overview.read_uploads(), overview.read_failed_uploads(), overview.read_studies()
    visible = access.visible_studies(request.user)
    events = newest_events(visible, _MOST_EVENTS)
    context = {
        "uploads": uploads,
        "failed": failed,
        "busy": any(each.busy for each in uploads),
        "studies": studies,
        "totals": overview.describe_totals(),
        "mine": request.user.is_authenticated and Upload.objects.filter(owner=request.user).exists(),
        "comparison": suggest_comparison(studies),
        "live": build_live_comparison(studies),
        "events": events,
        "quiet": "" if events else describe_quiet(visible),
    }
    response = render(request, "web/home.html", context)
    if request.htmx and not context["busy"]:  # type: ignore[attr-defined] # set by django-htmx's middleware
        # What was watched is done: studies and runs are other ones now.
        return retarget(reselect(reswap(response, "outerHTML"), "#home"), "#home")
    return response


@sign_in_required()
def demonstration(request: HttpRequest) -> HttpResponse:
    """Load the demo and the published studies, for staff."""
    if not person_of(request).is_staff:
        raise PermissionDenied
    call_command("loaddemo", person=person_of(request).get_username())
    enqueue_loading()
    messages.success(request, "The demo and the published studies are loading.")
    return redirect("web:home")


@require_GET
def how(request: HttpRequest) -> HttpResponse:
    """Show the rules with their examples, to anybody."""
    of_trends = read_calibration(trends)
    context = {
        "chapters": build_chapters(),
        "calibration": read_calibration(),
        "trends": of_trends,
        "worst": worst_rates(of_trends),
    }
    return render(request, "web/how.html", context)


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the password form, or sign in; the page also explains sign-in links."""
    form = AuthenticationForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return redirect(_next(request))
    return _page(request, form)


@never_cache
@require_GET
def sign_in_by_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Sign in by a one-time link; signed-in users may open a used one."""
    user = access.use_sign_in_link(secret)
    if user is not None:
        login(request, user)
        return redirect(settings.LOGIN_REDIRECT_URL)
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    return _page(request, AuthenticationForm(request), link_refused=True, status=403)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect(settings.LOGOUT_REDIRECT_URL)


def _next(request: HttpRequest) -> str:
    """Return the address after signing in, on this site only."""
    address = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure()):
        return address
    return resolve_url(settings.LOGIN_REDIRECT_URL)


def _page(
    request: HttpRequest, form: AuthenticationForm, *, link_refused: bool = False, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "link_refused": link_refused,
        "reading_is_open": settings.PUBLIC_READ,
        "next": request.POST.get("next") or request.GET.get("next", ""),
    }
    return render(request, "web/sign_in.html", context, status=status)
