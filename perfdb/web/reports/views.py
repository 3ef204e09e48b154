"""Views of a report as a file, as PDF, and at its public address."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import user_passes_test
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from perfdb.results.models import ReportItem, Study
from perfdb.results.runs import access
from perfdb.results.studies.report_answers import FORMS, answer_item, render_json
from perfdb.web.reports import report_pdf
from perfdb.web.reports.standalone_page import closed, report_file
from perfdb.web.studies.views import contents


def _study(request: HttpRequest, slug: str) -> Study:
    return get_object_or_404(access.visible_studies(request.user), slug=slug)


@require_GET
@user_passes_test(access.may_read)
def html_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the report as one downloaded file with its charts."""
    study = _study(request, slug)
    response = HttpResponse(report_file(study, contents(study, {}), request.build_absolute_uri("/")))
    response["Content-Disposition"] = f'attachment; filename="{study.slug}.html"'
    return response


@require_http_methods(["GET", "POST"])
@user_passes_test(access.may_read)
def pdf_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the report as PDF; a POST retries a failed print."""
    return as_pdf(request, _study(request, slug))


def as_pdf(request: HttpRequest, study: Study, token: str = "") -> HttpResponse:
    """Return the PDF, or 202 while printing, 501 without browser, 500 on failure.

    With ``look`` in the address the answer is always a page, for a waiting script.
    """
    server = request.build_absolute_uri("/")
    if request.method == "POST":
        report_pdf.ask(study, server, token, again=True)
        return redirect(request.path)
    job = report_pdf.ask(study, server, token)
    context = {"study": study, "token": token, "job": job}
    said = report_pdf.failure(job)
    if said is not None:
        return render(
            request, "web/printing.html", context | {"failed": True, "said": said}, status=500 if said else 501
        )
    if job.finished is None:
        return render(request, "web/printing.html", context, status=202)
    if "look" in request.GET:
        return render(request, "web/printing.html", context | {"ready": True})
    content = report_pdf.printed(job)
    if content is None:
        # Somebody has cleaned up: it is printed once more.
        job.delete()
        return redirect(request.path)
    response = HttpResponse(content, content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{study.slug}.pdf"'
    return response


_FORMS = {**FORMS, "json": (render_json, "application/json")}

_View = Callable[..., HttpResponse]


def _of_token(view: _View) -> _View:
    """Wrap a view of a shared study, without caching, indexing or referrer."""

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
    """Show the report as a page."""
    token = str(study.share_token)
    body = render_to_string("web/parts/report.html", contents(study, {}) | {"file": True, "token": token})
    context = {"study": study, "token": token, "now": timezone.now(), "body": closed(body, study, token)}
    return render(request, "web/shared.html", context)


@_of_token
def shared_file(request: HttpRequest, study: Study) -> HttpResponse:
    """Return the report as one file, with its links as on the page."""
    file = report_file(study, contents(study, {}), request.build_absolute_uri("/"), str(study.share_token))
    return HttpResponse(file, headers={"Content-Disposition": f'attachment; filename="{study.slug}.html"'})


@_of_token
def shared_table(request: HttpRequest, study: Study, number: str, form: str) -> HttpResponse:
    """Return a table of the report in another format."""
    if form not in _FORMS:
        raise Http404(f"no tables as {form}")
    item = get_object_or_404(ReportItem, study=study, kind=ReportItem.Kind.TABLE, number=number)
    write, media_type = _FORMS[form]
    return HttpResponse(write(answer_item(item).tables), f"{media_type}; charset=utf-8")


@_of_token
def shared_pdf(request: HttpRequest, study: Study) -> HttpResponse:
    """Return the report as PDF, once printed."""
    return as_pdf(request, study, str(study.share_token))
