"""``manage.py releasejobs``: after a hard end, let what was running be done again at once."""

from typing import Any

from django.core.management.base import BaseCommand

from perfdb.results.ingest import jobs


class Command(BaseCommand):
    """Ends the leases of running jobs. Only for a start at which no worker can be alive: the launcher knows that."""

    help = "Release the jobs of workers that are gone, and send every open job again. Only when no worker runs."

    def handle(self, *args: Any, **options: Any) -> None:
        """Say how many jobs were sent."""
        self.stdout.write(f"{jobs.release()} jobs sent again")
