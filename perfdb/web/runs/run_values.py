"""Values and circumstances of a run for its page; the run among its trials."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import slugify

from perfdb.analysis.dimensions import FACTOR, NUMBERS
from perfdb.analysis.insights.run_vs_trials import RunVsTrials
from perfdb.analysis.metrics import TOTAL, Measure, Metric
from perfdb.analysis.units import decimals_for, round_half_up, short_percent
from perfdb.analysis.verdicts.flags import Flag
from perfdb.results.changes.provenance import Figure, Place
from perfdb.results.models import Run
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


@dataclass(frozen=True, slots=True)
class Line:
    """A metric. ``figures``: (number on the page, figure) of each role, or None.

    ``role``: that of the only figure if it has no column of its own.
    """

    metric: Metric
    figures: list[tuple[int, Figure] | None]
    role: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Lines under a title."""

    title: str
    lines: list[Line]


def group_of(metric: str) -> str:
    """Return the title of a metric's group."""
    return next(title for title, endings in GROUPS if metric.endswith(endings))


def _position(title: str) -> int:
    """Return a key that sorts throughput first, then utilisation, then costs."""
    titles = [*_ORDER, *(each for each, _ in GROUPS if each not in _ORDER)]
    return titles.index(title)


def list_roles(figures: Sequence[Figure]) -> list[str]:
    """Return the roles with a column: total, client, server, then others by name.

    Another role has none if no metric has it beside a second role.
    """
    by_metric: dict[str, set[str]] = {}
    for figure in figures:
        by_metric.setdefault(figure.metric.name, set()).add(figure.measure.role)
    beside = {role for roles in by_metric.values() if len(roles) > 1 for role in roles}
    own = {role for roles in by_metric.values() for role in roles if role in beside or role in _FIRST_ROLES}
    # Without a total there is no column where its only figure could stand.
    present = sorted(own if TOTAL in own else {figure.measure.role for figure in figures})
    return [role for role in _FIRST_ROLES if role in present] + [role for role in present if role not in _FIRST_ROLES]


def group_figures(figures: Sequence[Figure]) -> list[Group]:
    """Return the figures in groups, a line for each metric."""
    columns = list_roles(figures)
    by_metric: dict[str, dict[str, tuple[int, Figure]]] = {}
    for number, figure in enumerate(figures):
        by_metric.setdefault(figure.metric.name, {})[figure.measure.role] = (number, figure)
    grouped: dict[str, list[Line]] = {}
    for name, by_role in by_metric.items():
        metric = next(iter(by_role.values()))[1].metric
        line = Line(metric, [by_role.get(role) for role in columns])
        if not any(line.figures):
            ((role, only),) = by_role.items()
            line = Line(metric, [only, *([None] * (len(columns) - 1))], role)
        grouped.setdefault(group_of(name), []).append(line)
    return [Group(title, grouped[title]) for title in sorted(grouped, key=_position)]


@dataclass(frozen=True, slots=True)
class Fact:
    """A circumstance as printed; ``place`` is None if a person entered the fact."""

    key: str
    text: str
    place: Place | None


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


def list_circumstances(run: Run) -> list[tuple[str, object]]:
    """Return (title, value) of dimensions and system; None if missing."""
    fixed: list[tuple[str, object]] = [
        ("Study", run.study),
        ("Campaign", _as_printed(run, "campaign", run.campaign)),
        ("Workload", _as_printed(run, "workload", run.workload)),
        ("Device", _as_printed(run, "device", run.device)),
        *(
            (f"{each.title} ({each.unit})" if each.unit else each.title, _as_printed(run, name, getattr(run, name)))
            for name, each in NUMBERS.items()
        ),
        ("Trial", _as_printed(run, "trial", run.trial)),
        ("System", _as_printed(run, "system", run.system)),
        ("Processors", run.system and run.system.processors),
        ("Level", _as_printed(run, "level", run.level)),
        ("Started (UTC)", _started(run)),
    ]
    factors = sorted(run.factors.items())
    return [*fixed, *((key.replace("_", " "), _as_printed(run, f"{FACTOR}{key}", value)) for key, value in factors)]


def _started(run: Run) -> str:
    """Return the start, or the day and the fact that gave the day."""
    dated_by = _facts(run).get("dated_by")
    if dated_by is not None:
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


def list_facts(run: Run, paths: Mapping[int, str]) -> list[Fact]:
    """Return all printed circumstances by key. ``paths``: path of each artifact."""
    # The printed texts of aliases are shown with the dimensions.
    return [_fact(key, fact, paths) for key, fact in sorted(_facts(run).items()) if not key.startswith(PRINTED)]


