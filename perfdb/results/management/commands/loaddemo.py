"""``manage.py loaddemo``: make owner, API token and demo study; safe to repeat."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management.base import BaseCommand, CommandParser

from fixtures.demo import PATTERN, demo_files
from fixtures.nights import all_records
from perfdb.results.ingest import uploads as intake
from perfdb.results.models import Study, Upload
from perfdb.results.runs import access

SLUG = "demo"
TITLE = "Demo: four devices under RR, CRR and STRG"
PURPOSE = (
    "Made-up logs of two Linux guests that talk over four devices, so that every page has something to show. "
    "The numbers are invented; their shape follows published measurements. To remove it, undo its upload."
)
NIGHTS_SLUG = "nightly"
NIGHTS_TITLE = "Nightly: 60 nights of four devices"
NIGHTS_PURPOSE = (
    "Made-up results of 60 nights, so that Trends has something to show: a regression with a new kernel, an "
    "improvement with a new driver, a drift, and a series that goes to and fro between two levels. "
    "To remove it, undo its upload."
)


class Command(BaseCommand):
    """The command that makes owner and API token, and uploads the demo study."""

    help = "Make the owner and an API token (in PERFDB_HOME/token), and load the demo study once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--nights", action="store_true", help="load the nightly study too, which shows trends")
        parser.add_argument("--person", default="", help="load the demo study for this user, again if it was undone")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["person"]:
            _load(User.objects.get(username=options["person"]), again=True)
            return
        owner = access.find_owner()
        token = Path(settings.PERFDB_HOME) / "token"
        if not token.exists():
            token.touch(mode=0o600)
            token.write_text(access.make_token(owner, "owner") + "\n")
        if options["nights"]:
            _load_nights(owner)
        _load(owner, again=False)


def _load(owner: User, *, again: bool) -> None:
    """Upload the demo study once; ``again`` repeats an undone or failed upload."""
    about = {"title": TITLE, "purpose": PURPOSE, "run_id_pattern": PATTERN.regex, "run_id_values": PATTERN.values}
    study, _ = Study.objects.get_or_create(slug=SLUG, defaults=about | {"owner": owner})
    uploads = Upload.objects.filter(study=study)
    if again:
        uploads = uploads.exclude(state__in=[Upload.State.UNDONE, Upload.State.FAILED])
    if not uploads.exists():
        files = [(name, ContentFile(data)) for name, data in demo_files()]
        intake.receive(owner, files, study=study)


def _load_nights(owner: User) -> None:
    """Upload the nightly study once."""
    about = {"title": NIGHTS_TITLE, "purpose": NIGHTS_PURPOSE, "owner": owner}
    study, made = Study.objects.get_or_create(slug=NIGHTS_SLUG, defaults=about)
    if made:
        content = "".join(f"{line}\n" for line in all_records()).encode()
        intake.receive(owner, [("nights.ndjson", ContentFile(content))], study=study)
