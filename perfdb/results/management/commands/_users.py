"""The ``--user`` option of commands that act for a person."""

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from perfdb.results.runs import access


def add_user_argument(parser: CommandParser) -> None:
    """Let the command say for whom."""
    parser.add_argument("--user", help="user name; the owner of this instance when left out")


def named_user(name: str | None) -> User:
    """The user of that name, or the owner; raises CommandError when there is none."""
    if name is None:
        return access.owner()
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"there is no user {name!r}; make one with manage.py createsuperuser")
    return user
