"""Offline bundles to take away: of a study, and of the runs behind a question or a list."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.bundles import make_bundle
from perfdb.results.bundles.make_bundle import Bundle
from perfdb.results.runs import access
from perfdb.web.bundles import bundle_page as pages


@require_GET
@user_passes_test(access.may_read)
def study_bundle(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A study with all its runs."""
    study = get_object_or_404(access.visible_studies(request.user), slug=slug)
    try:
        found = make_bundle.bundle_study(study)
        page = pages.study_page(study, request.build_absolute_uri("/"))
    except QueryError as error:
        ways = pages.WaysOut([], reverse("web:study", args=[slug]), pages.tables_of(f"study={slug}"))
        return _refused(request, error, ways)
    return _sent(request, found, page)


@require_GET
@user_passes_test(access.may_read)
def question_bundle(request: HttpRequest) -> HttpResponseBase:
    """The runs that the page ``page`` shows for the rest of the address: charts, compare, maximum or runs."""
    try:
        found, page = pages.of_question(request, request.GET)
    except QueryError as error:
        return _refused(request, error, pages.ways_out(request.GET, error))
    return _sent(request, found, page)


def _refused(request: HttpRequest, error: QueryError, ways: pages.WaysOut | None = None) -> HttpResponse:
    return render(request, "web/bundle.html", {"error": error, "ways": ways}, status=400)


def _sent(request: HttpRequest, found: Bundle, page: str) -> HttpResponseBase:
    headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
    content = make_bundle.write_bundle(found, page, request.build_absolute_uri("/"))
    return StreamingHttpResponse(content, "application/zip", headers=headers)
