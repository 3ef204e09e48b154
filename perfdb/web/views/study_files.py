"""A study's report to take away: one file that works without a server, and the same on paper."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from perfdb.results import access
from perfdb.results.models import Study
from perfdb.web import pdf
from perfdb.web.standalone import report_file
from perfdb.web.views.studies import contents


def _study(request: HttpRequest, slug: str) -> Study:
    return get_object_or_404(access.studies_for(request.user), slug=slug)


def _as_file(request: HttpRequest, study: Study) -> str:
    return report_file(study, contents(study, {}), request.build_absolute_uri("/"))


@require_GET
@user_passes_test(access.may_read)
def html_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The report as one file with its figures; a download, for the site's own policy forbids what it needs."""
    study = _study(request, slug)
    response = HttpResponse(_as_file(request, study))
    response["Content-Disposition"] = f'attachment; filename="{study.slug}.html"'
    return response


@require_GET
@user_passes_test(access.may_read)
def pdf_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The report as PDF; without a browser on the server, what to do instead."""
    study = _study(request, slug)
    try:
        printed = pdf.print_to_pdf(_as_file(request, study))
    except pdf.NoBrowserError:
        return render(request, "web/no_pdf.html", {"study": study}, status=501)
    except pdf.PrintingError as error:
        return render(request, "web/no_pdf.html", {"study": study, "said": str(error)}, status=500)
    response = HttpResponse(printed, content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{study.slug}.pdf"'
    return response
