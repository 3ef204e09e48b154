"""Run as plain data, made by imports, written by COPY, and read back.

One type for all three, so that derivation, preview and rebuild work alike on stored and new runs. Numbers are in base
units; artifacts are ids, 0 for "none"; lines count from 1, 0 for "none".
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from importers.model import Fragment, Listing, Problem, ProblemLog, Reading
from perfdb.analysis.audit.printed_values import Disagreement
from perfdb.analysis.dimensions import NUMBERS
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import Workload, lacks_sizes, workload_name

_EPOCH = datetime(1970, 1, 1)
_OFFSET = re.compile(r"([+-])(0?[0-9]|1[0-4])(?::?([0-5][0-9]))?")
LARGEST_SAMPLE = 3.4e38  # what a four-byte float holds


class Origin(StrEnum):
    """Origin of a value, as stored."""

    REPORTED = "r"
    DERIVED = "d"
    PUBLISHED = "p"
    GIVEN = "g"

    @property
    def word(self) -> str:
        """Return the word for pages and API."""
        return self.name.lower()


class Value(NamedTuple):
    """One measurement; ``formula`` is ``id/version`` of a derived value."""

    value: float
    origin: Origin
    printed: str = ""
    artifact: int = 0
    line: int = 0
    formula: str = ""


class FactValue(NamedTuple):
    """A circumstance as printed, with the place."""

    text: str
    artifact: int = 0
    line: int = 0


@dataclass(slots=True)
class Counters:
    """Counters of one role and subject before and after; None for a missing reading."""

    role: str
    subject: str
    host: str
    names: list[str]
    before: list[float | None]
    after: list[float | None]
    before_lines: list[int]
    after_lines: list[int]
    before_artifact: int = 0
    after_artifact: int = 0
    usable: bool = True


class TraceColumn(NamedTuple):
    """One column of a listing; ``samples`` has NaN for gaps."""

    artifact: int
    listing: str
    position: int
    column: str
    unit: str
    samples: list[float]


@dataclass(frozen=True, slots=True)
class Source:
    """A source file of a run, with upload and digests of content.

    ``spans``: first and last lines used. ``driver``: the file has the client's log of the load driver.
    """

    artifact: int
    upload: int
    path: str
    format: str
    format_version: int
    digests: tuple[str, ...]
    driver: bool
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SystemIdentity:
    """The four properties that identify a system."""

    machine: str = ""
    host: str = ""
    processors: int | None = None
    memory_bytes: int | None = None

    @property
    def name(self) -> str:
        """Return the system's name for pages and filters; "" if nothing is known."""
        parts = [self.machine, self.host]
        if self.processors:
            parts.append(f"{self.processors} processor{'s' if self.processors > 1 else ''}")
        if self.memory_bytes:
            parts.append(f"{self.memory_bytes / 2**30:g} GB")
        return " · ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Dimensions of an experiment, without the study."""

    workload: Workload | None = None
    device: str | None = None
    mtu: int | None = None
    users: int | None = None
    layer: int | None = None
    campaign: str = ""
    system: SystemIdentity | None = None
    level: str | None = None
    factors: Mapping[str, str] = field(default_factory=dict)

    def dimensions(self) -> dict[str, str | int]:
        """Return the known dimensions by name, in the dimensions' order."""
        named: dict[str, str | int | None] = {
            "campaign": self.campaign or None,
            "system": self.system.name if self.system else None,
            "level": self.level,
            "workload": format_workload(self.workload) if self.workload else None,
            "device": self.device,
            **{name: getattr(self, name) for name in NUMBERS},
            **{f"factor.{name}": value for name, value in sorted(self.factors.items())},
        }
        return {name: value for name, value in named.items() if value is not None and value != ""}

    def agrees(self, other: "Configuration") -> bool:
        """Return whether all dimensions that both configurations know are equal."""
        mine, theirs = self._known(), other._known()
        return all(theirs[name] == value for name, value in mine.items() if name in theirs)

    def _known(self) -> dict[str, str | int]:
        """Return the known dimensions, with the system in parts.

        A single capture may know the host and nothing else of the system, a log a pattern without its sizes.
        """
        known = self.dimensions()
        if lacks_sizes(known.get("workload")):
            del known["workload"]
        known.pop("system", None)
        system = self.system or SystemIdentity()
        parts = {f"system.{part.name}": getattr(system, part.name) for part in fields(system)}
        return known | {name: value for name, value in parts.items() if value}


@dataclass(slots=True)
class RunRecord:
    """A run with all data; a ``refused`` one must not be stored.

    ``tags`` are only stored with a new run. ``is_named`` is False if the run ID is only a file's name.
    """

    run_id: str
    trial: int
    status: str
    started: datetime
    configuration: Configuration
    values: dict[Measure, Value] = field(default_factory=dict)
    counters: list[Counters] = field(default_factory=list)
    traces: list[TraceColumn] = field(default_factory=list)
    facts: dict[str, FactValue] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    has_driver: bool = False
    is_named: bool = True
    refused: bool = False

    @property
    def identity(self) -> str:
        """Return ``run_id/trial``, the run's name in decisions."""
        return f"{self.run_id}/{self.trial}"

    def log_of(self, file: str = "") -> ProblemLog:
        """Return a log that adds problems of a file to the run's."""
        return ProblemLog(file, self.run_id, self.problems)

    def leave_out(
        self, reading: Reading, file: str, why: object, remedy: str = "Correct the file and upload it again."
    ) -> None:
        """Add the problem of a value that cannot be read."""
        message = f"{reading.name} of run {self.run_id}: {why}; it is left out."
        self.log_of(file).warn("run.value-unreadable", message, remedy, reading.line)


def format_workload(workload: Workload) -> str:
    """Return the name of a workload, which is the value of dimension ``workload``."""
    return workload_name(workload.pattern, workload.request_bytes, workload.response_bytes)


def moment_to_seconds(moment: datetime) -> float:
    """Return a local time in seconds as a counter; only differences have a meaning."""
    return (moment.replace(tzinfo=None) - _EPOCH) / timedelta(seconds=1)


def seconds_to_moment(seconds: float) -> datetime:
    """Return the local time from the seconds of `moment_to_seconds`."""
    return _EPOCH + timedelta(seconds=seconds)


def parse_sample(text: str | None) -> float:
    """Return a trace's sample; NaN for gaps, other texts and too large numbers."""
    try:
        value = float(text) if text else math.nan
    except ValueError:
        return math.nan
    return value if abs(value) <= LARGEST_SAMPLE else math.nan


def trace_columns(listing: Listing, artifact: int) -> Iterator[TraceColumn]:
    """Yield the columns of a listing that have numbers."""
    columns = zip(*listing.rows, strict=True)
    for position, ((name, unit), cells) in enumerate(zip(listing.columns, columns, strict=False)):
        samples = list(map(parse_sample, cells))
        if not all(map(math.isnan, samples)):
            yield TraceColumn(artifact, listing.name, position, name, unit, samples)
