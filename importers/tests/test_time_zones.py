"""Printed time zones."""

from datetime import datetime, timedelta

import pytest

from importers.time_zones import to_utc, utc_offset


@pytest.mark.parametrize(
    ("zone", "minutes"),
    [
        *(("-05:00", -300), ("-0500", -300), ("+01", 60), ("+05:30", 330), ("UTC+2", 120), ("UTC", 0), ("GMT", 0)),
        *(("EST", -300), ("CEST", 120), ("cet", 60), ("JST", 540), ("ACST", 570)),
    ],
)
def test_a_printed_zone_is_used(zone: str, minutes: int) -> None:
    assert utc_offset(zone) == timedelta(minutes=minutes)


@pytest.mark.parametrize("zone", ["", "QQQT", "CST", "IST", "+99999999999:00", "+²:00", "local"])
def test_an_unknown_zone_gives_no_instant(zone: str) -> None:
    assert utc_offset(zone) is None
    assert to_utc(datetime(2002, 2, 26, 14), zone) is None


def test_the_ends_of_the_calendar_are_kept() -> None:
    assert to_utc(datetime.min, "+05:00") == datetime.min
