"""A study's report as HTML file, as PDF, and at its published address."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from perfdb.results.models import ReportItem, Study
from perfdb.results.studies.report_answers import FORMS, answer_item, render_json
from perfdb.web.reports import report_pdf
from perfdb.web.reports.standalone_page import close_links, render_report_file
from perfdb.web.studies.views import contents
from perfdb.web.view_access import get_study, read_required


@read_required()
def html_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the report as one file; the site's policy forbids showing it."""
    study = get_study(request, slug)
    response = HttpResponse(render_report_file(study, contents(study, {}), request.build_absolute_uri("/")))
    response["Content-Disposition"] = f'attachment; filename="{study.slug}.html"'
    return response


@read_required("GET", "POST")
def pdf_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the report as PDF once printed; POST retries after a failure."""
    return respond_pdf(request, get_study(request, slug))


def respond_pdf(request: HttpRequest, study: Study, token: str = "") -> HttpResponse:
    """Return the PDF, or a page about its state.

    The status is 202 while a worker prints, 501 without a browser, and 500 after a failure. With ``look`` in the
    address, always return a page, for a script that waits.
    """
    server = request.build_absolute_uri("/")
    if request.method == "POST":
        report_pdf.request_pdf(study, server, token, again=True)
        return redirect(request.path)
    job = report_pdf.request_pdf(study, server, token)
    context = {"study": study, "token": token, "job": job}
    said = report_pdf.failure_reason(job)
    if said is not None:
        return render(
            request, "web/printing.html", context | {"failed": True, "failure": said}, status=500 if said else 501
        )
    if job.finished is None:
        return render(request, "web/printing.html", context, status=202)
    if "look" in request.GET:
        return render(request, "web/printing.html", context | {"ready": True})
    content = report_pdf.read_pdf(job)
    if content is None:
        # The file was deleted: print again.
        job.delete()
        return redirect(request.path)
    response = HttpResponse(content, content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{study.slug}.pdf"'
    return response


_FORMS = {**FORMS, "json": (render_json, "application/json")}

_View = Callable[..., HttpResponse]


def _published(view: _View) -> _View:
    """Look up the study of a published address; forbid indexing, referrers and caching."""

    @wraps(view)
    def wrapped(request: HttpRequest, token: str, **rest: str) -> HttpResponse:
        response = view(request, get_object_or_404(Study, share_token=token), **rest)
        response["X-Robots-Tag"] = "noindex, nofollow"
        response["Referrer-Policy"] = "no-referrer"
        response["Cache-Control"] = "private, no-store"
        return response

    return require_http_methods(["GET", "HEAD", "POST"])(wrapped)


@_published
def shared(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a published report."""
    token = str(study.share_token)
    body = render_to_string("web/parts/report.html", contents(study, {}) | {"file": True, "token": token})
    context = {"study": study, "token": token, "now": timezone.now(), "body": close_links(body, study, token)}
    return render(request, "web/shared.html", context)


@_published
def shared_file(request: HttpRequest, study: Study) -> HttpResponse:
    """Download a published report as one file."""
    file = render_report_file(study, contents(study, {}), request.build_absolute_uri("/"), str(study.share_token))
    return HttpResponse(file, headers={"Content-Disposition": f'attachment; filename="{study.slug}.html"'})


@_published
def shared_table(request: HttpRequest, study: Study, number: str, form: str) -> HttpResponse:
    """Return a table of a published report."""
    if form not in _FORMS:
        raise Http404(f"no tables as {form}")
    item = get_object_or_404(ReportItem, study=study, kind=ReportItem.Kind.TABLE, number=number)
    write, media_type = _FORMS[form]
    return HttpResponse(write(answer_item(item).tables), f"{media_type}; charset=utf-8")


@_published
def shared_pdf(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a published report as PDF."""
    return respond_pdf(request, study, str(study.share_token))
