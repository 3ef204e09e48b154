"""``manage.py derive --stale``: work out derived figures again after a formula has changed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from perfdb.results.changes.rederive import rederive, stale_runs


class Command(BaseCommand):
    """Recomputes derived values from the stored evidence; a changed value leaves its old one in the history."""

    help = "Derive figures again: of runs whose formulas have a newer version (--stale), or of all (--all)."

    def add_arguments(self, parser: CommandParser) -> None:
        """One of the two must be said."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--stale", action="store_true", help="only runs derived by an older formula")
        which.add_argument("--all", action="store_true", help="every run")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say how many runs were looked at and how many values changed."""
        runs = stale_runs() if options["stale"] else None
        looked_at, changed = rederive(runs)
        self.stdout.write(f"{looked_at} runs derived again, {changed} values changed")
