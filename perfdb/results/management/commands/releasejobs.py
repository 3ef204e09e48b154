"""``manage.py releasejobs``: send the jobs of a killed instance again at once."""

from typing import Any

from django.core.management.base import BaseCommand

from perfdb.results.ingest import jobs


class Command(BaseCommand):
    """The command that ends the leases of running jobs, while no worker runs."""

    help = "Release the jobs of workers that are gone, and send every open job again. Only when no worker runs."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{jobs.release()} jobs sent again")
