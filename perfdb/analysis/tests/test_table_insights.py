"""What a table's numbers say beside themselves."""

from perfdb.analysis.insights.run_vs_trials import trial_flags
from perfdb.analysis.insights.throughput_curve import Course, Edge, table_curves
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tests.archive import DIMENSIONS, MEASURES, ask

RATES = {"OSA": (852.06, 1352.97, 1508.20, 1535.70, 1351.26), "LAN": (100.0, 200.0, 400.0, 600.0, 900.0)}
USERS = (1, 5, 10, 20, 50)


def runs(first: float = 1.0, far: float = 1.0) -> Observations:
    """Three trials, 0.1% apart; ``first`` multiplies every first trial, ``far`` one of OSA with 50 users."""
    rows: list[Row] = []
    for device, rates in RATES.items():
        for at, (users, rate) in enumerate(zip(USERS, rates, strict=True)):
            for trial in (1, 2, 3):
                change = 1 + 0.001 * ((at + trial) % 3 - 1)
                change *= first if trial == 1 else 1.0
                change *= far if (device, users, trial) == ("OSA", 50, 3) else 1.0
                key = ("demo", "RR", device, 1500, users, trial, f"{device}{users}", "2.4.7")
                rows.append((len(rows), *key, rate * change, 1000 / rate, None))
    return Observations(DIMENSIONS, MEASURES, rows)


def test_each_line_over_users_is_described() -> None:
    (table,) = ask("metric=trans_per_s&rows=users&columns=device", runs())
    osa, lan = table_curves(table)
    assert (osa.title, osa.curve.course, osa.curve.after, osa.curve.start) == ("OSA", Course.FALLING, 5, 10)
    assert (lan.title, lan.curve.course, lan.edge) == ("LAN", Course.RISING, Edge.LARGEST)
    (table, _) = ask("metric=trans_per_s&columns=users&split=device&rows=mtu", runs())
    assert [each.title for each in table_curves(table)] == ["LAN · MTU 1500"]


def test_what_is_no_curve_of_throughput_is_not_described() -> None:
    (cost,) = ask("metric=cpu_ms_per_trans&rows=users&columns=device", runs())
    assert table_curves(cost) == []
    (flat,) = ask("metric=trans_per_s&rows=device", runs())
    assert table_curves(flat) == []
    (short,) = ask("metric=trans_per_s&rows=users&columns=device")
    assert table_curves(short) == []


def test_trials_that_look_wrong_are_flagged_and_stay() -> None:
    (table,) = ask("metric=trans_per_s&rows=users&columns=device", runs())
    assert trial_flags(table) == []
    (table,) = ask("metric=trans_per_s&rows=users&columns=device", runs(far=1.4))
    (flag,) = trial_flags(table)
    assert (flag.code, flag.runs) == ("outlier", (14,))
    assert table.cells[(50,), ("OSA",)].n == 3
    (table,) = ask("metric=trans_per_s&rows=users&columns=device", runs(first=0.9))
    assert [flag.code for flag in trial_flags(table)] == ["order"]


def test_trials_without_numbers_have_no_order() -> None:
    rows = [(*row[:6], row[6] if at % 3 else None, *row[7:]) for at, row in enumerate(runs(first=0.9).rows)]
    (table,) = ask("metric=trans_per_s&rows=users&columns=device", Observations(DIMENSIONS, MEASURES, rows))
    assert trial_flags(table) == []


def test_users_that_tell_tables_apart_are_no_line() -> None:
    assert not any(table_curves(table) for table in ask("metric=trans_per_s&rows=device&split=users", runs()))
