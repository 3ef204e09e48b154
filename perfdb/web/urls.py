"""Addresses of the pages."""

from django.urls import URLPattern, URLResolver, path, re_path
from django.views.generic import RedirectView

from perfdb.web.compare import views as compare
from perfdb.web.home import search_views
from perfdb.web.home import views as home
from perfdb.web.questions import picture_views
from perfdb.web.questions import views as questions
from perfdb.web.reports import bundle_views, report_edit_views
from perfdb.web.reports import views as reports
from perfdb.web.runs import run_views
from perfdb.web.runs import views as runs
from perfdb.web.studies import study_edit_views
from perfdb.web.studies import views as studies
from perfdb.web.tables import views as tables
from perfdb.web.trends import views as trends
from perfdb.web.uploads import artifact_views, table_import_views
from perfdb.web.uploads import views as uploads

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("demonstration/", home.demonstration, name="demonstration"),
    path("search/", search_views.results, name="search"),
    path("search/suggestions/", search_views.suggestions, name="search-suggestions"),
    path("sign-in/", home.sign_in, name="sign-in"),
    path("sign-in/<str:secret>/", home.sign_in_by_link, name="sign-in-link"),
    path("sign-out/", home.sign_out, name="sign-out"),
    path("uploads/", uploads.uploads, name="uploads"),
    path("uploads/new/", uploads.new, name="upload-new"),
    path("uploads/recognise/", uploads.recognise, name="upload-recognise"),
    path("uploads/<int:pk>/", uploads.upload, name="upload"),
    path("uploads/<int:pk>/accept/", uploads.accept, name="upload-accept"),
    path("uploads/<int:pk>/undo/", uploads.undo, name="upload-undo"),
    path("uploads/<int:pk>/again/", uploads.again, name="upload-again"),
    path("uploads/<int:pk>/format/", uploads.choose_format, name="upload-format"),
    path("uploads/<int:pk>/correct/", uploads.correct, name="upload-correct"),
    path("uploads/<int:pk>/correct/<int:number>/undo/", uploads.take_back, name="upload-take-back"),
    path("uploads/<int:pk>/leave-out/", uploads.leave_out, name="upload-leave-out"),
    path("uploads/<int:pk>/move/", uploads.move, name="upload-move"),
    path("uploads/<int:pk>/files.zip", uploads.download, name="upload-download"),
    path("tables/import/", table_import_views.table_import, name="table-import"),
    path("runs/", runs.runs, name="runs"),
    path("runs/columns/", runs.remember_columns, name="runs-columns"),
    path("runs/chosen/", runs.chosen, name="runs-chosen"),
    path("runs/<int:pk>/", run_views.run, name="run"),
    path("runs/<int:pk>/notes/", run_views.note_add, name="run-note"),
    path("runs/<int:pk>/tags/", run_views.tag, name="run-tag"),
    path("runs/<int:pk>/withdraw/", run_views.withdraw, name="run-withdraw"),
    path("runs/<int:pk>/restore/", run_views.restore, name="run-restore"),
    path("notes/<int:pk>/edit/", run_views.note_edit, name="note-edit"),
    path("notes/<int:pk>/remove/", run_views.note_remove, name="note-remove"),
    path("artifacts/<int:pk>/", artifact_views.artifact, name="artifact"),
    path("artifacts/<int:pk>/download/", artifact_views.download, name="artifact-download"),
    path("studies/", studies.studies, name="studies"),
    path("studies/new/", study_edit_views.new, name="study-new"),
    path("studies/<slug:slug>/", studies.study, name="study"),
    path("studies/<slug:slug>/report.html", reports.html_file, name="study-file"),
    path("studies/<slug:slug>/report.pdf", reports.pdf_file, name="study-pdf"),
    path("studies/<slug:slug>/bundle.zip", bundle_views.study_bundle, name="study-bundle"),
    path("bundle.zip", bundle_views.question_bundle, name="bundle"),
    path("studies/<slug:slug>/edit/", study_edit_views.edit, name="study-edit"),
    path("studies/<slug:slug>/run-ids/", study_edit_views.run_ids, name="study-run-ids"),
    path("studies/<slug:slug>/apply/", study_edit_views.apply, name="study-apply"),
    path("studies/<slug:slug>/plan/", study_edit_views.plan, name="study-plan"),
    path("studies/<slug:slug>/move/", study_edit_views.move, name="study-move"),
    path("studies/<slug:slug>/report/", report_edit_views.items_list, name="report-edit"),
    path("studies/<slug:slug>/report/new/", report_edit_views.item_new, name="report-item-new"),
    path("studies/<slug:slug>/report/<int:pk>/", report_edit_views.item_edit, name="report-item"),
    path("studies/<slug:slug>/report/<int:pk>/remove/", report_edit_views.item_remove, name="report-item-remove"),
    path("studies/<slug:slug>/report/removed/<int:pk>/", report_edit_views.item_put_back, name="report-item-put-back"),
    path("studies/<slug:slug>/delete/", study_edit_views.delete, name="study-delete"),
    path("studies/<slug:slug>/share/", study_edit_views.share, name="study-share"),
    path("shared/<str:token>/", reports.shared, name="shared"),
    path("shared/<str:token>/report.html", reports.shared_file, name="shared-file"),
    path("shared/<str:token>/report.pdf", reports.shared_pdf, name="shared-pdf"),
    path("shared/<str:token>/tables/<str:number>.<str:form>", reports.shared_table, name="shared-table"),
    path("studies/<slug:slug>/aliases/", study_edit_views.aliases, name="aliases"),
    path("studies/<slug:slug>/aliases/<int:pk>/undo/", study_edit_views.undo_alias, name="alias-undo"),
    path("reparse/", uploads.reparse, name="reparse"),
    path("charts/", tables.charts, name="charts"),
    path("charts/figure.json", tables.figure, name="figure"),
    path("charts/table/", tables.table, name="table"),
    re_path(r"^(?P<page>charts|compare|ranking)\.(?P<form>svg|png)$", picture_views.picture, name="picture"),
    re_path(r"^f/(?P<token>[\w-]+)\.(?P<form>svg|png)$", picture_views.frozen_picture, name="frozen-picture"),
    path("compare/", compare.compare, name="compare"),
    path("explain/", compare.explain, name="explain"),
    path("trends/", trends.trends, name="trends"),
    path("trends/series/", trends.trend, name="trend"),
    path("trends/series.svg", trends.trend_picture, name="trend-picture"),
    path("trends/events/<int:pk>/", trends.event, name="trend-event"),
    path("trends/events/<int:pk>/acts/", trends.act, name="trend-act"),
    path("trends/changes/<int:pk>/acts/", trends.act_on_one, name="trend-change-act"),
    path("events.atom", trends.event_feed, name="event-feed"),
    path("trends/judge/<slug:slug>/", trends.judge, name="trends-judge"),
    path("subscriptions/", trends.subscriptions, name="subscriptions"),
    path("subscriptions/<int:pk>/delete/", trends.unsubscribe, name="subscription-delete"),
    path("subscriptions/<int:pk>/test/", trends.test_subscription, name="subscription-test"),
    path("subscriptions/messages/<int:pk>/again/", trends.send_again, name="delivery-again"),
    path("ranking/", tables.maximum, name="maximum"),
    # Addresses of earlier versions, and a likely guess.
    path("maximum/", RedirectView.as_view(pattern_name="web:maximum", query_string=True, permanent=True)),
    path("upload/", RedirectView.as_view(pattern_name="web:upload-new", query_string=True)),
    path("saved/", questions.saved_queries, name="saved"),
    path("saved/<int:pk>/", questions.saved_query, name="saved-query"),
    path("saved/<int:pk>/rename/", questions.rename, name="saved-rename"),
    path("saved/<int:pk>/delete/", questions.delete, name="saved-delete"),
    path("put-in-report/", questions.report_item, name="put-in-report"),
    path("f/", questions.freeze, name="freeze"),
    path("f/<str:token>/", questions.frozen, name="frozen"),
    path("f/<str:token>/runs/", questions.frozen_runs, name="frozen-runs"),
    path("f/<str:token>/runs/<int:pk>/", questions.frozen_run, name="frozen-run"),
    path("how/", home.how, name="how"),
]
