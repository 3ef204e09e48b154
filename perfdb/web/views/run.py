"""One run with everything that is known of it."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from perfdb.results import provenance
from perfdb.results.access import may_read
from perfdb.results.limits import limit_of
from perfdb.results.models import Run
from perfdb.results.querysets import run_page
from perfdb.web import circumstances, evidence, listing
from perfdb.web.run_figures import groups, roles
from perfdb.web.upload_page import with_addresses

SIBLINGS = 50


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
