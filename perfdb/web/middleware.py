"""What pages call values by: a study goes by its title; addresses, exports and the REST interface say its slug."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import Value
from perfdb.results.models import Study


class StudyTitles(Mapping[Value, str]):
    """The title of each study by its slug, in the order of titles; read once, and only when somebody asks."""

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
    """The titles of all studies by slug: those that the page has read already, if it has."""
    known = dimensions.display_names("study")
    return StudyTitles() if known is None else known


class CallByTitle:
    """Middleware: what a page says of a study is its title. Data is not a page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/api/"):
            return self.get_response(request)
        with dimensions.use_display_names({"study": StudyTitles()}):
            return self.get_response(request)


class CompressedPages(GZipMiddleware):
    """Django's own compression, which adds random bytes so that lengths tell nobody a secret, for HTML alone."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress a page where the browser takes it."""
        if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)
