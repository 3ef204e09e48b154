"""Cells against their baseline: who is compared with whom, on what noise, and what else differs."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.tables.baseline_comparison import answer
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tables.table import Cell, CellKey, Table
from perfdb.analysis.tests.archive import MEASURES, observations, parsed
from perfdb.analysis.verdicts.cells import Comparison, Effect, Reason, Scope, Verdict

SMALL = "metric=trans_per_s&device=OSA&rows=users&columns=mtu&baseline=mtu:9000"
NAMES = ("study", "system", "campaign", "level", "workload", "device", "users", "trial", "date", "run_id")


def only(tables: list[Table]) -> Table:
    (table,) = tables
    return table


def osa() -> Observations:
    whole = observations()
    return Observations(whole.dimensions, whole.measures, [row for row in whole.rows if row[3] == "OSA"])


def compared(table: Table) -> dict[CellKey, Comparison]:
    return {key: cell.comparison for key, cell in table.cells.items() if cell.comparison is not None}


def test_it_works() -> None:
    table = only(answer(parsed(SMALL), osa()))
    assert table.columns == ((9000,), (1500,))
    found = compared(table)
    assert sorted(found) == [((1,), (1500,)), ((10,), (1500,))]
    one = found[(1,), (1500,)]
    assert one.percent == pytest.approx(100 * (1001.5 / 1009.0 - 1))
    assert (one.base.trials, one.new.trials, one.noise.source) == (3, 3, "trials")
    assert one.ratio == pytest.approx(1001.5 / 1009.0)
    assert table.summaries[(1500,)].cells == 2
    assert table.shifts[(1500,)].cells == 2


def test_every_mean_of_repeated_runs_has_an_interval() -> None:
    table = only(answer(parsed("metric=trans_per_s&rows=users&columns=device,mtu"), observations()))
    for cell in table.cells.values():
        assert cell.interval is not None
        assert cell.mean is not None
        assert cell.interval[0] < cell.mean < cell.interval[1]
        assert cell.comparison is None


def test_a_missing_base_is_said() -> None:
    table = only(answer(parsed("metric=trans_per_s&rows=users&columns=mtu&baseline=mtu:16384"), observations()))
    assert {c.verdict for c in compared(table).values()} >= {Verdict.NOT_COMPARABLE}
    found = compared(table)[(10,), (1500,)]
    assert (found.verdict, found.effect, found.percent, found.p) == (
        Verdict.NOT_COMPARABLE,
        Effect.UNKNOWN,
        None,
        None,
    )


def test_the_base_may_stand_in_another_table() -> None:
    tables = answer(parsed("metric=trans_per_s&rows=users&split=mtu&baseline=mtu:9000"), osa())
    assert [table.split for table in tables] == [(9000,), (1500,)]
    assert compared(tables[0]) == {}
    assert len(compared(tables[1])) == 2


def test_what_else_differs_stands_with_the_cell() -> None:
    rows = [
        (1, "s", "m", None, "L1", "RR", "OSA", 1, 1, "2026-01-01", "a", 100.0),
        (2, "s", "m", None, "L2", "RR", "LAN", 1, 1, "2026-01-01", "b", 120.0),
    ]
    given = Observations(NAMES, MEASURES[:1], rows)
    table = only(answer(parsed("metric=trans_per_s&rows=users&columns=device&baseline=device:OSA"), given))
    cell: Cell = table.cells[(1,), ("LAN",)]
    assert "also differs in Level: L1 → L2" in [note.message for note in cell.warnings]
    assert cell.mixes == {}
    assert cell.comparison is not None
    assert (cell.comparison.verdict, cell.comparison.problem) == (Verdict.MIXED, "runs differ in Level")
    assert (cell.comparison.percent, cell.comparison.interval) == (None, None)


def campaign(name: str, day: str, rates: Iterable[float], users: Iterable[int] = (1, 10, 20)) -> list[Row]:
    number = int(day.replace("-", "")) * 100
    return [
        (number + at, "s", "m", name, "L", "RR", "OSA", each, 1, day, f"{name}{at}", rate * each)
        for at, (each, rate) in enumerate((each, rate) for each in users for rate in rates)
    ]


def ask_campaigns(given: list[Row], past: list[Row]) -> list[Comparison]:
    """Compare June with May, with ``past`` campaigns around them."""
    query = parsed("metric=trans_per_s&rows=users&columns=campaign&baseline=campaign:May")
    runs = Observations(NAMES, MEASURES[:1], given)
    return list(compared(only(answer(query, runs, Observations(NAMES, MEASURES[:1], [*past, *given])))).values())


MAY, JUNE = campaign("May", "2026-05-01", [100.0, 100.4]), campaign("June", "2026-06-01", [110.0, 110.3])
MARCH, APRIL = campaign("March", "2026-03-01", [99.0, 99.3]), campaign("April", "2026-04-01", [100.5, 100.9])


def test_one_day_against_another_holds_in_these_runs() -> None:
    found = ask_campaigns([*MAY, *JUNE], [])
    assert {(c.verdict, c.scope) for c in found} == {(Verdict.HIGHER, Scope.THESE_RUNS)}


def test_two_earlier_campaigns_tell_what_days_change() -> None:
    found = ask_campaigns([*MAY, *JUNE], [*MARCH, *APRIL])
    assert {(c.verdict, c.scope, c.campaigns) for c in found} == {(Verdict.IMPROVED, Scope.DAYS_KNOWN, 3)}
    assert {c.noise.source for c in found} == {"campaigns"}


def test_days_that_differ_hide_a_change() -> None:
    wild = [*campaign("March", "2026-03-01", [90.0, 90.3]), *campaign("April", "2026-04-01", [108.0, 108.3])]
    found = ask_campaigns([*MAY, *JUNE], wild)
    assert {(c.verdict, c.reason) for c in found} == {(Verdict.CANNOT_TELL, Reason.DAYS)}
    assert {c.next.kind for c in found if c.next} <= {"campaigns"}


def test_later_campaigns_and_other_machines_tell_nothing() -> None:
    later = [*campaign("July", "2026-07-01", [99.0, 101.0]), *campaign("August", "2026-08-01", [99.0, 101.0])]
    elsewhere = [(*row[:2], "another", *row[3:]) for row in (*MARCH, *APRIL)]
    for past in (later, elsewhere):
        assert {c.scope for c in ask_campaigns([*MAY, *JUNE], past)} == {Scope.THESE_RUNS}


def test_single_runs_of_earlier_campaigns_tell_the_noise_of_days() -> None:
    past = [row for name, day, rate in (("A", "2026-01-01", 99.0), ("B", "2026-02-01", 101.0))
            for row in campaign(name, day, [rate])]  # fmt: skip
    found = ask_campaigns([*campaign("May", "2026-05-01", [100.0]), *campaign("June", "2026-06-01", [140.0])], past)
    assert {(c.verdict, c.scope) for c in found} == {(Verdict.LIKELY_HIGHER, Scope.DAYS_KNOWN)}


def test_campaigns_that_hold_both_sides_are_compared_by_their_ratios() -> None:
    rows = []
    for at, (name, day, rate) in enumerate((("A", "2026-01-01", 100.0), ("B", "2026-02-01", 80.0),
                                            ("C", "2026-03-01", 120.0))):  # fmt: skip
        for device, factor in (("OSA", 1.0), ("LAN", 1.05)):
            for row in campaign(name, day, [rate * factor, rate * factor * 1.001]):
                rows.append((row[0] + 1000 * at + (500 if device == "LAN" else 0), *row[1:6], device, *row[7:]))
    query = parsed("metric=trans_per_s&rows=users&columns=device&baseline=device:OSA")
    found = list(compared(only(answer(query, Observations(NAMES, MEASURES[:1], rows)))).values())
    assert {(c.verdict, c.paired, c.base.campaigns) for c in found} == {(Verdict.IMPROVED, True, 3)}


def test_work_that_differs_within_a_cell_has_a_range_and_no_mean() -> None:
    names = (*NAMES, "factor.message_bytes")
    rows = [(*row[:11], size, row[11]) for row in (*MAY, *JUNE) for size in ("1", "1000")]
    rows = [(at, *row[1:]) for at, row in enumerate(rows)]
    query = parsed("metric=trans_per_s&rows=users&columns=campaign&baseline=campaign:May")
    table = only(answer(query, Observations(names, MEASURES[:1], rows)))
    for cell in table.cells.values():
        assert (cell.mean, cell.centre, cell.interval) == (None, None, None)
        assert cell.range == (min(p.value for p in cell.sample), max(p.value for p in cell.sample))
        assert cell.comparison is None or cell.comparison.verdict is Verdict.MIXED
    shown = parsed("metric=trans_per_s&rows=users,factor.message_bytes&columns=campaign&baseline=campaign:May")
    apart = only(answer(shown, Observations(names, MEASURES[:1], rows)))
    assert {c.verdict for c in compared(apart).values()} == {Verdict.HIGHER}


@given(st.integers(0, 2**16), st.lists(st.sampled_from(["users", "layer", "device", "factor.size"]), unique=True))
def test_nothing_is_averaged_over_what_differs(seed: int, shown: list[str]) -> None:
    """Random archives: a cell has a mean only if all its runs agree in everything but trial, day and campaign."""
    dice = random.Random(seed)
    names = (*NAMES[:7], "users", "layer", "factor.size", "trial", "date", "run_id")
    rows: list[Row] = []
    for number in range(dice.randint(2, 40)):
        rows.append((number, "s", "m", dice.choice("AB"), "L", "RR", dice.choice(["OSA", "LAN"]), None,
                     dice.choice([1, 10]), dice.choice([2, 3, None]), dice.choice(["1", "1000"]), number,
                     "2026-01-01", str(number), dice.uniform(90, 110)))  # fmt: skip
    names = ("study", "system", "campaign", "level", "workload", "device", "mtu", *names[7:])
    columns = ",".join(shown) or "campaign"
    against = {"device": "device:OSA", "users": "users:1", "layer": "layer:2", "factor.size": "factor.size:1"}
    base = against[shown[0]] if shown else "campaign:A"
    runs = Observations(names, MEASURES[:1], rows)
    works = [names.index(name) + 1 for name in against]
    by_number = {row[0]: tuple(row[at] for at in works) for row in rows}
    for table in answer(parsed(f"metric=trans_per_s&columns={columns}&baseline={base}"), runs):
        for cell in table.cells.values():
            work = {by_number[point.run] for point in cell.sample}
            if len(work) > 1:
                assert (cell.mean, cell.centre, cell.interval) == (None, None, None)
                assert cell.range is not None
                assert cell.comparison is None or cell.comparison.verdict in (Verdict.MIXED, Verdict.NOT_COMPARABLE)
            else:
                assert cell.mean is not None
        assert all(c.ratio is None for c in compared(table).values() if c.verdict is Verdict.MIXED)


def test_a_side_without_a_value_differs_in_nothing_else() -> None:
    rows = [(*row[:8], "2.4.9" if row[4] == 9000 else "2.4.17", *row[9:]) for row in osa().rows]
    text = f"{SMALL}&metric=cpu_ms_per_trans"
    both = answer(parsed(text), Observations(osa().dimensions, MEASURES, rows))
    assert all("also-differs" in codes(table) for table in both)
    gone = [(*row[:-2], None, None) if row[4] == 9000 else row for row in rows]
    rate, cost = answer(parsed(text), Observations(osa().dimensions, MEASURES, gone))
    assert "also-differs" in codes(rate)
    assert "also-differs" not in codes(cost)


def codes(table: Table) -> set[str]:
    return {note.code for cell in table.cells.values() for note in cell.warnings}
