"""``manage.py partition``: partition runs and evidence by study."""

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from perfdb.results.models import Study
from perfdb.scaling import partitions
from perfdb.scaling.partitions import Part, Plan, is_partitioned

_MOVED_BYTES_PER_S, _SCANNED_BYTES_PER_S = 15e6, 300e6
"""Measured (docs/scaling.md): moving rows with all indexes, and scanning."""


class Command(BaseCommand):
    """Command that partitions the tables, continues, or moves studies created since."""

    help = "Partition runs and evidence by study. Does nothing twice; see docs/scaling.md."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--runs", type=int, help="make parts of at least so many runs")
        parser.add_argument("--drop", metavar="STUDY", help="drop all runs of a study that has a part of its own")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, how large and how long")

    def handle(self, *args: Any, **options: Any) -> None:
        """Convert the tables, then move studies, a transaction for each part."""
        if options["drop"]:
            self._drop(options["drop"])
            return
        plan = partitions.make_plan(options["runs"])
        if options["dry_run"]:
            self._describe(plan)
            return
        if is_partitioned():
            partitions.keep_references()
        else:
            self._time("tables partitioned", partitions.convert)
        for part in plan.parts:
            self._time(f"moved {_describe(part)}", partial(partitions.move_studies, part))
        self._time("tidied up", partitions.vacuum_rest)

    def _drop(self, slug: str) -> None:
        try:
            study = Study.objects.get(slug=slug)
            self._time(f"dropped the runs of {study.title}", lambda: partitions.drop_runs(study))
        except (Study.DoesNotExist, partitions.SharedPartError) as error:
            raise CommandError(str(error)) from error

    def _time(self, text: str, act: Callable[[], object]) -> None:
        start = monotonic()
        act()
        self.stdout.write(f"{text}: {monotonic() - start:.1f} s")

    def _describe(self, plan: Plan) -> None:
        if not is_partitioned():
            self.stdout.write("The tables become partitioned: all wait meanwhile.")
        left = sum(part.runs for part in plan.parts) + plan.staying.runs
        for part in plan.parts:
            size, scanned = part.runs * plan.bytes_a_run, left * plan.bytes_a_run
            self.stdout.write(
                f"A part for {_describe(part)}, {size / 1e9:.1f} GB: writing waits for about "
                f"{size / _MOVED_BYTES_PER_S:.0f} s, of which reading for about {scanned / _SCANNED_BYTES_PER_S:.0f} s."
            )
            left -= part.runs
        self.stdout.write(f"In the rest stay {_describe(plan.staying)}.")


def _describe(part: Part) -> str:
    return f"{len(part.studies)} studies with {part.runs:,} runs"
