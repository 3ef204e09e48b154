"""``manage.py apitoken NAME``: make a token for scripts, which is shown once."""

import os
from pathlib import Path
from typing import IO, Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from perfdb.results.runs import access


class Command(BaseCommand):
    """The command that prints a new token, or writes a private file."""

    help = "Make a token for scripts and print it; it cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the token is for, such as 'nightly import'")
        add_user_option(parser)
        parser.add_argument("--write", metavar="FILE", type=Path, help="put it into FILE (mode 600), print nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        user = read_user(options["user"])
        if options["write"] is None:
            self.stdout.write(access.make_token(user, options["name"]))
            return
        # The file first: a token that could not be written would be lost.
        with _private_file(options["write"]) as file:
            file.write(access.make_token(user, options["name"]) + "\n")


def _private_file(path: Path) -> IO[str]:
    """Return a new file that only the owner can read."""
    try:
        path.unlink(missing_ok=True)
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from None


def add_user_option(parser: CommandParser) -> None:
    """Add the option ``--user`` to a command."""
    parser.add_argument("--user", help="user name; the owner of this instance when left out")


def read_user(name: str | None) -> User:
    """Return a user, the owner for None. Raise CommandError if unknown."""
    if name is None:
        return access.find_owner()
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"there is no user {name!r}; make one with manage.py createsuperuser")
    return user
