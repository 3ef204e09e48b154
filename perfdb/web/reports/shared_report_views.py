"""A study's report by its published address: read-only, without signing in, and nothing else of the instance."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from perfdb.results.models import ReportItem, Study
from perfdb.results.studies.report_answers import FORMS, answer_item, render_json
from perfdb.web.bundles.standalone_page import report_file
from perfdb.web.reports.report_file_views import as_pdf
from perfdb.web.reports.shared_report import closed
from perfdb.web.studies.views import contents

_FORMS = {**FORMS, "json": (render_json, "application/json")}

_View = Callable[..., HttpResponse]


def _of_token(view: _View) -> _View:
    """A view of the study that an address is of; nobody finds it, remembers it or hears of it from a browser."""

    @wraps(view)
    def shown(request: HttpRequest, token: str, **rest: str) -> HttpResponse:
        response = view(request, get_object_or_404(Study, share_token=token), **rest)
        response["X-Robots-Tag"] = "noindex, nofollow"
        response["Referrer-Policy"] = "no-referrer"
        response["Cache-Control"] = "private, no-store"
        return response

    return require_http_methods(["GET", "HEAD", "POST"])(shown)


@_of_token
def shared(request: HttpRequest, study: Study) -> HttpResponse:
    """The report as a page."""
    token = str(study.share_token)
    body = render_to_string("web/parts/report.html", contents(study, {}) | {"file": True, "token": token})
    context = {"study": study, "token": token, "now": timezone.now(), "body": closed(body, study, token)}
    return render(request, "web/shared.html", context)


@_of_token
def shared_file(request: HttpRequest, study: Study) -> HttpResponse:
    """The report as one file, with its links as they are on the page."""
    file = report_file(study, contents(study, {}), request.build_absolute_uri("/"), str(study.share_token))
    return HttpResponse(file, headers={"Content-Disposition": f'attachment; filename="{study.slug}.html"'})


@_of_token
def shared_table(request: HttpRequest, study: Study, number: str, form: str) -> HttpResponse:
    """A table of the report in one of the forms."""
    if form not in _FORMS:
        raise Http404(f"no tables as {form}")
    item = get_object_or_404(ReportItem, study=study, kind=ReportItem.Kind.TABLE, number=number)
    write, media_type = _FORMS[form]
    return HttpResponse(write(answer_item(item).tables), f"{media_type}; charset=utf-8")


@_of_token
def shared_pdf(request: HttpRequest, study: Study) -> HttpResponse:
    """The report as PDF, once it is printed."""
    return as_pdf(request, study, str(study.share_token))
