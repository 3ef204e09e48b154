"""The option ``--user`` of commands that act for a person."""

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from perfdb.results.runs import access


def add_user_option(parser: CommandParser) -> None:
    """Add the option ``--user`` to a command."""
    parser.add_argument("--user", help="user name; the owner of this instance when left out")


def read_user(name: str | None) -> User:
    """Return the user of a name, or the owner for None.

    Raise CommandError for an unknown name.
    """
    if name is None:
        return access.find_owner()
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"there is no user {name!r}; make one with manage.py createsuperuser")
    return user
