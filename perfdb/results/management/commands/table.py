"""``manage.py table "metric=trans_per_s&rows=device"``: print a query's tables as aligned text.

The query string is that of the pages and of /api/v1/tables/.
"""

from typing import Any
from urllib.parse import parse_qsl

from django.core.management.base import BaseCommand, CommandError, CommandParser

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.analysis.render.exports.text import render_text
from perfdb.results.queries.answers import answer_query


class Command(BaseCommand):
    """The command that prints the tables of a query, one block for each."""

    help = "Print the tables that answer a query."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("query", help="a query string, as in the address of a page")
        parser.add_argument("--ascii", action="store_true", help="use plain ASCII signs")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            pairs = parse_qsl(options["query"].removeprefix("?"), keep_blank_values=True)
            # Chart options do not matter to tables.
            _, rest = Drawing.parse(pairs)
            _, tables = answer_query(Query.parse(rest))
        except QueryError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(render_text(tables, ascii_only=options["ascii"]), ending="")
