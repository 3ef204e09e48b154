"""Blocks of a load tool's output: the lines of one result, by kind."""

import re
from dataclasses import dataclass, field

from importers.fragment_builder import Printed

PERCENTILES = {"50": "p50", "75": "p75", "90": "p90", "95": "p95", "99": "p99", "99.9": "p999"}
"""Parts of metrics' names."""


@dataclass(slots=True)
class Block:
    """The lines of one result, one of each kind."""

    first_line: int
    last_line: int
    lines: dict[str, tuple[re.Match[str], int]] = field(default_factory=dict)

    def group(self, kind: str, name: str | int = 1) -> Printed | None:
        """Return a group of the line of a kind; None if missing or empty."""
        match, line = self.lines.get(kind, (None, 0))
        return Printed(match[name], line) if match and match[name] else None
