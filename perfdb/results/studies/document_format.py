"""A published document as data, before it is stored: what docs/studies.md describes, as typed rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from perfdb.analysis.audit import Method
from perfdb.results.runs.record import SystemIdentity


@dataclass(frozen=True, slots=True)
class DocumentRun:
    """A published run or mean of ``trials`` runs: its row in the document's data, and its dimensions as texts."""

    row: str
    run_id: str
    trial: int
    trials: int
    mtu_printed: str
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DocumentFigure:
    """A figure of the run in row ``run`` as ``table`` prints it; ``number`` is its text in ``read_as``."""

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
    """A printed difference: how much larger the figure of ``run`` is than that of ``baseline`` (rows)."""

    table: str
    line: int
    metric: str
    role: str
    run: str
    baseline: str
    printed: str


@dataclass(frozen=True, slots=True)
class DocumentClaim:
    """A number in the prose."""

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
    """What the document says of a device; no speed is None."""

    kind: str = ""
    speed_bits_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """Everything of one document. ``digest`` changes when any of it does.

    ``date``: what the runs are dated by, since documents rarely date them. ``audit_method``, ``asked_s``, ``think_ms``
    and ``mtu`` (of runs that print none) are what the audit must know of how it was measured. ``systems`` and
    ``devices`` are by the names the rows use.
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
