"""Addresses of the REST API."""

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from perfdb.api import aliases, published, search, service
from perfdb.api import questions as kept
from perfdb.api.runs import views as runs
from perfdb.api.studies import reports
from perfdb.api.studies import views as studies
from perfdb.api.tables import views as tables
from perfdb.api.trends import subscriptions
from perfdb.api.trends import views as trends
from perfdb.api.uploads import chunk_views
from perfdb.api.uploads import views as uploads

app_name = "api"
V1: list[URLPattern | URLResolver] = [
    path("runs/", runs.runs, name="runs"),
    path("runs.csv", runs.runs_csv, name="runs-csv"),
    path("runs.json", runs.runs_json, name="runs-json"),
    path("runs.parquet", runs.runs_parquet, name="runs-parquet"),
    path("runs.zip", runs.runs_zip, name="runs-zip"),
    path("runs/tags/", runs.tags, name="runs-tags"),
    path("runs/withdraw/", runs.withdraw, name="runs-withdraw"),
    path("runs/restore/", runs.restore, name="runs-restore"),
    path("runs/<int:pk>/", runs.run, name="run"),
    path("runs/<int:pk>/notes/", runs.notes, name="notes"),
    path("notes/<int:pk>/", runs.note, name="note"),
    path("search/", search.find, name="search"),
    path("uploads/", uploads.uploads, name="uploads"),
    path("uploads/<int:pk>/", uploads.upload, name="upload"),
    path("uploads/<int:pk>/accept/", uploads.accept, name="upload-accept"),
    path("uploads/<int:pk>/undo/", uploads.undo, name="upload-undo"),
    path("uploads/<int:pk>/corrections/", uploads.corrections, name="upload-corrections"),
    path("uploads/<int:pk>/corrections/<int:number>/", uploads.correction, name="upload-correction"),
    path("pieces/", chunk_views.begun, name="pieces"),
    path("pieces/<str:token>/", chunk_views.piece, name="piece"),
    path("artifacts/<int:pk>/", uploads.artifact, name="artifact"),
    path("studies/", studies.studies, name="studies"),
    path("studies/<slug:slug>/", studies.study, name="study"),
    path("studies/<slug:slug>/bundle.zip", studies.study_bundle, name="study-bundle"),
    path("studies/<slug:slug>/share/", studies.share, name="study-share"),
    path("studies/<slug:slug>/pattern/", studies.try_pattern, name="study-pattern"),
    path("studies/<slug:slug>/apply/", studies.apply, name="study-apply"),
    path("studies/<slug:slug>/move/", studies.move, name="study-move"),
    path("studies/<slug:slug>/report/items/", reports.report_items, name="report-items"),
    path("studies/<slug:slug>/report/items/<int:pk>/", reports.report_item, name="report-item"),
    path("studies/<slug:slug>/report/removed/<int:pk>/", reports.put_back, name="report-item-put-back"),
    path("studies/<slug:slug>/aliases/", aliases.aliases, name="aliases"),
    path("studies/<slug:slug>/aliases/<int:pk>/", aliases.alias, name="alias"),
    path("studies/<slug:slug>/report/", reports.report, name="report"),
    path("studies/<slug:slug>/tables/<str:number>.json", reports.table_json, name="report-table"),
    path("studies/<slug:slug>/tables/<str:number>.<str:form>", reports.table_form, name="report-table-form"),
    path("studies/<slug:slug>/figures/<str:number>.json", reports.figure_json, name="report-figure"),
    path("studies/<slug:slug>/problems/", reports.problems, name="study-problems"),
    path("published-tables/", published.published_tables, name="published-tables"),
    path("tables/", tables.tables, name="tables"),
    path("tables.csv", tables.tables_csv, name="tables-csv"),
    path("tables.md", tables.tables_md, name="tables-md"),
    path("tables.txt", tables.tables_txt, name="tables-txt"),
    path("tables.tex", tables.tables_tex, name="tables-tex"),
    path("tables.parquet", tables.tables_parquet, name="tables-parquet"),
    path("comparisons/", tables.comparisons, name="comparisons"),
    path("trends/", trends.trends, name="trends"),
    path("trends.csv", trends.trends_csv, name="trends-csv"),
    path("trends/series/<str:key>/", trends.series, name="trend-series"),
    path("trends/changes/<int:pk>/acts/", trends.change_acts, name="trend-change-acts"),
    path("trends/judge/", trends.judge, name="trends-judge"),
    path("events/", trends.events, name="events"),
    path("events/<int:pk>/", trends.event, name="event"),
    path("events/<int:pk>/acts/", trends.acts, name="event-acts"),
    path("subscriptions/", subscriptions.subscriptions, name="subscriptions"),
    path("subscriptions/<int:pk>/", subscriptions.subscription, name="subscription"),
    path("explanations/", tables.explanations, name="explanations"),
    path("saved-queries/", kept.saved_queries, name="saved-queries"),
    path("saved-queries/<int:pk>/", kept.saved_query, name="saved-query"),
    path("frozen/", kept.freeze, name="freeze"),
    path("frozen/<str:token>/", kept.frozen, name="frozen"),
    path("frozen/<str:token>/tables.<str:form>", kept.frozen_tables, name="frozen-tables"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", service.healthz, name="healthz"),
    path("readyz", service.readyz, name="readyz"),
    path("record.sh", service.record_sh, name="record-sh"),
    # Found by its first letters, so that other addresses are not held against each of these.
    path("api/v1/", include(V1)),
    path("api/schema/", SpectacularAPIView.as_view(renderer_classes=[OpenApiJsonRenderer2]), name="schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api:schema", template_name="perfdb_api/docs.html"),
        name="docs",
    ),
    # Only with the last slash, so that an address without it is still redirected to the one that has it.
    path("api/<path:rest>/", service.nothing_here),
]
