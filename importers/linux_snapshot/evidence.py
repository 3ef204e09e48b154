"""What the sections of a snapshot say so far: counters, facts and problems of one host."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from importers.key_values import is_count, is_number
from importers.model import Fact, Reading
from importers.problem_log import ProblemLog

TICKS = "ticks"
"""1/100 s: USER_HZ, the unit of /proc's CPU times on practically every Linux."""

_new = tuple.__new__  # As in ``importers.fragment_builder``.
_COUNTS = re.compile(r"[0-9]{1,30}(?: [0-9]{1,30})*")


def are_counts(words: Iterable[str]) -> bool:
    """Whether there are words, each of which is a count."""
    return _COUNTS.fullmatch(" ".join(words)) is not None


@dataclass(frozen=True, slots=True)
class Section:
    """The output of one command or the text of one file: its title as printed, and its lines with their numbers."""

    title: str
    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def filled(self) -> list[tuple[int, str]]:
        """The lines that are not blank."""
        return [(number, text) for number, text in self.lines if text.strip()]


@dataclass(slots=True)
class Evidence:
    """Of several readings of the same counter, and of several facts of one key, the first counts.

    ``role`` is whose counters these are, empty while nobody knows.
    """

    role: str
    found: ProblemLog
    facts: dict[str, Fact] = field(default_factory=dict)
    counters: dict[tuple[str, str], Reading] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)

    def count(self, subject: str, name: str, text: str, unit: str, line: int) -> None:
        """Keep a counter; a text that is no number of it is left out, with a warning."""
        if is_count(text) or (unit == "s" and is_number(text)):
            self.keep(subject, name, text, unit, line)
        else:
            message = f"{name} of {subject} is {text[:40]!r}, which is no count; it was left out."
            self.found.warn("linux_snapshot.shape", message, "Take the snapshot again.", line)

    def keep(self, subject: str, name: str, text: str, unit: str, line: int) -> None:
        """Keep a counter that is known to be a number."""
        key = subject, name
        if key not in self.counters:
            self.counters[key] = _new(Reading, (name, text, unit, line, self.role, subject))

    def count_all(
        self, subject: str, names: Iterable[str], texts: Sequence[str], units: str | Iterable[str], line: int
    ) -> None:
        """Keep the counters of one line; an older kernel prints fewer of them, a newer one more.

        ``units``: that of all, or those of each.
        """
        # A line is asked at once whether all of it are counts, for nearly always they are.
        keep = self.keep if are_counts(texts) else self.count
        for name, text, unit in zip(names, texts, repeat(units) if isinstance(units, str) else units, strict=False):
            keep(subject, name, text, unit, line)

    def fact(self, key: str, text: str, line: int) -> None:
        """Keep a circumstance of the host; an empty text says nothing."""
        if text.strip():
            self.facts.setdefault(key, Fact(key, text.strip(), line, of_host=True))
