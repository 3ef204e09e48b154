"""Views of trends: what changed in a study over its campaigns, and the history of one experiment."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.results.models import Study
from perfdb.results.runs import access
from perfdb.results.studies.trends import read_trends
from perfdb.web.tables import filter_form
from perfdb.web.trends.trend_page import build_page, build_series_page
from perfdb.web.view_access import read_required


@read_required()
def trends(request: HttpRequest) -> HttpResponse:
    """Show what changed in a study, by default in the one that changed last."""
    studies = access.visible_studies(request.user).filter(activity__runs__gt=0).order_by("-activity__changed", "title")
    context: dict[str, object] = {"studies": studies}
    try:
        study = _study(request, [each.slug for each in studies])
        context["chosen"] = study
        if study:
            context["trends"] = build_page(study, read_trends(study))
    except QueryError as error:
        return render(request, "web/trends.html", context | {"error": error}, status=filter_form.error_status(error))
    return render(request, "web/trends.html", context)


def _study(request: HttpRequest, known: list[str]) -> str:
    """Return the study asked for, or the first; empty without any. Raise QueryError for an unknown one."""
    asked = request.GET.get("study", "")
    if asked:
        filter_form.check_studies(Query().with_filter("study", asked))
    return asked or next(iter(known), "")


@read_required()
def trend(request: HttpRequest) -> HttpResponse:
    """Show the history of one metric of one experiment."""
    try:
        asked = Query.parse((name, text) for name, texts in request.GET.lists() for text in texts)
        filter_form.check_studies(asked)
    except QueryError as error:
        return render(request, "web/trend.html", {"error": error}, status=filter_form.error_status(error))
    study = Study.objects.filter(slug__in=map(str, asked.filters.get("study", ()))).first()
    page = build_series_page(study.slug, read_trends(study.slug), asked) if study else None
    if page is None:
        raise Http404
    return render(request, "web/trend.html", {"study": study, "page": page})
