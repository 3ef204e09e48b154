"""Workloads: short names, and the metrics of a pattern."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.metrics import BY_NAME
from perfdb.analysis.workloads import (
    WELL_KNOWN,
    Workload,
    cost_metric,
    message_mb,
    parse_workload,
    primary_metric,
    workload_name,
)

MB = 2**20


@pytest.mark.parametrize(
    ("pattern", "request_bytes", "response_bytes", "name"),
    [
        ("RR", 200, 1000, "RR"),
        ("crr", 64, 8192, "CRR"),
        ("STRG", 20, 20 * MB, "STRG"),
        ("STRP", 20 * MB, 20, "STRP"),
        ("RR", 200, 32768, "RR 200/32K"),
        ("RR", 1, 1, "RR 1/1"),
        ("STRP", 10_001, 2**31, "STRP 10001/2G"),
    ],
)
def test_name(pattern: str, request_bytes: int, response_bytes: int, name: str) -> None:
    assert workload_name(pattern, request_bytes, response_bytes) == name


@given(st.sampled_from(sorted(WELL_KNOWN)), st.integers(0, 2**40), st.integers(0, 2**40))
def test_names_round_trip(pattern: str, request_bytes: int, response_bytes: int) -> None:
    workload = Workload(pattern, request_bytes, response_bytes)
    assert parse_workload(workload_name(pattern, request_bytes, response_bytes)) == workload


def test_sizes_that_no_source_gives_leave_the_pattern() -> None:
    assert workload_name("STRP", None, None) == "STRP"


@pytest.mark.parametrize("name", ["", "X", "§§ 1/2", "3DES", "RR 200", "RR a/b", "RR 200/1000/3"])
def test_what_is_no_workload_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse_workload(name)


def test_a_pattern_of_a_tool_s_own_may_have_no_sizes() -> None:
    assert parse_workload("http") == Workload("HTTP", None, None)
    assert workload_name("HTTP", None, None) == "HTTP"
    assert workload_name("PING", 56, 56) == "PING 56/56"
    assert (primary_metric("HTTP"), cost_metric("STRB")) == ("trans_per_s", "cpu_ms_per_mb")


def test_metrics() -> None:
    assert {primary_metric("RR"), primary_metric("CRR")} == {"trans_per_s"}
    assert {primary_metric("STRG"), primary_metric("STRP")} == {"mb_per_s"}
    assert {cost_metric("RR"), cost_metric("CRR")} == {"cpu_ms_per_trans"}
    assert {cost_metric("STRG"), cost_metric("STRP")} == {"cpu_ms_per_mb"}
    assert all(primary_metric(p) in BY_NAME and cost_metric(p) in BY_NAME for p in WELL_KNOWN)


def test_message() -> None:
    assert message_mb("STRG", 20, 20 * MB) == 20
    assert message_mb("STRP", 5 * MB, 20) == 5
    with pytest.raises(ValueError, match="RR streams no message in one direction"):
        message_mb("RR", 200, 1000)
