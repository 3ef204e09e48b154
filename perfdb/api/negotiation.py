"""Format by address: ``tables.csv`` is CSV, regardless of a client's Accept header."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AddressDecides(DefaultContentNegotiation):
    """Content negotiation without a choice: each address has one format."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the view's only renderer."""
        only = next(iter(renderers))
        return only, str(only.media_type)
