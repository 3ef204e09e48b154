"""Values and circumstances of a run for its page."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify

from perfdb.analysis.dimensions import FACTOR, NUMBERS
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.units import figure_text, scale_unit
from perfdb.results.changes.provenance import Figure, Place
from perfdb.results.models import PublishedFigure, Run
from perfdb.results.runs import evidence as origins
from perfdb.results.runs.normalize.alias_dimensions import PRINTED, printed_text
from perfdb.results.runs.record import FactValue

# Groups of metrics by the end of the name; the first match counts.
GROUPS = (
    ("CPU time per transaction", ("cpu_ms_per_trans",)),
    ("CPU time per MB", ("cpu_ms_per_mb",)),
    ("CPU utilisation of the whole system", ("cpu_util",)),
    ("Utilisation of one processor", ("processor_util", "run_wait")),
    ("Throughput and response", ("trans_per_s", "mb_per_s", "gbit_per_s", "_ms")),
    ("Totals and times", ("",)),
)
_FIRST_ROLES = (TOTAL, "client", "server")
_ORDER = ("Throughput and response", "CPU utilisation of the whole system", "Utilisation of one processor")


def group_of(metric: str) -> str:
    """Return the title of a metric's group."""
    return next(title for title, endings in GROUPS if metric.endswith(endings))


def list_roles(figures: Sequence[Figure]) -> list[str]:
    """Return roles with a column: total, client, server, then others beside another role."""
    by_metric: dict[str, set[str]] = {}
    for figure in figures:
        by_metric.setdefault(figure.metric.name, set()).add(figure.measure.role)
    beside = {role for roles in by_metric.values() if len(roles) > 1 for role in roles}
    own = {role for roles in by_metric.values() for role in roles if role in beside or role in _FIRST_ROLES}
    # Without a total there is no column where its only figure could stand.
    present = sorted(own if TOTAL in own else {figure.measure.role for figure in figures})
    return [role for role in _FIRST_ROLES if role in present] + [role for role in present if role not in _FIRST_ROLES]


def group_figures(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return the figures in groups, a line for each metric: throughput first, then utilisation, then costs."""
    columns = list_roles(figures)
    by_metric: dict[str, dict[str, tuple[int, Figure]]] = {}
    for number, figure in enumerate(figures):
        by_metric.setdefault(figure.metric.name, {})[figure.measure.role] = (number, figure)
    grouped: dict[str, list[dict[str, Any]]] = {}
    for name, by_role in by_metric.items():
        grouped.setdefault(group_of(name), []).append(_line(by_role, columns))
    titles = [*_ORDER, *(each for each, _ in GROUPS if each not in _ORDER)]
    return [{"title": title, "lines": grouped[title]} for title in titles if title in grouped]


def _line(by_role: Mapping[str, tuple[int, Figure]], columns: Sequence[str]) -> dict[str, Any]:
    """Return a metric. ``texts``: (number on the page, figure, text) of each role, or None.

    ``role``: that of the only figure if it has no column of its own. ``unit``: s instead of ms for large amounts.
    """
    figures, role = [by_role.get(role) for role in columns], ""
    if not any(figures):
        ((role, only),) = by_role.items()
        figures = [only, *([None] * (len(columns) - 1))]
    metric = next(iter(by_role.values()))[1].metric
    unit, scale = scale_unit(metric.unit, max(abs(each[1].value) for each in figures if each))
    texts = [each and (*each, figure_text(each[1].value / scale)) for each in figures]
    return {"metric": metric, "role": role, "unit": unit, "texts": texts}


def describe_run(run: Run) -> list[str]:
    """Return workload, device, MTU, users and trial, as far as known."""
    parts = (
        run.workload and run.workload.name,
        run.device and run.device.name,
        f"MTU {run.mtu}" if run.mtu is not None else None,
        f"{run.users} user{'' if run.users == 1 else 's'}" if run.users is not None else None,
        f"trial {run.trial}",
    )
    return [part for part in parts if part]


# The page's heading and path have these already.
_IN_HEADING = frozenset({"study", "workload", "device", "mtu", "users", "trial"})


def list_circumstances(run: Run) -> list[tuple[str, object]]:
    """Return (title, value) of the known dimensions that the heading lacks, or that a log spells differently."""
    numbers = {name: f"{each.title} ({each.unit})" if each.unit else each.title for name, each in NUMBERS.items()}
    titles = {"workload": "Workload", "device": "Device", "campaign": "Campaign", **numbers, "trial": "Trial"}
    known = [
        ("system", "System", _as_printed(run, "system", run.system)),
        ("level", "Level", _as_printed(run, "level", run.level)),
        *((name, title, _as_printed(run, name, getattr(run, name))) for name, title in titles.items()),
        *(
            (key, key.replace("_", " "), _as_printed(run, FACTOR + key, run.factors[key]))
            for key in sorted(run.factors)
        ),
        ("started", "Started (UTC)", _started(run)),
    ]
    return [
        (title, value)
        for name, title, value in known
        if value not in (None, "") and (name not in _IN_HEADING or isinstance(value, SafeString))
    ]


def _started(run: Run) -> str:
    """Return the start, or the day and the fact that gave the day."""
    if dated_by := _facts(run).get("dated_by"):
        return format_html('{} <span class="muted">by {}</span>', f"{run.started:%Y-%m-%d}", dated_by.text)
    return f"{run.started:%Y-%m-%d %H:%M:%S}"


def _as_printed(run: Run, dimension: str, value: object) -> object:
    """Return a value, with the printed text if different."""
    text = printed_text(_facts(run), dimension)
    if value in (None, "") or text in (None, "", str(value)):
        return value
    return format_html('{} <span class="muted">printed as {}</span>', value, text)


def _facts(run: Run) -> dict[str, FactValue]:
    evidence = getattr(run, "evidence", None)
    return origins.decode_facts(evidence) if evidence else {}


def list_facts(run: Run, paths: Mapping[int, str]) -> list[tuple[str, str, Place | None]]:
    """Return (key, text, place unless a person entered the fact) of all printed circumstances."""
    return [
        (key, fact.text, find_place(fact.artifact, fact.line, paths))
        for key, fact in sorted(_facts(run).items())
        # The printed texts of aliases are shown with the dimensions.
        if not key.startswith(PRINTED)
    ]


def find_place(artifact: int, line: int, paths: Mapping[int, str]) -> Place | None:
    """Return the place of a line in an artifact, or None if unknown. ``paths``: path of each artifact."""
    return Place(artifact, paths.get(artifact, ""), line) if artifact and line else None


class PrintedPlace(NamedTuple):
    """A figure in a document. ``address``: the table in the study's report."""

    figure: PublishedFigure
    labels: str
    address: str


def find_printed_places(run: Run) -> Mapping[Measure, list[PrintedPlace]]:
    """Return the places in documents that print a run's values, with addresses."""
    report = reverse("web:study", args=[run.study.slug])
    found: dict[Measure, list[PrintedPlace]] = {}
    for each in run.published_figures.order_by("line", "pk"):
        labels = ", ".join(filter(None, (each.row_label, each.column_label)))
        address = f"{report}#table-{slugify(each.table)}" if each.table else report
        found.setdefault(Measure(each.metric, each.role), []).append(PrintedPlace(each, labels, address))
    return found
