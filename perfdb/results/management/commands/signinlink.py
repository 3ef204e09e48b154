"""``manage.py signinlink``: make a link that signs a person in once, within twelve hours."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from perfdb.results.management.commands._users import add_user_argument, named_user
from perfdb.results.runs import access


class Command(BaseCommand):
    """Prints the path; where perfdb is reached from is known to whoever starts it."""

    help = "Print the path of a link that signs a user in once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whom it signs in."""
        add_user_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the link."""
        self.stdout.write(f"/sign-in/{access.make_sign_in_link(named_user(options['user']))}/")
