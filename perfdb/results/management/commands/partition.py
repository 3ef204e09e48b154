"""``manage.py partition``: put runs and their evidence into partitions by study, for installations that are large."""

from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from perfdb.results.models import Study
from perfdb.results.partitions import converting, dropping, is_partitioned, splitting
from perfdb.results.partitions.splitting import Part, Plan

_BYTES_PER_S = 15e6
_SCAN_BYTES_PER_S = 300e6
"""What was measured (docs/scaling.md): moving with all indexes, and looking through."""


class Command(BaseCommand):
    """Goes on where an earlier call was cut off; called again later, it moves the studies that came since."""

    help = "Put runs and evidence into partitions by study. Does nothing that is done already; see docs/scaling.md."

    def add_arguments(self, parser: CommandParser) -> None:
        """How large a part is, and whether it is only to be told."""
        parser.add_argument("--runs", type=int, help="make parts of at least so many runs")
        parser.add_argument("--drop", metavar="STUDY", help="drop all runs of a study that has a part of its own")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, how large and how long")

    def handle(self, *args: Any, **options: Any) -> None:
        """Convert the tables where that is not done, then move studies, a part in a transaction."""
        if options["drop"]:
            self._drop(options["drop"])
            return
        plan = splitting.plan(options["runs"])
        if options["dry_run"]:
            self._tell(plan)
            return
        if not is_partitioned():
            self._timed("keys built beside those that are there", converting.prepare)
            self._timed("tables partitioned", converting.convert)
        for part in plan.parts:
            self._timed(f"moved {_named(part)}", lambda part=part: splitting.split(part))
        self._timed("tidied up", splitting.tidy)

    def _drop(self, slug: str) -> None:
        try:
            study = Study.objects.get(slug=slug)
            self._timed(f"dropped the runs of {study.title}", lambda: dropping.drop(study))
        except (Study.DoesNotExist, dropping.SharedPartError) as error:
            raise CommandError(str(error)) from error

    def _timed(self, what: str, do: Any) -> None:
        start = monotonic()
        do()
        self.stdout.write(f"{what}: {monotonic() - start:.1f} s")

    def _tell(self, plan: Plan) -> None:
        if not is_partitioned():
            self.stdout.write("The tables become partitioned: keys are built while all go on, then all wait a moment.")
        left = sum(part.runs for part in plan.parts) + plan.staying.runs
        for part in plan.parts:
            size, searched = part.runs * plan.bytes_a_run, left * plan.bytes_a_run
            self.stdout.write(
                f"A part for {_named(part)}, {size / 1e9:.1f} GB: writing waits for about {size / _BYTES_PER_S:.0f} s, "
                f"of which reading for about {searched / _SCAN_BYTES_PER_S:.0f} s."
            )
            left -= part.runs
        self.stdout.write(f"In the rest stay {_named(plan.staying)}.")


def _named(part: Part) -> str:
    return f"{len(part.studies)} studies with {part.runs:,} runs"
