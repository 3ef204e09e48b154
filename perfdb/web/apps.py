"""App configuration."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """The pages, an app without models."""

    name = "perfdb.web"

    def ready(self) -> None:
        """Register the pages' job handler and bundle page with the results app."""
        # Models are not loaded before.
        from perfdb.results.bundles.make_bundle import PAGES  # noqa: PLC0415
        from perfdb.results.tasks import HANDLERS  # noqa: PLC0415
        from perfdb.web.reports.bundle_views import render_study_page  # noqa: PLC0415
        from perfdb.web.reports.report_pdf import KIND, run_pdf  # noqa: PLC0415

        HANDLERS[KIND] = run_pdf
        PAGES["study"] = render_study_page
