"""A run's figures laid out as the published tables do: metrics as lines in groups, roles as columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from perfdb.analysis.metrics import TOTAL, Metric
from perfdb.results.changes.provenance import Figure

# Which metrics stand together, by the end of their name; the first that fits counts.
GROUPS = (
    ("CPU time per transaction", ("cpu_ms_per_trans",)),
    ("CPU time per MB", ("cpu_ms_per_mb",)),
    ("CPU utilisation of the whole system", ("cpu_util",)),
    ("Utilisation of one processor", ("processor_util", "run_wait")),
    ("Throughput and response", ("trans_per_s", "mb_per_s", "gbit_per_s", "_ms")),
    ("Amounts and times", ("",)),
)
_FIRST_ROLES = (TOTAL, "client", "server")
_ORDER = ("Throughput and response", "CPU utilisation of the whole system", "Utilisation of one processor")


@dataclass(frozen=True, slots=True)
class Line:
    """A metric and its figure for each role; ``figures`` are (number on the page, figure), None where there is none."""

    metric: Metric
    figures: list[tuple[int, Figure] | None]


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that belong together."""

    title: str
    lines: list[Line]


def group_of(metric: str) -> str:
    """The title of the group in which a metric stands."""
    return next(title for title, endings in GROUPS if metric.endswith(endings))


def _position(title: str) -> int:
    """Throughput first, then utilisation, then costs, then the rest."""
    titles = [*_ORDER, *(each for each, _ in GROUPS if each not in _ORDER)]
    return titles.index(title)


def roles(figures: Sequence[Figure]) -> list[str]:
    """The roles that any figure has: total, client and server as tables are printed, then the others by name."""
    present = sorted({figure.measure.role for figure in figures})
    return [role for role in _FIRST_ROLES if role in present] + [role for role in present if role not in _FIRST_ROLES]


def groups(figures: Sequence[Figure]) -> list[Group]:
    """The figures in groups, each metric a line with a place for each role."""
    columns = roles(figures)
    by_metric: dict[str, dict[str, tuple[int, Figure]]] = {}
    for number, figure in enumerate(figures):
        by_metric.setdefault(figure.metric.name, {})[figure.measure.role] = (number, figure)
    grouped: dict[str, list[Line]] = {}
    for name, by_role in by_metric.items():
        metric = next(iter(by_role.values()))[1].metric
        grouped.setdefault(group_of(name), []).append(Line(metric, [by_role.get(role) for role in columns]))
    return [Group(title, grouped[title]) for title in sorted(grouped, key=_position)]
