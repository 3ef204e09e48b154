"""What stands in a report beside its texts: links and figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Link:
    """Where a question is answered, in words; ``page`` and ``query`` are the question for what else is done with it."""

    text: str
    address: str
    page: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure as Plotly takes it; ``figure_id`` is the element that holds its data."""

    figure_id: str
    title: str
    figure: Mapping[str, Any]
