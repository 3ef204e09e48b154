"""The list of runs as its page shows it: columns with their headings, units and the address that sorts by them."""

from dataclasses import dataclass, replace

from django.http import QueryDict

from perfdb.analysis import metrics
from perfdb.results.querysets import NEWEST_FIRST, RUN_ORDERINGS

# Shown metrics with headings short enough for a table of fifteen columns.
_METRICS = {
    "trans_per_s": "Transactions",
    "mb_per_s": "Throughput",
    "response_ms": "Response",
    "cpu_util": "CPU",
    "cpu_ms_per_trans": "CPU",
    "cpu_ms_per_mb": "CPU",
}
_WORDS = {"run_id": "Run", "trial": "Trial", "study": "Study", "workload": "Workload", "device": "Device"}
_NUMBERS = {"mtu": "MTU", "users": "Users"}
# What one wants to see first of a column: the largest number, the first name.
_DESCENDING_FIRST = {"started", "trans_per_s", "mb_per_s", "cpu_util"}


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's heading. ``address`` sorts by it, empty where nothing can; ``direction`` is the ARIA word."""

    title: str
    unit: str
    number: bool
    address: str
    direction: str


def fixed_headings() -> list[Heading]:
    """The same headings where the list cannot be sorted."""
    return [replace(heading, address="", direction="") for heading in headings(QueryDict())]


def headings(data: QueryDict) -> list[Heading]:
    """The headings of the list of runs for the parameters of its address."""
    sort = data.get("sort") or NEWEST_FIRST
    plain = [_heading(data, sort, name, title, "", number=name == "trial") for name, title in _WORDS.items()]
    numbers = [_heading(data, sort, name, title, "", number=True) for name, title in _NUMBERS.items()]
    measured = [
        _heading(data, sort, name, title, metrics.BY_NAME[name].unit, number=True) for name, title in _METRICS.items()
    ]
    return [*plain, *numbers, *measured, _heading(data, sort, "started", "Started", "UTC", number=False)]


def _heading(data: QueryDict, sort: str, name: str, title: str, unit: str, *, number: bool) -> Heading:
    directions = {name: "ascending", f"-{name}": "descending"}
    address = _sorted_by(data, sort, name) if name in RUN_ORDERINGS else ""
    return Heading(title, unit, number, address, directions.get(sort, ""))


def _sorted_by(data: QueryDict, sort: str, name: str) -> str:
    """The same list sorted by ``name``, or the other way round if it is sorted so already; from the beginning."""
    first, second = (f"-{name}", name) if name in _DESCENDING_FIRST else (name, f"-{name}")
    asked = data.copy()
    asked.pop("cursor", None)
    asked["sort"] = second if sort == first else first
    return f"?{asked.urlencode()}"


def with_cursor(data: QueryDict, cursor: str | None) -> str:
    """The address of a neighbouring page; empty where there is none."""
    if cursor is None:
        return ""
    asked = data.copy()
    asked["cursor"] = cursor
    return f"?{asked.urlencode()}"
