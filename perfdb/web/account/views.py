"""Signing in by a one-time link or by a password, and signing out."""

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from perfdb.results.runs import access


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The form for people with a password, and where to find a link for all others."""
    form = AuthenticationForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return redirect(_next(request))
    return _page(request, form)


@never_cache
@require_GET
def sign_in_by_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Sign in by a one-time link; who is signed in already may open a used one again."""
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
    """Where to go after signing in: an address of this site, else the start page."""
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
