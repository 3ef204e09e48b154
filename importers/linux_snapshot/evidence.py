"""Counters, facts and problems of a snapshot's host, section by section."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from importers.key_values import is_count, is_number
from importers.model import Fact, ProblemLog, Reading

TICKS = "ticks"
"""1/100 s: USER_HZ, the unit of /proc's CPU times on practically every Linux."""

_COUNTS = re.compile(r"[0-9]{1,30}(?: [0-9]{1,30})*")


def are_counts(words: Iterable[str]) -> bool:
    """Return whether there are words, and only counts."""
    return _COUNTS.fullmatch(" ".join(words)) is not None


@dataclass(frozen=True, slots=True)
class Section:
    """The output of a command or text of a file: title and numbered lines."""

    title: str
    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def filled(self) -> list[tuple[int, str]]:
        """Return the lines that are not blank."""
        return [(number, text) for number, text in self.lines if text.strip()]


@dataclass(slots=True)
class Evidence:
    """The first reading of each counter and the first fact of each key.

    ``role`` owns the counters, empty while unknown.
    """

    role: str
    found: ProblemLog
    facts: dict[str, Fact] = field(default_factory=dict)
    counters: dict[tuple[str, str], Reading] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)

    def count(self, subject: str, name: str, text: str, unit: str, line: int) -> None:
        """Add a counter; report and drop a text that is not a number."""
        if is_count(text) or (unit == "s" and is_number(text)):
            self.keep(subject, name, text, unit, line)
        else:
            message = f"{name} of {subject} is {text[:40]!r}, which is no count; it was left out."
            self.found.warn("linux_snapshot.shape", message, "Take the snapshot again.", line)

    def keep(self, subject: str, name: str, text: str, unit: str, line: int) -> None:
        """Add a counter that is known to be a number."""
        key = subject, name
        if key not in self.counters:
            self.counters[key] = Reading(name, text, unit, line, self.role, subject)

    def count_all(
        self, subject: str, names: Iterable[str], texts: Sequence[str], units: str | Iterable[str], line: int
    ) -> None:
        """Add the counters of one line, as many as the kernel prints.

        ``units``: one unit for all, or one for each.
        """
        # A line is asked at once whether all of it are counts, for nearly always they are.
        keep = self.keep if are_counts(texts) else self.count
        for name, text, unit in zip(names, texts, repeat(units) if isinstance(units, str) else units, strict=False):
            keep(subject, name, text, unit, line)

    def fact(self, key: str, text: str, line: int) -> None:
        """Add a circumstance of the host, unless empty."""
        if text.strip():
            self.facts.setdefault(key, Fact(key, text.strip(), line, of_host=True))
