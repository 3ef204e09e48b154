"""The list of runs, and one run with everything that is known of it."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from perfdb.analysis.dimensions import Value
from perfdb.analysis.parameters import QueryError
from perfdb.results import provenance
from perfdb.results.access import may_read
from perfdb.results.filters import RunFilter
from perfdb.results.limits import limit_of
from perfdb.results.models import Run
from perfdb.results.paging import read_size
from perfdb.results.querysets import run_page
from perfdb.web import choices, circumstances, comparing, evidence, listing
from perfdb.web.run_figures import groups, roles
from perfdb.web.upload_page import with_addresses

SIBLINGS = 50
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


@require_GET
@user_passes_test(may_read)
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """One run: circumstances, figures by role with their provenance, counters, intervals, problems and files."""
    related = Run.objects.select_related("study", "system", "level", "workload", "device", "evidence")
    found = get_object_or_404(related, pk=pk)
    figures = provenance.figures(found)
    siblings = run_page(Run.objects.filter(experiment=found.experiment_id), "run_id", size=SIBLINGS)
    sources = list(found.sources.select_related("artifact", "upload", "upload__owner").order_by("path"))
    paths = {source.artifact_id: source.path for source in sources}
    listings = evidence.listings(found)
    context = {
        "run": found,
        "circumstances": circumstances.of(found),
        "subtitle": circumstances.subtitle(found),
        "facts": circumstances.facts(found, paths),
        "roles": roles(figures),
        "groups": groups(figures),
        "figures": list(enumerate(figures)),
        "limit": limit_of([found]),
        "counters": evidence.counters(found, paths),
        "listings": listings,
        "has_chart": any(each.figure for each in listings),
        "problems": with_addresses(found.problems.order_by("pk"), {path: pk for pk, path in paths.items()}),
        "sources": sources,
        "siblings": siblings.rows,
        "headings": listing.fixed_headings(),
    }
    return render(request, "web/run.html", context)
