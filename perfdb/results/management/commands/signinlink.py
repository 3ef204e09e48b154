"""``manage.py signinlink``: make a link that signs a person in once, within twelve hours."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from perfdb.results.management.commands.apitoken import add_user_option, read_user
from perfdb.results.runs import access


class Command(BaseCommand):
    """The command that prints a new sign-in link."""

    help = "Print a link that signs a user in once; it begins with SITE_URL."

    def add_arguments(self, parser: CommandParser) -> None:
        add_user_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{settings.SITE_URL}/sign-in/{access.make_sign_in_link(read_user(options['user']))}/")