def _fact(key: str, fact: FactValue, paths: Mapping[int, str]) -> Fact:
    place = Place(fact.artifact, paths.get(fact.artifact, ""), fact.line) if fact.artifact and fact.line else None
    return Fact(key, fact.text, place)


@dataclass(frozen=True, slots=True)
class PrintedAt:
    """A place in a document that prints a value.

    ``address``: the table in the study's report.
    """

    table: str
    line: int | None
    printed: str
    unit: str
    labels: str
    address: str


def find_printed_places(run: Run) -> Mapping[Measure, list[PrintedAt]]:
    """Return the places that print a run's values; empty for measured runs."""
    report = reverse("web:study", args=[run.study.slug])
    found: dict[Measure, list[PrintedAt]] = {}
    for each in run.published_figures.order_by("line", "pk"):
        labels = ", ".join(text for text in (each.row_label, each.column_label) if text)
        address = f"{report}#table-{slugify(each.table)}" if each.table else report
        place = PrintedAt(each.table, each.line, each.printed, each.unit, labels, address)
        found.setdefault(Measure(each.metric, each.role), []).append(place)
    return found


# In units of the SVG element, which scales.
WIDTH, HEIGHT, _MARGIN = 240.0, 24.0, 10.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A trial on a strip. ``here``: the page's own run."""

    x: float
    run: int
    text: str
    here: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """A metric of the run among its trials; positions in the strip's units."""

    title: str
    unit: str
    value: str
    mean: str
    trials: int
    percent: str
    dots: list[Dot]
    mean_at: float | None
    interval: tuple[float, float] | None
    said: str
    flags: list[Flag]


def build_strips(standings: Iterable[RunVsTrials], run: Run) -> list[Strip]:
    """Return the strips of a run's main metrics."""
    return [_strip(each, run) for each in standings]


def _strip(found: RunVsTrials, run: Run) -> Strip:
    values = {trial.run: trial.value for trial in found.trials} | {run.pk: found.value}
    numbers = {trial.run: trial.trial for trial in found.trials} | {run.pk: run.trial}
    reach = [*values.values(), *(found.interval or ())]
    least, most = min(reach), max(reach)
    decimals = decimals_for(values.values(), found.metric.decimals)

    def place(value: float) -> float:
        share = (value - least) / (most - least) if most > least else 0.5
        return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 2)

    def printed(value: float) -> str:
        return round_half_up(value, decimals)

    dots = [
        Dot(place(value), pk, f"trial {numbers[pk]}: {printed(value)} {found.metric.unit}", pk == run.pk)
        for pk, value in values.items()
        if isinstance(pk, int)
    ]
    return Strip(
        title=found.metric.title,
        unit=found.metric.unit,
        value=printed(found.value),
        mean="" if found.mean is None else printed(found.mean),
        trials=len(found.trials),
        percent="" if found.percent is None else short_percent(found.percent / 100, plus=True),
        # Draw the own run last, on top.
        dots=sorted(dots, key=lambda dot: dot.here),
        mean_at=None if found.mean is None else place(found.mean),
        interval=None if found.interval is None else (place(found.interval[0]), place(found.interval[1])),
        said=_in_words(found, printed),
        flags=list(found.flags),
    )


def _in_words(found: RunVsTrials, printed: Callable[[float], str]) -> str:
    parts = [f"{printed(found.value)} {found.metric.unit}"]
    if found.mean is not None:
        parts.append(f"the mean of {len(found.trials)} trials is {printed(found.mean)}")
    if found.interval is not None:
        parts.append(f"95 % of means: {printed(found.interval[0])} to {printed(found.interval[1])}")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Sibling:
    """A trial in the table. ``here``: the page's own run."""

    row: dict[str, Any]
    here: bool
    compare: str


def build_siblings(run: Run, rows: Sequence[dict[str, Any]]) -> list[Sibling]:
    """Return the trials of a run's experiment, each with the address to compare."""
    return [Sibling(row, row["id"] == run.pk, _against(run, row)) for row in rows]


def _against(run: Run, row: dict[str, Any]) -> str:
    """Return the address that compares both runs, or "" if one does not count."""
    counting = run.status == row["status"] == Run.Status.COMPLETE
    if row["id"] == run.pk or not counting:
        return ""
    name = "run_id" if row["run_id"] != run.run_id else "trial"
    base = run.run_id if name == "run_id" else run.trial
    asked = [("run", run.pk), ("run", row["id"]), ("rows", name), ("baseline", f"{name}:{base}")]
    return f"{reverse('web:charts')}?{urlencode(asked)}"
