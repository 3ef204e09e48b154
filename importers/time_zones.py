"""Printed times, and the offsets of printed time zones from universal time."""

import re
from datetime import datetime, timedelta
from functools import lru_cache

from importers.fragment_builder import from_epoch

_OFFSET = re.compile(r"(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>0?\d|1[0-4])(?::?(?P<minutes>[0-5]\d))?", re.ASCII)
# Names of several zones are not known: CST (America, China), IST (India, Israel, Ireland).
_HOURS = {
    **dict.fromkeys(("Z", "UTC", "UCT", "UT", "GMT", "WET"), 0.0),
    **dict.fromkeys(("CET", "MEZ", "MET", "BST", "WEST", "WAT"), 1.0),
    **dict.fromkeys(("CEST", "MESZ", "MEST", "EET", "SAST", "CAT"), 2.0),
    **dict.fromkeys(("EEST", "MSK", "EAT"), 3.0),
    **{"PKT": 5.0, "WIB": 7.0, "HKT": 8.0, "AWST": 8.0, "JST": 9.0, "KST": 9.0, "ACST": 9.5, "AEST": 10.0},
    **{"ACDT": 10.5, "AEDT": 11.0, "NZST": 12.0, "NZDT": 13.0},
    **{"NDT": -2.5, "ADT": -3.0, "NST": -3.5, "AST": -4.0, "EDT": -4.0, "EST": -5.0, "CDT": -5.0, "MDT": -6.0},
    **{"MST": -7.0, "PDT": -7.0, "PST": -8.0, "AKDT": -8.0, "AKST": -9.0, "HST": -10.0},
}


# Many runs are of few zones.
@lru_cache(64)
def utc_offset(zone: str) -> timedelta | None:
    """Return the offset of a zone such as ``-05:00``, ``+01``, ``CEST`` or ``UTC``; None for other texts."""
    match = _OFFSET.fullmatch(zone)
    if match is not None:
        size = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
        return -size if match["sign"] == "-" else size
    hours = _HOURS.get(zone.upper())
    return None if hours is None else timedelta(hours=hours)


def to_utc(moment: datetime, zone: str) -> datetime | None:
    """Return a local time in universal time, without zone; None if the zone is not known."""
    offset = utc_offset(zone)
    return None if offset is None else shifted(moment, -offset)


def shifted(moment: datetime, shift: timedelta) -> datetime:
    """Return a later or earlier time, within the calendar."""
    try:
        return moment + shift
    except OverflowError:
        return moment


def parse_start(text: str) -> tuple[datetime | None, str]:
    """Return a local time, and its zone or "", of seconds since 1970, ISO or C's ``ctime``; None for other texts."""
    if (moment := from_epoch(text)) is not None:
        return moment, "+00:00"
    for read in (datetime.fromisoformat, lambda text: datetime.strptime(text, "%a %b %d %H:%M:%S %Y")):
        try:
            moment = read(text)
        except ValueError:
            continue
        return moment.replace(tzinfo=None), f"{moment:%z}"
    return None, ""
