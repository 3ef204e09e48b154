"""JSON body of a page of a list, with links to other pages."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rest_framework.request import Request

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.queries.keyset_paging import Page


def page_body(request: Request, page: Page, row: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return ``{"results", "next", "previous"}`` of a page.

    ``row`` makes an item of ``results`` from a stored row; the links are null at the ends of the list.
    """
    return {
        "results": [row(found) for found in page.rows],
        "next": _address(request, page.next),
        "previous": _address(request, page.previous),
    }


def _address(request: Request, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    parameters = request.query_params.copy()
    parameters["cursor"] = cursor
    return request.build_absolute_uri(f"{request.path}?{parameters.urlencode()}")


def known_only(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise QueryError for a parameter that is not in ``known``."""
    for name in given:
        if name not in known:
            raise QueryError(name, f"{name!r} is not a parameter", known)
