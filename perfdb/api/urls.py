"""Addresses of the REST interface."""

from django.urls import URLPattern, URLResolver, path
from drf_spectacular.renderers import OpenApiJsonRenderer2
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from perfdb.api.views import (
    aliases,
    artifacts,
    fallback,
    health,
    kept,
    notes,
    pieces,
    published,
    recorder,
    reports,
    runs,
    studies,
    tables,
    uploads,
)

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("record.sh", recorder.record_sh, name="record-sh"),
    path("api/v1/runs/", runs.runs, name="runs"),
    path("api/v1/runs/<int:pk>/", runs.run, name="run"),
    path("api/v1/runs/<int:pk>/notes/", notes.notes, name="notes"),
    path("api/v1/notes/<int:pk>/", notes.note, name="note"),
    path("api/v1/uploads/", uploads.uploads, name="uploads"),
    path("api/v1/uploads/<int:pk>/", uploads.upload, name="upload"),
    path("api/v1/uploads/<int:pk>/accept/", uploads.accept, name="upload-accept"),
    path("api/v1/uploads/<int:pk>/undo/", uploads.undo, name="upload-undo"),
    path("api/v1/pieces/", pieces.begun, name="pieces"),
    path("api/v1/pieces/<str:token>/", pieces.piece, name="piece"),
    path("api/v1/artifacts/<int:pk>/", artifacts.artifact, name="artifact"),
    path("api/v1/studies/", studies.studies, name="studies"),
    path("api/v1/studies/<slug:slug>/", studies.study, name="study"),
    path("api/v1/studies/<slug:slug>/aliases/", aliases.aliases, name="aliases"),
    path("api/v1/studies/<slug:slug>/aliases/<int:pk>/", aliases.alias, name="alias"),
    path("api/v1/studies/<slug:slug>/report/", reports.report, name="report"),
    path("api/v1/studies/<slug:slug>/tables/<str:number>.json", reports.table_json, name="report-table"),
    path("api/v1/studies/<slug:slug>/tables/<str:number>.<str:form>", reports.table_form, name="report-table-form"),
    path("api/v1/studies/<slug:slug>/figures/<str:number>.json", reports.figure_json, name="report-figure"),
    path("api/v1/studies/<slug:slug>/problems/", reports.problems, name="study-problems"),
    path("api/v1/published-tables/", published.published_tables, name="published-tables"),
    path("api/v1/tables/", tables.tables, name="tables"),
    path("api/v1/tables.csv", tables.tables_csv, name="tables-csv"),
    path("api/v1/tables.md", tables.tables_md, name="tables-md"),
    path("api/v1/tables.txt", tables.tables_txt, name="tables-txt"),
    path("api/v1/tables.tex", tables.tables_tex, name="tables-tex"),
    path("api/v1/tables.parquet", tables.tables_parquet, name="tables-parquet"),
    path("api/v1/comparisons/", tables.comparisons, name="comparisons"),
    path("api/v1/saved-queries/", kept.saved_queries, name="saved-queries"),
    path("api/v1/saved-queries/<int:pk>/", kept.saved_query, name="saved-query"),
    path("api/v1/frozen/", kept.freeze, name="freeze"),
    path("api/v1/frozen/<str:token>/", kept.frozen, name="frozen"),
    path("api/v1/frozen/<str:token>/tables.<str:form>", kept.frozen_tables, name="frozen-tables"),
    path("api/schema/", SpectacularAPIView.as_view(renderer_classes=[OpenApiJsonRenderer2]), name="schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api:schema", template_name="perfdb_api/docs.html"),
        name="docs",
    ),
    # Only with the last slash, so that an address without it is still redirected to the one that has it.
    path("api/<path:rest>/", fallback.nothing_here),
]
