"""The list of runs."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from perfdb.analysis.dimensions import Value
from perfdb.analysis.parameters import QueryError
from perfdb.results.access import may_read
from perfdb.results.filters import RunFilter
from perfdb.results.paging import read_size
from perfdb.results.querysets import run_page
from perfdb.web import choices, comparing, listing

# Parameters without a field of their own that the filter form carries on.
_KEPT = ("started_after", "started_before", "upload", "size")


@require_GET
@user_passes_test(may_read)
def runs(request: HttpRequest) -> HttpResponse:
    """Filter, sort and page; a parameter that is not understood answers 400 and lists the known ones."""
    filtered = RunFilter(request.GET)
    context = {"facets": _facets(filtered), "headings": listing.headings(request.GET), "asked": request.GET}
    context["kept"] = [(name, value) for name in _KEPT if (value := request.GET.get(name))]
    try:
        if error := filtered.first_error():
            raise error
        context["compare"] = comparing.of_runs((name, text) for name, texts in request.GET.lists() for text in texts)
        size = read_size(request.GET.get("size", ""))
        page = run_page(filtered.qs, request.GET.get("sort", ""), request.GET.get("cursor", ""), size)
    except QueryError as error:
        return render(request, "web/runs.html", context | {"error": error}, status=400)
    context |= {
        "rows": page.rows,
        "next": listing.with_cursor(request.GET, page.next),
        "previous": listing.with_cursor(request.GET, page.previous),
    }
    return render(request, "web/runs.html", context)


def _facets(filtered: RunFilter) -> list[choices.Facet]:
    cleaned = filtered.form.cleaned_data if filtered.form.is_valid() else {}
    chosen: dict[str, list[Value]] = {
        name: values
        for name, values in cleaned.items()
        if isinstance(values, list) and name != "status" and (values or name in choices.OFFERED)
    }
    return [*choices.dimension_facets(choices.present(), dict(chosen)), choices.status_facet(cleaned.get("status", []))]
