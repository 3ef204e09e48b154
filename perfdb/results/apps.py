"""App configuration. Importing the Celery application here keeps `perfdb/__init__.py` empty."""

from django.apps import AppConfig
from django.db.models import Field

from perfdb.results.database.sql import Among


class ResultsConfig(AppConfig):
    """Runs, studies, uploads and the jobs that work on them."""

    name = "perfdb.results"
    verbose_name = "Results"

    def ready(self) -> None:
        """Make Celery's application the current one, so that ``shared_task`` finds it."""
        from perfdb.celery import app  # noqa: PLC0415 - needs the settings, which exist only now

        app.set_current()
        Field.register_lookup(Among)
