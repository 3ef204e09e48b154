"""``manage.py derive --stale``: derive values again after a formula has changed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from perfdb.results.changes.rebuild import rederive_runs, stale_runs


class Command(BaseCommand):
    """The command that derives values again; replaced values go to the history."""

    help = "Derive figures again: of runs whose formulas have a newer version (--stale), or of all (--all)."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--stale", action="store_true", help="only runs derived by an older formula")
        which.add_argument("--all", action="store_true", help="every run")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = stale_runs() if options["stale"] else None
        looked_at, changed = rederive_runs(runs)
        self.stdout.write(f"{looked_at} runs derived again, {changed} values changed")
