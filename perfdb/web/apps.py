"""App configuration."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """The pages; own no models."""

    name = "perfdb.web"

    def ready(self) -> None:
        """What only the pages know how to do for the layers below: to draw and to print them."""
        # Models are not there before.
        from perfdb.results.bundles.make_bundle import PAGES  # noqa: PLC0415
        from perfdb.results.tasks import HANDLERS  # noqa: PLC0415
        from perfdb.web.reports.bundle_views import study_page  # noqa: PLC0415
        from perfdb.web.reports.report_pdf import KIND, run_pdf  # noqa: PLC0415

        HANDLERS[KIND] = run_pdf
        PAGES["study"] = study_page
