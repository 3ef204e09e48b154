"""The best of very many runs is the best of all of them, though only the highest are looked at."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any
from urllib.parse import parse_qsl

import pytest

from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.table import Table
from perfdb.results.queries import top_runs
from perfdb.results.queries.answers import make_tables
from perfdb.results.queries.bottlenecks import Best, find_best
from perfdb.results.queries.observations import read_observations
from perfdb.results.runs import recorded_reads
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db

BEST = "metric=trans_per_s&rows=device&pick=trans_per_s:device"
PICKED = (
    f"{BEST}&workload=RR",
    f"{BEST}&workload=CRR&workload=RR",
    BEST,
    f"{BEST}&exclude=mtu:9000",
    f"{BEST}&device=veth&device=OSA",
    "metric=response_ms&rows=device&columns=workload&pick=trans_per_s:device,workload",
    "metric=mb_per_s&rows=device&pick=mb_per_s:device",
)
# A metric of which less is better, a dimension that has no index, one study, single runs: all are looked at.
WHOLE = (
    "metric=response_ms&rows=device&pick=response_ms:device",
    "metric=trans_per_s&rows=mtu&pick=trans_per_s:mtu",
    f"{BEST}&study=a",
    f"{BEST}&summary=trial",
)


@pytest.fixture(autouse=True)
def archive() -> None:
    """Runs of two studies: devices and none, workloads and none, trials that differ, and a device without a value."""
    of_all = product("ab", ("OSA", "veth", None), ("RR", "CRR", None), (1500, 9000), (1, 10, 50), (1, 2))
    for slug, device, workload, mtu, users, trial in of_all:
        rate = 100.0 * users + mtu / 100 + 40 * (slug == "b") + 7 * len(device or "") + 3 * trial
        # One run of a low experiment is higher than all others of its device.
        lone = (slug, device, mtu, users, trial) == ("a", "veth", 1500, 1, 2)
        make_run(
            f"{device}{workload}{mtu}{users}",
            trial=trial,
            study=make_study(slug),
            device=device,
            workload=workload,
            mtu=mtu,
            users=users,
            values={"trans_per_s": 6000.0 if lone else rate, "mb_per_s": rate / 8, "response_ms": 50.0 - users / 9},
        )
    make_run("lost", study=make_study("c"), device="QDIO", workload="RR", values={"response_ms": 12.0})


def _answers(texts: Iterable[str]) -> list[tuple[list[Table], list[Best]]]:
    queries = [Query.parse(parse_qsl(text)) for text in texts]
    found = [read_observations(query) for query in queries]
    return [(make_tables(query, runs), find_best(query, runs)) for query, runs in zip(queries, found, strict=True)]


def _unwarned(answers: Iterable[tuple[list[Table], list[Best]]]) -> list[Any]:
    plain = [
        [replace(each, warnings=tuple(note for note in each.warnings if note != top_runs.NOTE)) for each in found]
        for found, _ in answers
    ]
    return [plain, [[(each.evidence, each.limit) for each in best] for _, best in answers]]


def _chosen(answers: Iterable[tuple[list[Table], list[Best]]]) -> list[Any]:
    """What does not depend on what else was looked at: the runs that were picked, and the curves that they lie on."""
    return [
        (
            [{key: cell.sample for key, cell in table.cells.items()} for table in found],
            [(each.evidence.group, each.evidence.runs, each.evidence.points, each.evidence.edge) for each in best],
        )
        for found, best in answers
    ]


def _say_so(answers: Iterable[tuple[list[Table], list[Best]]]) -> set[bool]:
    return {top_runs.NOTE in table.warnings for found, _ in answers for table in found}


def test_the_best_is_the_best_of_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    every, whole = _answers(PICKED), _answers(WHOLE)
    assert _say_so([*every, *whole]) == {False}

    monkeypatch.setattr(top_runs, "MANY", 10)
    monkeypatch.setattr(top_runs, "HIGHEST", 2)
    few = _answers(PICKED)
    assert _chosen(few) == _chosen(every)
    assert _say_so(few) == {True}
    assert _unwarned(_answers(WHOLE)) == _unwarned(whole)
    assert _say_so(_answers(WHOLE)) == {False}


def test_where_all_runs_are_among_the_highest_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    every = _answers(PICKED)
    monkeypatch.setattr(top_runs, "MANY", 10)
    monkeypatch.setattr(top_runs, "HIGHEST", 500)
    assert _unwarned(_answers(PICKED)) == _unwarned(every)


def test_more_are_looked_at_until_no_other_can_be_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_runs, "MANY", 10)
    monkeypatch.setattr(top_runs, "HIGHEST", 1)
    looked_at = []
    highest = top_runs._highest

    def noted(column: str, pairs: Any, wanted: Any, most: int) -> Any:
        looked_at.append(most)
        return highest(column, pairs, wanted, most)

    monkeypatch.setattr(top_runs, "_highest", noted)
    ((found, _),) = _answers([f"{BEST}&workload=RR&device=veth"])
    (cell,) = found[0].cells.values()
    # The one high run is of an experiment that is low.
    assert looked_at == [1, 4]
    assert sorted(point.value for point in cell.sample) == [5161.0, 5164.0]


def test_a_frozen_answer_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_runs, "MANY", 10)
    query = Query.parse(parse_qsl(BEST))
    tape = recorded_reads.Tape()
    with recorded_reads.use_tape(tape):
        living = read_observations(query)
    with recorded_reads.use_tape(recorded_reads.Tape.from_bytes(tape.to_bytes(), "x")):
        assert read_observations(query).warnings == living.warnings == (top_runs.NOTE,)
