"""The address decides the format: ``tables.csv`` is CSV, whatever a client's Accept header prefers."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AddressDecides(DefaultContentNegotiation):
    """Each address has one format, so there is nothing to negotiate and no 406."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The view's only renderer."""
        only = next(iter(renderers))
        return only, str(only.media_type)
