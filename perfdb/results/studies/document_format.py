"""A published document as typed rows (docs/studies.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from perfdb.analysis.audit.printed_values import Method
from perfdb.results.runs.record import SystemIdentity


@dataclass(frozen=True, slots=True)
class DocumentRun:
    """A published run, or mean of ``trials``; ``row`` is its key."""

    row: str
    run_id: str
    trial: int
    trials: int
    mtu_printed: str
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DocumentFigure:
    """A figure of a run (row) as printed; ``number`` is in the unit ``read_as``."""

    run: str
    table: str
    line: int
    metric: str
    role: str
    printed: str
    number: str
    unit: str
    read_as: str
    row_label: str
    column_label: str


@dataclass(frozen=True, slots=True)
class DocumentPercent:
    """A printed difference in per cent of ``run`` from ``baseline`` (rows)."""

    table: str
    line: int
    metric: str
    role: str
    run: str
    baseline: str
    printed: str


@dataclass(frozen=True, slots=True)
class DocumentClaim:
    """A number in the document's prose, as stored in `Claim`."""

    name: str
    line: int
    printed: str
    relation: str
    value: float
    unit: str
    metric: str
    role: str
    compared: str
    baseline: str


@dataclass(frozen=True, slots=True)
class DocumentItem:
    """A table, figure or finding of the report; ``queries`` do not name the study."""

    kind: str
    number: str
    title: str
    queries: tuple[str, ...] = ()
    asks: str = ""
    prose: str = ""


@dataclass(frozen=True, slots=True)
class DocumentDevice:
    """The kind and speed of a document's device, as far as known."""

    kind: str = ""
    speed_bits_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A published document; ``digest`` changes with the content.

    ``date`` dates the runs, since documents rarely do. ``audit_method``, ``asked_s``, ``think_ms`` and ``mtu`` (of runs
    that print none) describe the measurement for the audit. ``systems`` and ``devices`` have the names of the rows.
    """

    slug: str
    title: str
    purpose: str
    method: str
    source: str
    digest: str
    date: date
    runs: Sequence[DocumentRun] = ()
    figures: Sequence[DocumentFigure] = ()
    percents: Sequence[DocumentPercent] = ()
    claims: Sequence[DocumentClaim] = ()
    items: Sequence[DocumentItem] = ()
    systems: Mapping[str, SystemIdentity] = field(default_factory=dict)
    devices: Mapping[str, DocumentDevice] = field(default_factory=dict)
    notes: Sequence[Mapping[str, object]] = ()
    plan: Sequence[Mapping[str, object]] = ()
    audit_method: Method | None = None
    asked_s: float | None = None
    mtu: int | None = None
    run_id_pattern: str = ""
    run_id_values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    think_ms: float | None = None
