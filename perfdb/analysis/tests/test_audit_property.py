"""No false alarm, and none missed: whole runs are made consistently, printed with any decimals, and then moved."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.audit.audit_run import audit_run, audit_runs
from perfdb.analysis.audit.printed_values import Method, Printed, PrintedRun
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units import round_half_up
from perfdb.analysis.workloads import Workload, message_mb, parse_workload

PREFIXES = ("", "virtual_", "cp_")
# All that follow from figures that are printed beside them.
RESULTS = (
    "response_ms",
    "trans_per_s",
    "mb_per_s",
    "gbit_per_s",
    *(f"{prefix}cpu_ms_per_trans" for prefix in PREFIXES),
    *(f"{prefix}cpu_ms_per_trans@client" for prefix in PREFIXES),
    "cpu_util",
    "cpu_util@server",
)


@dataclass(frozen=True)
class Truth:
    """A run as it was: nothing is rounded."""

    users: int
    transactions: int
    driver_s: float
    elapsed_s: float
    asked_s: float
    processors: int
    # Virtual and CP time of client and server, in per cent of the system.
    client: tuple[float, float]
    server: tuple[float, float]
    workload: Workload
    method: Method

    def figures(self) -> dict[str, float]:
        """Every figure that a report of the run could print."""
        assert self.workload.request_bytes is not None
        assert self.workload.response_bytes is not None
        rate = self.transactions / self.driver_s
        mb = rate * (self.workload.request_bytes + self.workload.response_bytes) / 2**20
        values = {
            "transactions": float(self.transactions),
            "driver_s": self.driver_s,
            "elapsed_s": self.elapsed_s,
            "trans_per_s": rate,
            "mb_per_s": mb,
            "gbit_per_s": mb * 2**20 * 8 / 1e9,
            "response_ms": self.users / rate * 1000,
        }
        both = (self.client[0] + self.server[0], self.client[1] + self.server[1])
        for role, (virtual, cp) in (("", both), ("@client", self.client), ("@server", self.server)):
            for prefix, busy in zip(PREFIXES, (virtual + cp, virtual, cp), strict=True):
                values |= {f"{prefix}{name}{role}": value for name, value in self.costs(busy, rate, mb).items()}
        return values

    def costs(self, busy: float, rate: float, mb: float) -> dict[str, float]:
        """Utilisation and CPU time per unit of work, by the run's method."""
        of_one = busy * self.processors
        cost = of_one * 10 / rate
        per_mb = of_one * 10 / mb
        if self.method is Method.SNAPSHOT:
            cost = of_one / 100 * self.elapsed_s * 1000 / self.transactions
        found = {"cpu_util": busy, "cpu_ms_per_trans": cost}
        if self.workload.pattern == "STRG":
            assert self.workload.request_bytes is not None
            assert self.workload.response_bytes is not None
            message = message_mb("STRG", self.workload.request_bytes, self.workload.response_bytes)
            found["cpu_ms_per_mb"] = cost / message if self.method is Method.SNAPSHOT else per_mb
        return found

    def printed(self, texts: Mapping[str, str]) -> PrintedRun:
        """The run with its figures printed so."""
        return PrintedRun(
            tuple(Printed(Measure.parse(name), Quantity(text)) for name, text in texts.items()),
            users=self.users,
            processors=self.processors,
            workload=self.workload,
            mtu=1500,
            line_bits_per_s=1e15,
            think_ms=0,
            method=self.method,
            asked_s=self.asked_s,
        )


PARTS = st.tuples(st.floats(0.5, 20), st.floats(0.5, 20))


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    driver_s = draw(st.floats(50, 1000))
    return Truth(
        users=draw(st.integers(1, 200)),
        transactions=draw(st.integers(1_000, 10_000_000)),
        driver_s=driver_s,
        elapsed_s=driver_s * draw(st.floats(1.001, 1.2)),
        asked_s=driver_s * draw(st.floats(0.8, 1)),
        processors=draw(st.integers(1, 32)),
        client=draw(PARTS),
        server=draw(PARTS),
        workload=parse_workload(draw(st.sampled_from(["RR", "CRR", "STRG", "RR 200/32K", "STRG 2000/20K"]))),
        method=draw(st.sampled_from(Method)),
    )


@given(truths(), st.data())
def test_consistent_figures_never_disagree_however_they_are_rounded(truth: Truth, data: st.DataObject) -> None:
    values = truth.figures()
    names = data.draw(st.sets(st.sampled_from(sorted(values))))
    texts = {name: round_half_up(values[name], data.draw(st.integers(0, 8))) for name in sorted(names)}
    run = truth.printed(texts)
    assert audit_run(run) == []
    assert audit_runs([run]) == [[]]


@given(truths(), st.integers(0, 8))
def test_consistent_figures_never_disagree_when_all_are_printed(truth: Truth, decimals: int) -> None:
    run = truth.printed({name: round_half_up(value, decimals) for name, value in truth.figures().items()})
    assert audit_run(run) == []


@given(truths(), st.sampled_from(RESULTS), st.integers(0, 6), st.sampled_from([1.1, 0.9]))
def test_a_moved_figure_is_always_found(truth: Truth, moved: str, decimals: int, factor: float) -> None:
    values = truth.figures()
    away = values[moved] * factor + (2 if factor > 1 else -2) * 10.0**-decimals
    texts = {name: round_half_up(value, 12) for name, value in values.items()}
    if away >= 0:
        texts[moved] = round_half_up(away, decimals)
        assert moved in {str(found.measure) for found in audit_run(truth.printed(texts))}


@given(truths(), st.lists(st.tuples(st.floats(0.95, 1.05), st.floats(0.95, 1.05)), min_size=2, max_size=5))
def test_means_of_consistent_trials_agree(truth: Truth, spread: list[tuple[float, float]]) -> None:
    trials = [
        replace(
            truth,
            transactions=int(truth.transactions * rate),
            client=(truth.client[0] * busy, truth.client[1] * busy),
            server=(truth.server[0] * busy, truth.server[1] * busy),
        ).figures()
        for rate, busy in spread
    ]
    means = {name: fmean(trial[name] for trial in trials) for name in trials[0]}
    run = truth.printed({name: round_half_up(value, 3) for name, value in means.items()})
    assert audit_run(replace(run, trials=len(trials))) == []
