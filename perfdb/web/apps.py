"""App configuration."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """The pages; own no models."""

    name = "perfdb.web"

    def ready(self) -> None:
        """What only the pages know how to do in the background: to print them."""
        # Models are not there before.
        from perfdb.results.tasks import HANDLERS  # noqa: PLC0415
        from perfdb.web.printing import KIND, run_pdf  # noqa: PLC0415

        HANDLERS[KIND] = run_pdf
