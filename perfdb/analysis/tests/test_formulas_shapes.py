"""What is remembered of one run's shape changes no figure of the next."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.formulas import derivation
from perfdb.analysis.formulas.derivation import derive
from perfdb.analysis.formulas.run_values import Derived, RunFigures
from perfdb.analysis.metrics import METRICS

_VALUES = st.sampled_from([0.0, 1.0, 2.5, 1e300])
_METRICS = st.dictionaries(
    st.tuples(
        st.sampled_from(
            ["transactions", "driver_s", "trans_per_s", "mb_per_s", "window_s", "cpu_util", "processors", "idle_util"]
        ),
        st.sampled_from(["total", "client", "server", "lpar"]),
    ),
    _VALUES,
    max_size=8,
)
_PAIRS = st.tuples(_VALUES, _VALUES)
_COUNTERS = st.dictionaries(
    st.tuples(
        st.sampled_from(["client", "server"]),
        st.sampled_from(["", "cpu", "kernel", "processor/0", "processor/1"]),
        st.sampled_from(["totcpu", "virtcpu", "user", "idle", "btime", "interrupts", "cpu_s"]),
    ),
    _PAIRS,
    max_size=6,
)
_FACTS = st.dictionaries(
    st.sampled_from(["client_cpus", "server_cpus", "operations_per_s", "operations_per_transaction", "load_percent"]),
    st.lists(_VALUES, max_size=3).map(tuple),
)
_RUNS = st.builds(
    RunFigures,
    metrics=_METRICS,
    counters=_COUNTERS,
    pattern=st.sampled_from([None, "RR", "STRG"]),
    users=st.sampled_from([None, 0, 10]),
    request_bytes=st.sampled_from([None, 200]),
    response_bytes=st.sampled_from([None, 1000]),
    think_ms=st.sampled_from([None, 0, 5]),
    facts=_FACTS,
    one_host=st.booleans(),
    of_processes=st.booleans(),
)


def anew(run: RunFigures) -> list[Derived]:
    """What follows, with nothing remembered."""
    derivation._steps.clear()
    return derive(run)


@given(st.lists(_RUNS, min_size=2, max_size=6), st.lists(_METRICS.filter(bool), max_size=4))
def test_a_run_is_derived_alike_whatever_came_before(runs: list[RunFigures], numbers: list[Any]) -> None:
    first = runs[0]
    # The same figures with other numbers have the shape that is remembered.
    same = [
        RunFigures(metrics=dict.fromkeys(first.metrics, value), pattern=first.pattern, users=first.users)
        for each in numbers
        for value in each.values()
    ]
    every = [*runs, *same, *runs]
    expected = [anew(run) for run in every]
    derivation._steps.clear()
    assert [derive(run) for run in every] == expected


def test_a_divisor_of_zero_is_no_shape_to_remember() -> None:
    """What follows from the rate is there for the second run, though the first one has none."""
    metrics = {("transactions", "total"): 100.0, ("driver_s", "total"): 0.0}
    common: dict[str, Any] = {"request_bytes": 2**20, "response_bytes": 0, "pattern": "RR"}
    derivation._steps.clear()
    assert derive(RunFigures(metrics=metrics, **common)) == []
    second = derive(RunFigures(metrics=metrics | {("driver_s", "total"): 10.0}, **common))
    assert {each.measure.metric: each.value for each in second} == {"trans_per_s": 10.0, "mb_per_s": 10.0}


def test_only_so_many_shapes_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "_SHAPES", 2)
    derivation._steps.clear()
    for role in ("a", "b", "c", "d"):
        derive(RunFigures(metrics={("cpu_util", role): 1.0}))
    assert len(derivation._steps) <= 2


class _Recorder(dict[Any, float]):
    """Metrics that record which names are looked up."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.names: set[str] = set()

    def get(self, key: Any, default: Any = None) -> Any:
        self.names.add(key[0])
        return super().get(key, default)

    def __contains__(self, key: Any) -> bool:
        self.names.add(key[0])
        return super().__contains__(key)


@pytest.mark.parametrize("pattern", ["RR", "STRG"])
def test_the_shape_has_all_metrics_that_formulas_read(pattern: str) -> None:
    every = {(metric.name, role): 2.0 for metric in METRICS for role in ("total", "client", "server", "lpar")}
    common: dict[str, Any] = {"pattern": pattern, "users": 1, "think_ms": 0, "of_processes": True}
    read = set()
    for missing in (None, *(metric.name for metric in METRICS)):
        metrics = _Recorder({key: value for key, value in every.items() if key[0] != missing})
        derivation._steps.clear()
        derive(RunFigures(metrics=metrics, request_bytes=1, response_bytes=1, **common))
        read |= metrics.names
    none = _Recorder()
    derivation._steps.clear()
    derive(RunFigures(metrics=none, **common))
    assert read | none.names <= derivation.READ
    assert {"trans_per_s", "mb_per_s", "processors"} <= read
