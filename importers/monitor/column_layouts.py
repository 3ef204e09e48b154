"""What a report's columns are called and mean: a ``Layout`` for each report that is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from importers.monitor.columns import normalised as normal

CLOCK = "hh:mm:ss"
MEAN, TOTAL, SYSTEM = "mean", "total", "system"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is understood: its name, its unit ("" for words), and how its heading may read."""

    name: str
    unit: str
    headings: tuple[str, ...]


def column(name: str, unit: str, *headings: str) -> Column:
    """A column; several headings are synonyms, and another one is one more argument."""
    return Column(name, unit, headings)


@dataclass(frozen=True, eq=False)
class Layout:
    """A report that is read. The first column tells the rows apart; ``intervals`` when it is the end of each.

    ``summary``: the row that a whole report has (``mean``, ``total``), "" where none is asked for. ``continued``:
    a row may leave the first columns blank, which are then those of the row before. ``key``: what the first column
    of a row looks like where a table stands among other text, which is then passed over. ``vital``: the columns that
    figures come from.
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
        """The columns by their normalised headings."""
        return {normal(heading): column for column in self.columns for heading in column.headings}


def named(layout: Layout, headings: tuple[str, ...]) -> tuple[Column, ...]:
    """A table's columns: the understood ones by their names, the others by their headings, as words."""
    found = [layout.by_heading.get(normal(each)) or Column(each, "", (each,)) for each in headings]
    seen: set[str] = set()
    columns = []
    for each in found:
        columns.append(Column(each.headings[0], "", each.headings) if each.name in seen else each)
        seen.add(each.name)
    return tuple(columns)
