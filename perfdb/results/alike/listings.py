"""The listings of many logs: the samples of their columns, and whether their rows fit each other and the summaries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from importers.model import Fragment
from perfdb.analysis import units, units_columns
from perfdb.analysis.checks.quiet import Flags, Records, quiet_records
from perfdb.analysis.units_columns import Numbers
from perfdb.results import binary
from perfdb.results.alike.table import Whole
from perfdb.results.runs.record import LARGEST_SAMPLE, number

_Columns = tuple[tuple[str, str], ...]
_CHECKED = ("intervals", "connections")
_OF_RECORDS = ("trans", "resp_avg", "resp_min", "resp_max", "seconds", "t0", "t1", "phase")
_TIMES = _OF_RECORDS[1:4]


@dataclass(frozen=True, slots=True)
class Listings:
    """All listings of one name that have the same columns: ``rows`` are those of their runs, ``counts`` their lengths.

    ``cells`` are those of all of them, one row after the other.
    """

    name: str
    columns: _Columns
    rows: Whole
    counts: Whole
    cells: Sequence[str | None]

    def texts(self, at: int) -> Sequence[str | None]:
        """A column of all of them."""
        return self.cells[at :: len(self.columns)]

    @property
    def runs(self) -> Whole:
        """The run of each row of the listings."""
        return np.repeat(self.rows, self.counts)


def listings_of(fragments: Sequence[Fragment]) -> tuple[list[Listings], Flags]:
    """The listings of all logs, and which logs have two of one name."""
    found: dict[tuple[str, _Columns], list[tuple[int, list[str | None]]]] = {}
    twice = np.zeros(len(fragments), bool)
    for row, fragment in enumerate(fragments):
        twice[row] = len({each.name for each in fragment.listings}) < len(fragment.listings)
        for each in fragment.listings:
            if cells := each.cells:
                found.setdefault((each.name, each.columns), []).append((row, cells))
    return [_together(*kind, own) for kind, own in found.items()], twice


def _together(name: str, columns: _Columns, own: Sequence[tuple[int, list[str | None]]]) -> Listings:
    rows = np.array([row for row, _ in own], np.int64)
    counts = np.array([len(cells) // len(columns) for _, cells in own], np.int64)
    return Listings(name, columns, rows, counts, list(chain.from_iterable(cells for _, cells in own)))


# --- What the checks of a driver's log have to say of its records ------------------------------------------------


def quiet_listings(listings: Sequence[Listings], transactions: Numbers, users: Numbers, never_pause: Flags) -> Flags:
    """The logs of whose records the checks have nothing to say. The numbers are those of their summaries, by log."""
    good = np.ones(len(users), bool)
    for each in listings:
        if each.name in _CHECKED:
            records = _records(each, users, never_pause)
            good[each.rows] &= False if records is None else quiet_records(records, transactions[each.rows])
    return good


def _records(listings: Listings, users: Numbers, never_pause: Flags) -> Records | None:
    """The rows as records of a driver; None where a quantity is there twice, in two units perhaps."""
    named = [name for name, _ in listings.columns if name in _OF_RECORDS]
    in_units = {unit for name, unit in listings.columns if name in _TIMES}
    if len(set(named)) < len(named) or len(in_units) > 1:
        return None
    texts = {name: listings.texts(at) for at, (name, _) in enumerate(listings.columns) if name in _OF_RECORDS}
    size, runs = len(listings.runs), listings.runs
    read = {name: _numbers(texts[name]) if name in texts else np.full(size, np.nan) for name in _OF_RECORDS[:-1]}
    said = np.array([text is not None for text in texts["seconds"]]) if "seconds" in texts else np.zeros(size, bool)
    measured = np.array([text != "warmup" for text in texts["phase"]]) if "phase" in texts else np.ones(size, bool)
    at_once = np.where(never_pause[runs], 1.0 if listings.name == "connections" else users[runs], np.nan)
    try:
        in_s = units.rescale(1.0, next(iter(in_units), "s"), "s")
    except ValueError:
        return None
    return Records(
        listing=np.repeat(np.arange(len(listings.rows)), listings.counts),
        measured=measured,
        transactions=read["trans"],
        seconds=np.where(said, read["seconds"], read["t1"] - read["t0"]),
        users=at_once,
        mean=read["resp_avg"] * in_s,
        half_steps=lambda places: (
            units_columns.half_steps([texts["resp_avg"][at] or "" for at in places.tolist()]) * in_s
        ),
        only_extremes=np.isnan(read["resp_avg"]) & ~(np.isnan(read["resp_min"]) & np.isnan(read["resp_max"])),
    )


def _numbers(texts: Sequence[str | None]) -> Numbers:
    """The numbers of a column; NaN where there is none."""
    if None not in texts:
        return units_columns.read_numbers(texts)  # type: ignore[arg-type] # none is missing
    return units_columns.read_numbers([text or "" for text in texts])


# --- Traces -------------------------------------------------------------------------------------------------------


def trace_rows(listings: Sequence[Listings], heads: Mapping[int, tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Rows of ``trace`` without the run's id, each with the run's place among those that are to be written.

    ``heads`` are these places and the next fields (study, artifact), by the row of the log.
    """
    for each in listings:
        own = [heads.get(row) for row in each.rows.tolist()]
        for position, (column, unit) in enumerate(each.columns):
            samples = _samples(each.texts(position))
            there = np.logical_or.reduceat(~np.isnan(samples), np.cumsum(each.counts) - each.counts).tolist()
            about = binary.text(each.name) + binary.int2(position) + binary.text(column) + binary.text(unit)
            arrays = binary.arrays(binary.FLOAT4, binary.real_elements(samples), 8 * each.counts, each.counts)
            for head, is_there, array in zip(own, there, arrays, strict=True):
                if head and is_there:
                    yield head[0], head[1] + about + array


def _samples(texts: Sequence[str | None]) -> Numbers:
    """The samples of a column as `record.number` reads each."""
    try:
        samples = units_columns.floats(texts)  # type: ignore[arg-type] # what is missing raises
        samples[~(np.abs(samples) <= LARGEST_SAMPLE)] = np.nan
        return samples
    except (ValueError, TypeError):
        known = {text: number(text) for text in set(texts)}
        return np.fromiter(map(known.__getitem__, texts), np.float64, len(texts))
