"""Offline copies of a study's report, a question's answer, or a list of runs."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import mark_safe

from perfdb.analysis.dimensions import display_value
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.bundles import make_bundle
from perfdb.results.bundles.make_bundle import Bundle
from perfdb.results.models import Page, Study
from perfdb.results.queries.questions import Question, answer_question
from perfdb.results.queries.run_list import columns, export
from perfdb.results.queries.run_list.filters import choose_runs
from perfdb.web.compare.workload_answers import EVERY
from perfdb.web.links import to_question
from perfdb.web.questions import question_links
from perfdb.web.reports.standalone_page import render_file, render_report_file
from perfdb.web.studies.views import contents
from perfdb.web.tables import answer_section
from perfdb.web.view_access import get_study, read_required

RUNS = "runs"
PAGES = (*Page.values, RUNS)
# Streamed formats without a limit.
_FILES = (("csv", "CSV"), ("parquet", "Parquet"), ("json", "JSON"))


def _alternatives(asked: QueryDict, error: QueryError) -> dict[str, Any] | None:
    """Return alternatives to a bundle that is too large; None for an invalid question.

    ``studies``: bundles of single studies; ``back``: the page, to filter; ``tables``: tables without limit.
    """
    page = str(asked.get("page", ""))
    if page not in PAGES or error.parameter not in ("", "study"):
        return None
    rest = asked.copy()
    rest.pop("page")
    studies = []
    for slug in error.known:
        one = asked.copy()
        one["study"] = slug
        studies.append((str(display_value("study", slug)), f"{reverse('web:bundle')}?{one.urlencode()}"))
    tables = link_run_files(rest.urlencode()) if page == RUNS else []
    return {"studies": studies, "back": f"{reverse(f'web:{page}')}?{rest.urlencode()}", "tables": tables}


def link_run_files(asked: str) -> list[tuple[str, str]]:
    """Return (title, address) of the listed runs as files."""
    return [(title, f"/api/v1/runs.{form}?{asked}") for form, title in _FILES]


def render_study_page(study: Study, server: str) -> str:
    """Return a study's report as an HTML file. Raise QueryError."""
    return render_report_file(study, contents(study, {}), server)


def bundle_question(request: HttpRequest, asked: QueryDict) -> tuple[Bundle, str]:
    """Return the bundle of a page's runs, and the page as HTML. Raise QueryError."""
    data = asked.copy()
    page = str(data.pop("page", [Page.CHARTS])[-1])
    if page not in PAGES:
        raise QueryError("page", f"there is no page {page!r} whose runs make a bundle", PAGES)
    server = request.build_absolute_uri("/")
    if page == RUNS:
        return _of_list(data, server)
    return _of_answer(request, Question.parse(page, data.urlencode()), server)


def _of_answer(request: HttpRequest, question: Question, server: str) -> tuple[Bundle, str]:
    found = answer_question(question)
    context = answer_section.build_result(question, found, EVERY) | {"frozen": True}
    rendered = render_to_string(f"web/{question.page}.html", context, request)
    # The part that the page swaps.
    result = rendered[rendered.index('<section id="result"') : rendered.rindex("</main>")]
    address = to_question(question)
    runs = {point.run for table in found.tables for cell in table.cells.values() for point in cell.sample}
    bundle = make_bundle.bundle_runs(runs, f"page={question.page}&{question.encode()}")
    return bundle, render_file(
        question_links.question_title(question), bundle.study.title, mark_safe(result), server, address
    )


def _of_list(data: QueryDict, server: str) -> tuple[Bundle, str]:
    """Bundle the runs with the numbers ``pk``, or all of a list."""
    shown = columns.parse_columns(data.getlist("columns"))
    data.pop("columns", None)
    numbers = data.pop("pk", [])
    runs = choose_runs(numbers, None if numbers else data.urlencode())
    asked = urlencode({"pk": numbers}, doseq=True) if numbers else data.urlencode()
    # One more than a bundle may have is enough to refuse.
    chosen = list(runs.order_by().values_list("pk", flat=True)[: make_bundle.MAX_RUNS + 1])
    bundle = make_bundle.bundle_runs(chosen, f"page={RUNS}&{asked}")
    rows = [row for chunk in export.read_chunks(bundle.runs, shown) for row in chunk]
    titles = ["Run", "Status", *(each.title for each in shown if each.name in export.name_columns(shown)[3:])]
    listed = [(reverse("web:run", args=[row[0]]), row[1], row[2:]) for row in rows]
    body = render_to_string("web/parts/bundle_runs.html", {"titles": titles, "rows": listed})
    address = f"{reverse('web:runs')}?{data.urlencode()}"
    return bundle, render_file(f"{len(rows)} runs", bundle.study.title, body, server, address)


@read_required()
def study_bundle(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download a study with all of its runs."""
    study = get_study(request, slug)
    try:
        found = make_bundle.bundle_study(study)
        page = render_study_page(study, request.build_absolute_uri("/"))
    except QueryError as error:
        ways = {"back": reverse("web:study", args=[slug]), "tables": link_run_files(f"study={slug}")}
        return _refused(request, error, ways)
    return _sent(request, found, page)


@read_required()
def question_bundle(request: HttpRequest) -> HttpResponseBase:
    """Download the runs of a page: charts, compare, maximum or runs."""
    try:
        found, page = bundle_question(request, request.GET)
    except QueryError as error:
        return _refused(request, error, _alternatives(request.GET, error))
    return _sent(request, found, page)


def _refused(request: HttpRequest, error: QueryError, ways: dict[str, Any] | None) -> HttpResponse:
    return render(request, "web/bundle.html", {"error": error, "ways": ways}, status=400)


def _sent(request: HttpRequest, found: Bundle, page: str) -> HttpResponseBase:
    headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
    content = make_bundle.write_bundle(found, page, request.build_absolute_uri("/"))
    return StreamingHttpResponse(content, "application/zip", headers=headers)
