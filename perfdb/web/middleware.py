"""Middleware of the pages: compression and study titles."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import Value
from perfdb.results.models import Study


class StudyTitles(Mapping[Value, str]):
    """Titles of all studies by slug, ordered by title, read on first use."""

    @cached_property
    def _titles(self) -> dict[Value, str]:
        return dict(Study.objects.order_by("title").values_list("slug", "title").distinct())

    def __getitem__(self, slug: Value) -> str:
        return self._titles[slug]

    def __iter__(self) -> Iterator[Value]:
        return iter(self._titles)

    def __len__(self) -> int:
        return len(self._titles)


def study_titles() -> Mapping[Value, str]:
    """Return the study titles; reuse those of the current request."""
    known = dimensions.display_names("study")
    return StudyTitles() if known is None else known


class CallByTitle:
    """Middleware that shows studies by title on pages. The API keeps slugs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/api/"):
            return self.get_response(request)
        with dimensions.use_display_names({"study": StudyTitles()}):
            return self.get_response(request)


class CompressedPages(GZipMiddleware):
    """Django's compression for HTML alone.

    Static files are compressed beforehand, downloads are streamed, and compression would weaken the ETags of the
    API.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)
