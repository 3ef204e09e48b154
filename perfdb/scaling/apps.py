"""App configuration."""

from celery.signals import task_postrun
from django.apps import AppConfig

from perfdb.scaling import replica


class ScalingConfig(AppConfig):
    """Partitions by study, and a replica that serves pages (docs/scaling.md)."""

    name = "perfdb.scaling"

    def ready(self) -> None:
        """Note writes after each task, if there is a replica."""
        if replica.is_configured():
            task_postrun.connect(replica.note_writes, dispatch_uid="perfdb.scaling")
