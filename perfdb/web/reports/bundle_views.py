"""Views of offline bundles: a report, an answer, or runs, as one file."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlencode

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from perfdb.analysis.dimensions import display_value
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.bundles import make_bundle
from perfdb.results.bundles.make_bundle import Bundle
from perfdb.results.models import Page, Study
from perfdb.results.queries.questions import Answer, Question, answer_question
from perfdb.results.queries.run_list import columns, export
from perfdb.results.queries.run_list.filters import choose_runs
from perfdb.results.runs import access
from perfdb.web.links import to_question
from perfdb.web.questions import question_links
from perfdb.web.reports.standalone_page import as_file, report_file
from perfdb.web.studies.views import contents
from perfdb.web.tables import answer_section

RUNS = "runs"
PAGES = (*Page.values, RUNS)
# How many runs these hold is nobody's concern: they are written as they are read.
_FILES = (("csv", "CSV"), ("parquet", "Parquet"), ("json", "JSON"))


@dataclass(frozen=True, slots=True)
class WaysOut:
    """Alternatives to an impossible bundle: bundles of studies, a narrower page, tables.

    ``studies`` and ``tables`` are (title, address).
    """

    studies: list[tuple[str, str]]
    back: str
    tables: list[tuple[str, str]]


def ways_out(asked: QueryDict, error: QueryError) -> WaysOut | None:
    """Return the alternatives for a question; None if it is invalid."""
    page = str(asked.get("page", ""))
    if page not in PAGES or error.parameter not in ("", "study"):
        return None
    rest = asked.copy()
    rest.pop("page")
    studies = [(str(display_value("study", slug)), _of_study(asked, slug)) for slug in error.known]
    tables = tables_of(rest.urlencode()) if page == RUNS else []
    return WaysOut(studies, f"{reverse(f'web:{page}')}?{rest.urlencode()}", tables)


def tables_of(asked: str) -> list[tuple[str, str]]:
    """Return the addresses of all listed runs as files."""
    return [(title, f"/api/v1/runs.{form}?{asked}") for form, title in _FILES]


def _of_study(asked: QueryDict, slug: str) -> str:
    one = asked.copy()
    one["study"] = slug
    return f"{reverse('web:bundle')}?{one.urlencode()}"


def study_page(study: Study, server: str) -> str:
    """Return a study's report, or charts of its runs. Raise QueryError."""
    return report_file(study, contents(study, {}), server)


def of_question(request: HttpRequest, asked: QueryDict) -> tuple[Bundle, str]:
    """Return the runs of a page's address, and the page as a file.

    ``page`` in the address names the page. Raise QueryError.
    """
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
    context = answer_section.build_result(question, found) | {"frozen": True}
    rendered = render_to_string(f"web/{question.page}.html", context, request)
    # What the page itself swaps when its question changes.
    result = rendered[rendered.index('<section id="result"') : rendered.rindex("</main>")]
    address = to_question(question)
    bundle = make_bundle.bundle_runs(_runs_of(found), f"page={question.page}&{question.encode()}")
    return bundle, as_file(
        question_links.question_title(question), bundle.study.title, mark_safe(result), server, address
    )


def _runs_of(found: Answer) -> set[int]:
    """Return the runs behind the numbers."""
    return {point.run for table in found.tables for cell in table.cells.values() for point in cell.sample}


def _of_list(data: QueryDict, server: str) -> tuple[Bundle, str]:
    """Return the runs of a list, by ``pk`` or by its filters."""
    shown = columns.parse_columns(data.getlist("columns"))
    data.pop("columns", None)
    numbers = data.pop("pk", [])
    runs = choose_runs(numbers, None if numbers else data.urlencode())
    bundle = make_bundle.bundle_runs(
        _numbers(runs.order_by().values_list("pk", flat=True)), f"page={RUNS}&{_asked(data, numbers)}"
    )
    rows = [row for chunk in export.read_chunks(bundle.runs, shown) for row in chunk]
    titles = ["Run", "Status", *(each.title for each in shown if each.name in export.name_columns(shown)[3:])]
    listed = [(reverse("web:run", args=[row[0]]), row[1], row[2:]) for row in rows]
    body = render_to_string("web/parts/bundle_runs.html", {"titles": titles, "rows": listed})
    address = f"{reverse('web:runs')}?{data.urlencode()}"
    return bundle, as_file(f"{len(rows)} runs", bundle.study.title, body, server, address)


def _numbers(found: Iterable[int]) -> list[int]:
    """Return the numbers, at most one more than allowed."""
    return list(islice(found, make_bundle.MAX_RUNS + 1))


def _asked(data: QueryDict, numbers: list[str]) -> str:
    return urlencode([("pk", number) for number in numbers]) if numbers else data.urlencode()


@require_GET
@user_passes_test(access.may_read)
def study_bundle(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Return a study with all its runs as a bundle."""
    study = get_object_or_404(access.visible_studies(request.user), slug=slug)
    try:
        found = make_bundle.bundle_study(study)
        page = study_page(study, request.build_absolute_uri("/"))
    except QueryError as error:
        ways = WaysOut([], reverse("web:study", args=[slug]), tables_of(f"study={slug}"))
        return _refused(request, error, ways)
    return _sent(request, found, page)


@require_GET
@user_passes_test(access.may_read)
def question_bundle(request: HttpRequest) -> HttpResponseBase:
    """Return a bundle of the runs of the ``page`` with this address."""
    try:
        found, page = of_question(request, request.GET)
    except QueryError as error:
        return _refused(request, error, ways_out(request.GET, error))
    return _sent(request, found, page)


def _refused(request: HttpRequest, error: QueryError, ways: WaysOut | None = None) -> HttpResponse:
    return render(request, "web/bundle.html", {"error": error, "ways": ways}, status=400)


def _sent(request: HttpRequest, found: Bundle, page: str) -> HttpResponseBase:
    headers = {"Content-Disposition": f'attachment; filename="{found.file_name}"'}
    content = make_bundle.write_bundle(found, page, request.build_absolute_uri("/"))
    return StreamingHttpResponse(content, "application/zip", headers=headers)
