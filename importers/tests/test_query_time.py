"""QUERY TIME: when a capture was taken, and the CPU time until then."""

from datetime import datetime

import pytest

from importers.tests.captures import HEAD, TIME, USER, USERID, codes, counters, only, parse


@pytest.mark.parametrize(
    ("printed", "day"),
    [
        ("02/26/02", datetime(2002, 2, 26)),
        ("02/26/1999", datetime(1999, 2, 26)),
        ("2002-02-26", datetime(2002, 2, 26)),
        ("12/31/69", datetime(2069, 12, 31)),
        ("01/01/70", datetime(1970, 1, 1)),
    ],
)
def test_dates_follow_the_users_date_format(printed: str, day: datetime) -> None:
    fragment = only(parse(HEAD, f"TIME IS 00:00:00 EST TUESDAY {printed}", TIME[2]))
    assert fragment.taken == day


@pytest.mark.parametrize("printed", ["26.02.2002", "13/26/02", "02/30/02", "TODAY"])
def test_a_date_that_is_none_leaves_the_time_out(printed: str) -> None:
    parsed = parse(HEAD, f"TIME IS 00:00:00 EST TUESDAY {printed}", TIME[2])
    assert only(parsed).taken is None
    assert codes(parsed) == ["cp_query.bad-time", "cp_query.no-time"]


def test_minutes_and_hours_may_have_more_digits() -> None:
    line = "CONNECT= 125:19:51 VIRTCPU=1020:03.11 TOTCPU= 12037:00.14"
    texts = counters(only(parse(HEAD, TIME[1], line)))
    assert texts == {("", "connect"): "125:19:51", ("", "virtcpu"): "1020:03.11", ("", "totcpu"): "12037:00.14"}


def test_a_counter_of_another_shape_is_left_out_and_reported() -> None:
    parsed = parse(HEAD, TIME[1], "CONNECT= 01:12:33 VIRTCPU= 017:25 TOTCPU= 033:40.12")
    assert set(counters(only(parsed))) == {("", "connect"), ("", "totcpu")}
    assert codes(parsed) == ["cp_query.shape"]
    assert "VIRTCPU= 017:25 is not of the form mmm:ss.hs" in parsed.problems[0].message


def test_time_without_connect_has_no_cpu_time() -> None:
    parsed = parse(HEAD, *TIME[:2], *USERID)
    assert codes(parsed) == ["cp_query.no-cpu-time"]


def test_a_capture_without_time_cannot_be_placed() -> None:
    parsed = parse(HEAD, *USER)
    assert only(parsed).taken is None
    assert codes(parsed) == ["cp_query.no-time"]


def test_the_logoff_line_is_not_taken_for_the_captures_counters() -> None:
    parsed = parse(HEAD, *TIME, "logoff", "CONNECT= 09:00:00 VIRTCPU= 999:00.00 TOTCPU= 999:00.00")
    assert counters(only(parsed))["", "totcpu"] == "033:40.12"
