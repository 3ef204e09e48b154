"""A small archive of runs for the tests of tables and renderings: two devices, their MTUs, users, three trials.

The numbers are made up but have the shape of a published connectivity study: the virtual device is faster and
cheaper, streaming gains from the MTU, and one experiment was not measured.
"""

from collections.abc import Iterable

from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.analysis.tables.table import Table
from perfdb.analysis.tables.tabulate import tabulate

DIMENSIONS = ("study", "workload", "device", "mtu", "users", "trial", "run_id", "factor.kernel")
RATE, COST = Measure("trans_per_s"), Measure("cpu_ms_per_trans")
CLIENT = Measure("cpu_ms_per_trans", "client")
MEASURES = (RATE, COST, CLIENT)

MTUS = {"OSA": (1500, 9000), "LAN": (8192, 16384)}
RATES = {"OSA": {1: 1000.0, 10: 8000.0}, "LAN": {1: 7000.0, 10: 17000.0}}


def rows() -> list[Row]:
    """Three trials of each experiment, 1% apart; LAN at MTU 16384 was not run with 10 users."""
    found: list[Row] = []
    for device, mtus in MTUS.items():
        for mtu in mtus:
            for users, rate in RATES[device].items():
                if (device, mtu, users) != ("LAN", 16384, 10):
                    found += [
                        trial(device, mtu, users, number, rate=rate + mtu / 1000, before=len(found))
                        for number in (1, 2, 3)
                    ]
    return found


def trial(device: str, mtu: int, users: int, number: int, *, rate: float, before: int) -> Row:
    """One row: run numbers count on from 100, the second trial is the mean of the three."""
    run_id = f"{device}{mtu // 1000}{users:02}{number}"
    value = rate * (0.99, 1.0, 1.01)[number - 1]
    key = ("demo", "RR", device, mtu, users, number, run_id, "2.4.7")
    return (100 + before + number - 1, *key, value, 1000 / rate, 400 / rate)


def observations(extra: Iterable[Row] = ()) -> Observations:
    """The archive, with further rows of the same shape."""
    return Observations(DIMENSIONS, MEASURES, [*rows(), *extra])


def ask(query: str, given: Observations | None = None) -> list[Table]:
    """The tables for a query string."""
    return tabulate(parsed(query), given or observations())


def parsed(query: str) -> Query:
    """A query from an undecoded string without special characters."""
    return Query.parse(pair.partition("=")[::2] for pair in query.split("&"))
