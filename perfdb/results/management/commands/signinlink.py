"""``manage.py signinlink``: make a link that signs a person in once, within twelve hours."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from perfdb.results.management.commands.apitoken import add_user_option, read_user
from perfdb.results.runs import access


class Command(BaseCommand):
    """The command that prints the path of a new sign-in link."""

    help = "Print the path of a link that signs a user in once."

    def add_arguments(self, parser: CommandParser) -> None:
        add_user_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the link, and print its path."""
        self.stdout.write(f"/sign-in/{access.make_sign_in_link(read_user(options['user']))}/")
