"""Names and meanings of a report's columns: a ``Layout`` for each report."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from importers.monitor.columns import normalised as normal

CLOCK = "hh:mm:ss"
MEAN, TOTAL, SYSTEM = "mean", "total", "system"


@dataclass(frozen=True, slots=True)
class Column:
    """A known column: name, unit ("" for words), and spellings of its heading."""

    name: str
    unit: str
    headings: tuple[str, ...]


def column(name: str, unit: str, *headings: str) -> Column:
    """Return a column with one or more spellings of its heading."""
    return Column(name, unit, headings)


@dataclass(frozen=True, eq=False)
class Layout:
    """A report to be read; its first column tells the rows apart.

    ``summary``: the row of a complete report (``mean``, ``total``), "" if there is none. ``continued``:
    a row may leave its first columns blank, which repeat those of the row before. ``key``: pattern of the first column
    where a table is among other text, which is skipped. ``vital``: the columns with values.
    """

    name: str
    number: str
    columns: tuple[Column, ...]
    intervals: bool = False
    summary: str = ""
    continued: bool = False
    key: re.Pattern[str] | None = None
    vital: tuple[str, ...] = ()

    @cached_property
    def by_heading(self) -> Mapping[str, Column]:
        """Return the columns by their normalised headings."""
        return {normal(heading): column for column in self.columns for heading in column.headings}


def named(layout: Layout, headings: tuple[str, ...]) -> tuple[Column, ...]:
    """Return a table's columns: known ones by name, others by heading, as words."""
    found = [layout.by_heading.get(normal(each)) or Column(each, "", (each,)) for each in headings]
    seen: set[str] = set()
    columns = []
    for each in found:
        columns.append(Column(each.headings[0], "", each.headings) if each.name in seen else each)
        seen.add(each.name)
    return tuple(columns)
