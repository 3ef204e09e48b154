"""The maximum-throughput question: for each device, or whatever else, the best experiment and what it cost."""

from perfdb.analysis.dimensions import FACTOR
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Layout, Pick, Query
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.workloads import parse_workload, primary_metric
from perfdb.results.runs import measures

# What the table shows, in the order in which studies print it: rates of the whole run, then utilisations and costs,
# total first and then the roles.
_RATES = ("mb_per_s", "trans_per_s", "response_ms")
_BY_ROLE = (
    "cpu_util",
    "virtual_cpu_util",
    "cp_cpu_util",
    "processor_util",
    "virtual_processor_util",
    "cp_processor_util",
    "run_wait",
    "cpu_ms_per_trans",
    "virtual_cpu_ms_per_trans",
    "cp_cpu_ms_per_trans",
    "cpu_ms_per_mb",
    "virtual_cpu_ms_per_mb",
    "cp_cpu_ms_per_mb",
)

# What a study without devices is most likely about, the first that varies.
_INSTEAD = ("level", "system", "layer", "mtu", "campaign", "study", "users")


def pattern_of(workload: str) -> str:
    """The traffic pattern of a workload; raises QueryError for one that has none."""
    try:
        return parse_workload(workload).pattern
    except ValueError as error:
        raise QueryError("workload", str(error)) from None


def maximum(asked: Query) -> Query:
    """The maximum-throughput question about the runs that ``asked`` selects, the best of each of its columns.

    Columns are devices and the measures all that any run has, unless it names some. Asked again of what it answers,
    it changes nothing. Raises QueryError for two workloads.
    """
    workloads = asked.filters.get("workload") or ("RR",)
    if len(workloads) > 1:
        raise QueryError("workload", "a maximum-throughput table is about one workload")
    primary = Measure(primary_metric(pattern_of(str(workloads[0]))))
    query = Query(
        metrics=(primary, *(asked.metrics or _shown())),
        filters=dict(asked.filters) | {"workload": workloads},
        exclude=asked.exclude,
        ranges=asked.ranges,
        summary=asked.summary,
        layout=Layout.METRICS,
    )
    return best_of_each(query, asked.columns or ("device",))


def best_of_each(query: Query, names: tuple[str, ...]) -> Query:
    """The same maximum-throughput question with the best experiment for each value of these dimensions."""
    return query.replace(columns=names, pick=Pick(query.metrics[0], names))


def telling(found: Observations) -> str:
    """What the best may be told apart by: the device, and where no run has one the first thing that varies."""
    factors = tuple(name for name in found.dimensions if name.startswith(FACTOR))
    for name in ("device", *factors, *_INSTEAD):
        values = set(found.coded(name).values)
        if len(values) > 1 or (name == "device" and values - {None}):
            return name
    return "device"


def offered(names: list[str]) -> list[str]:
    """Of these dimensions those that the best may be picked for: what tells experiments apart, but the workload."""
    return [name for name in names if name not in REPEATS and name != "workload"]


def _shown() -> tuple[Measure, ...]:
    """Every measure of the table that any run has."""
    known = sorted(measures.slots(), key=lambda each: (each.role != TOTAL, each.role))
    return (*map(Measure, _RATES), *(each for name in _BY_ROLE for each in known if each.metric == name))
