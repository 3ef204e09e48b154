"""The checks of a load driver's log, of many logs at once: about which of them is there certainly nothing to say.

What there is to say about the others is for ``check_driver`` to find out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perfdb.analysis.checks.response import TOLERANCE
from perfdb.analysis.units_columns import Numbers

_NOISE = 1e-12
_SURE = TOLERANCE * (1 - 1e-9)
"""What lies within this lies within the tolerance, whatever the unit in which it is compared."""

_EXACT = 2.0**40
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Figure:
    """A printed figure of each log, NaN where there is none, and half of one in its last digit."""

    value: Numbers
    half_step: Numbers

    def within(self, wanted: Numbers, tolerance: float = 0.0) -> Flags:
        """As `Quantity.within`; yes where one of them is not there."""
        near: Flags = np.abs(self.value - wanted) <= self.half_step + np.abs(wanted) * (tolerance + _NOISE)
        return near | np.isnan(self.value) | np.isnan(wanted)


@dataclass(frozen=True, slots=True)
class Summaries:
    """What the logs print of their runs as a whole; ``response_ms`` was converted.

    ``message_bytes``: of a request and its response together. ``never_pause``: whether users never do.
    """

    transactions: Numbers
    seconds: Numbers
    trans_per_s: Figure
    mb_per_s: Figure
    response_ms: Numbers
    users: Numbers
    message_bytes: Numbers
    mb_bytes: float
    never_pause: Flags

    @property
    def own_time(self) -> Numbers:
        """Seconds per transaction and user, where they must be the response time."""
        asked = self.never_pause & (self.transactions != 0) & (self.seconds != 0) & (self.users != 0)
        return np.where(asked, self.users * self.seconds / self.transactions, np.nan)


def quiet(logs: Summaries) -> Flags:
    """Whether rate, throughput and response time follow from transactions, seconds, users and sizes."""
    with np.errstate(all="ignore"):
        rate = np.where(logs.seconds != 0, logs.transactions / logs.seconds, np.nan)
        own_ms = logs.own_time * 1000
        flow = rate * logs.message_bytes / logs.mb_bytes
        good = logs.trans_per_s.within(rate) & logs.mb_per_s.within(flow)
        return good & fits(logs.response_ms, own_ms)


def fits(mean: Numbers, own: Numbers) -> Flags:
    """Whether mean response times are the records' own times per transaction, to the tolerance of the checks alone."""
    return ~(np.abs(mean - own) > own * _SURE)


@dataclass(frozen=True, slots=True)
class Records:
    """The connections or intervals of many logs: ``listing`` numbers the log of each.

    ``measured``: whether a record counts, ``users``: how many it is of, NaN where they may pause. ``mean`` is in
    seconds, and so are the ``half_steps`` of some of them as printed. ``only_extremes``: it has a least or a largest
    response time and no mean.
    """

    listing: npt.NDArray[np.int64]
    measured: Flags
    transactions: Numbers
    seconds: Numbers
    users: Numbers
    mean: Numbers
    half_steps: Callable[[npt.NDArray[np.int64]], Numbers]
    only_extremes: Flags

    def of_logs(self, records: Flags, logs: int) -> Flags:
        """The logs that have one of these records."""
        return np.bincount(self.listing[records], minlength=logs) > 0


def quiet_records(records: Records, transactions: Numbers) -> Flags:
    """Whether the records of a log add up to its ``transactions``, and their response times are their own."""
    logs = len(transactions)
    counted = records.measured & ~np.isnan(records.transactions)
    with np.errstate(all="ignore"):
        sums = np.bincount(records.listing[counted], records.transactions[counted], logs)
        unlike = (sums != transactions) & ~np.isnan(transactions)
        unlike &= records.of_logs(counted, logs) & ~records.of_logs(records.measured & ~counted, logs)
        # Whole numbers add up exactly in any order.
        broken = counted & ~((records.transactions % 1 == 0) & (records.transactions < _EXACT))
        own = np.where(
            (records.transactions != 0) & (records.seconds != 0) & (records.users != 0),
            records.users * records.seconds / records.transactions,
            np.nan,
        )
        off = records.measured & ~fits(records.mean, own)
        places = np.flatnonzero(off)
        off[places] = np.abs(records.mean - own)[places] > records.half_steps(places) + own[places] * _SURE
    strange = broken | (records.measured & records.only_extremes) | off
    good: Flags = ~(unlike | records.of_logs(strange, logs))
    return good
