"""Cells against their baseline: who is compared with whom, on what noise, and what else differs."""

from collections.abc import Iterable

import pytest

from perfdb.analysis.comparison.comparison import Comparison, Effect, NoiseSource, Verdict
from perfdb.analysis.tables.baseline_comparison import answer
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tables.table import Cell, CellKey, Table
from perfdb.analysis.tests.archive import MEASURES, observations, parsed

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
    assert (one.n_base, one.n, one.noise.source) == (3, 3, NoiseSource.TRIALS)
    assert one.ratio == pytest.approx(1001.5 / 1009.0)
    summary = table.summaries[(1500,)]
    assert (summary.cells, summary.undecided + summary.same + summary.down) == (2, 2)


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


def campaign(name: str, day: str, rates: Iterable[float], users: Iterable[int] = (1, 10, 20)) -> list[Row]:
    number = int(day.replace("-", "")) * 100
    return [
        (number + at, "s", "m", name, "L", "RR", "OSA", each, 1, day, f"{name}{at}", rate * each)
        for at, (each, rate) in enumerate((each, rate) for each in users for rate in rates)
    ]


def test_three_earlier_campaigns_tell_the_noise() -> None:
    old, new = campaign("May", "2026-05-01", [100.0]), campaign("June", "2026-06-01", [103.0])
    past = [
        *campaign("February", "2026-02-01", [99.0]),
        *campaign("March", "2026-03-01", [101.0]),
        *campaign("April", "2026-04-01", [100.0]),
    ]
    query = parsed("metric=trans_per_s&rows=users&columns=campaign&baseline=campaign:May")
    given = Observations(NAMES, MEASURES[:1], [*old, *new])
    alone = compared(only(answer(query, given)))
    assert {c.verdict for c in alone.values()} == {Verdict.NO_NOISE}
    earlier = Observations(NAMES, MEASURES[:1], [*past, *old, *new])
    found = compared(only(answer(query, given, earlier)))
    assert {c.noise.source for c in found.values()} == {NoiseSource.HISTORY}
    assert {c.verdict for c in found.values()} <= {Verdict.HIGHER, Verdict.INCONCLUSIVE, Verdict.SAME}
    later = Observations(NAMES, MEASURES[:1], [*campaign("July", "2026-07-01", [99.0, 101.0]), *old, *new])
    assert {c.noise.source for c in compared(only(answer(query, given, later))).values()} == {NoiseSource.NONE}


def test_trials_of_an_earlier_campaign_serve_where_there_are_none() -> None:
    given = Observations(
        NAMES, MEASURES[:1], [*campaign("May", "2026-05-01", [100.0]), *campaign("June", "2026-06-01", [120.0])]
    )
    earlier = Observations(NAMES, MEASURES[:1], campaign("March", "2026-03-01", [99.0, 100.0, 101.0]))
    query = parsed("metric=trans_per_s&rows=users&columns=campaign&baseline=campaign:May")
    found = compared(only(answer(query, given, earlier)))
    assert {c.noise.source for c in found.values()} == {NoiseSource.EARLIER}
    assert {c.verdict for c in found.values()} == {Verdict.OUTSIDE}


def test_another_machine_tells_nothing() -> None:
    given = Observations(
        NAMES, MEASURES[:1], [*campaign("May", "2026-05-01", [100.0]), *campaign("June", "2026-06-01", [120.0])]
    )
    other = [(*row[:2], "another", *row[3:]) for row in campaign("March", "2026-03-01", [99.0, 100.0, 101.0])]
    earlier = Observations(NAMES, MEASURES[:1], other)
    query = parsed("metric=trans_per_s&rows=users&columns=campaign&baseline=campaign:May")
    assert {c.verdict for c in compared(only(answer(query, given, earlier))).values()} == {Verdict.NO_NOISE}


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
