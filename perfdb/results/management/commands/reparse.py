"""``manage.py reparse``: read stored artifacts again by newer importers."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from importers import formats
from perfdb.results import tasks
from perfdb.results.changes import reparse
from perfdb.results.changes.reparse import Review, Scope
from perfdb.results.models import Job, Study
from perfdb.results.models.dimensions import INBOX

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


class Command(BaseCommand):
    """The command that shows or, with ``--apply``, stores the changes of a re-import."""

    help = "Read stored files again by the importers of today, and show or store what that changes of their runs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", default="", choices=sorted(each.NAME for each in formats.FORMATS))
        parser.add_argument("--study", default="", metavar="SLUG", help="only runs of this study")
        parser.add_argument("--all", action="store_true", help="also runs that the newest importers read")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--dry-run", action="store_true", help="show what would change (the default)")
        what.add_argument("--apply", action="store_true", help="store what changes")

    def handle(self, *args: Any, **options: Any) -> None:
        scope = Scope(options["format"], _study(options["study"]), options["all"])
        if options["apply"]:
            self._apply(scope)
        else:
            self._show(scope)

    def _show(self, scope: Scope) -> None:
        looked_at = differing = left = 0
        for review in reparse.review_runs(scope.runs):
            looked_at += 1
            differing += bool(review.differences)
            left += bool(review.trouble)
            self._show_one(review)
        self.stdout.write(f"{looked_at} runs read again, {differing} would change, {left} would be left as they are")

    def _show_one(self, review: Review) -> None:
        run = review.run
        if review.differences or review.trouble:
            self.stdout.write(f"{run.study.slug} {run.run_id} trial {run.trial} (run {run.pk})")
        if review.trouble:
            self.stdout.write(f"  ! left as it is: {review.trouble}")
        for each in review.differences:
            arrow = " -> " if each.old and each.new else ""
            name = f"{each.what} {each.name}".strip()
            self.stdout.write(f"  {_SIGNS[each.kind]} {name}: {each.old}{arrow}{each.new}")

    def _apply(self, scope: Scope) -> None:
        job = reparse.enqueue_reparse(scope, None)
        if job is None:
            raise CommandError("runs are being read again already; wait until that is done")
        # A worker may have taken the job meanwhile; a job is done once.
        tasks.run_job(job.pk)
        job.refresh_from_db()
        if job.state == Job.State.FAILED:
            raise CommandError(job.outcome["error"])
        if job.state != Job.State.DONE:
            self.stdout.write(f"job {job.pk} is being done by a worker")
            return
        for pk, run_id, why in job.outcome["left"]:
            self.stdout.write(f"! {run_id} (run {pk}) is left as it is: {why}")
        self.stdout.write(f"{job.outcome['runs']} runs read again, {job.outcome['changed']} changed")


def _study(slug: str) -> int | None:
    if not slug:
        return None
    studies = Study.objects.exclude(slug=INBOX)
    found = studies.filter(slug=slug).values_list("pk", flat=True).first()
    if found is None:
        known = ", ".join(studies.order_by("slug").values_list("slug", flat=True))
        raise CommandError(f"there is no study {slug!r}; known are: {known}")
    return found
