"""Maximum-throughput query: each device's best experiment and the costs."""

from perfdb.analysis.dimensions import FACTOR
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS, Layout, Pick, Query
from perfdb.analysis.tables.observations import Observations
from perfdb.analysis.workloads import parse_workload, primary_metric
from perfdb.results.runs import measures

# The measures of the table in the order of printed studies: rates, then utilisations and costs, total before roles.
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

# The columns for a study without devices: the first of these dimensions that varies.
_INSTEAD = ("level", "system", "layer", "mtu", "campaign", "study", "users")


def parse_pattern(workload: str) -> str:
    """Return the traffic pattern of a workload. Raise QueryError for a workload without one."""
    try:
        return parse_workload(workload).pattern
    except ValueError as error:
        raise QueryError("workload", str(error)) from None


def build_maximum_query(asked: Query) -> Query:
    """Return the maximum-throughput query for the runs of ``asked``.

    By default the columns are devices, and the measures all that any run has. Given its own result, the function
    returns an equal query. Raise QueryError for two workloads.
    """
    workloads = asked.filters.get("workload") or ("RR",)
    if len(workloads) > 1:
        raise QueryError("workload", "a maximum-throughput table is about one workload")
    primary = Measure(primary_metric(parse_pattern(str(workloads[0]))))
    query = Query(
        metrics=(primary, *(asked.metrics or _shown())),
        filters=dict(asked.filters) | {"workload": workloads},
        exclude=asked.exclude,
        ranges=asked.ranges,
        summary=asked.summary,
        layout=Layout.METRICS,
    )
    return pick_best_of_each(query, asked.columns or ("device",))


def pick_best_of_each(query: Query, names: tuple[str, ...]) -> Query:
    """Return the query with the best experiment for each value of some dimensions."""
    return query.replace(columns=names, pick=Pick(query.metrics[0], names))


def find_telling_dimension(found: Observations) -> str:
    """Return the dimension for columns: device, or the first that varies."""
    factors = tuple(name for name in found.dimensions if name.startswith(FACTOR))
    for name in ("device", *factors, *_INSTEAD):
        values = set(found.coded_column(name).values)
        if len(values) > 1 or (name == "device" and values - {None}):
            return name
    return "device"


def select_offered(names: list[str]) -> list[str]:
    """Return the dimensions for which a best can be picked."""
    return [name for name in names if name not in REPEATS and name != "workload"]


def _shown() -> tuple[Measure, ...]:
    """Return the measures of the table that any run has."""
    known = sorted(measures.read_slots(), key=lambda each: (each.role != TOTAL, each.role))
    return (*map(Measure, _RATES), *(each for name in _BY_ROLE for each in known if each.metric == name))
