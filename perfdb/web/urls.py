"""Addresses of the pages."""

from django.urls import URLPattern, URLResolver, path

from perfdb.web.views import (
    aliases,
    artifacts,
    compare,
    home,
    how,
    reparse,
    run,
    runs,
    sign_in,
    studies,
    study_edit,
    study_files,
    table_import,
    tables,
    uploads,
)

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-in/<str:secret>/", sign_in.sign_in_by_link, name="sign-in-link"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("uploads/", uploads.uploads, name="uploads"),
    path("uploads/new/", uploads.new, name="upload-new"),
    path("uploads/<int:pk>/", uploads.upload, name="upload"),
    path("uploads/<int:pk>/accept/", uploads.accept, name="upload-accept"),
    path("uploads/<int:pk>/undo/", uploads.undo, name="upload-undo"),
    path("uploads/<int:pk>/again/", uploads.again, name="upload-again"),
    path("uploads/<int:pk>/format/", uploads.choose_format, name="upload-format"),
    path("uploads/<int:pk>/files.zip", uploads.download, name="upload-download"),
    path("tables/import/", table_import.table_import, name="table-import"),
    path("runs/", runs.runs, name="runs"),
    path("runs/<int:pk>/", run.run, name="run"),
    path("artifacts/<int:pk>/", artifacts.artifact, name="artifact"),
    path("artifacts/<int:pk>/download/", artifacts.download, name="artifact-download"),
    path("studies/", studies.studies, name="studies"),
    path("studies/<slug:slug>/", studies.study, name="study"),
    path("studies/<slug:slug>/report.html", study_files.html_file, name="study-file"),
    path("studies/<slug:slug>/report.pdf", study_files.pdf_file, name="study-pdf"),
    path("studies/<slug:slug>/edit/", study_edit.edit, name="study-edit"),
    path("studies/<slug:slug>/aliases/", aliases.aliases, name="aliases"),
    path("studies/<slug:slug>/aliases/<int:pk>/undo/", aliases.undo, name="alias-undo"),
    path("reparse/", reparse.reparse, name="reparse"),
    path("charts/", tables.charts, name="charts"),
    path("compare/", compare.compare, name="compare"),
    path("maximum/", tables.maximum, name="maximum"),
    path("how/", how.how, name="how"),
]
