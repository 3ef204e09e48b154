"""Checks of a Linux host's snapshots: each reason to refuse, to wait, to leave out, to go on counting and to warn."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from perfdb.analysis.checks.finding import Severity
from perfdb.analysis.checks.snapshot_pairs import PairState, PairVerdict, Snapshot, check_host, check_machine

START = datetime(2024, 3, 14, 10, 20)
ELAPSED = 10.5
COUNTERS = {
    ("cpu", "user"): 79.0,
    ("cpu", "idle"): 3640.0,
    ("cpu", "iowait"): 1.6,
    ("processor/0", "user"): 40.0,
    ("uptime", "uptime"): 2000.10,
    ("kernel", "btime"): 1710406000.0,
    ("kernel", "context_switches"): 811200.0,
    ("snmp", "Tcp.RetransSegs"): 5.0,
    ("adapter/lo", "rx_bytes"): 1804.0,
    ("adapter/enc600", "rx_bytes"): 1200400.0,
    ("adapter/enc600", "rx_packets"): 8100.0,
    ("ethtool/enc600", "tx_ring_size"): 128.0,
    ("softnet/0", "processed"): 4294967290.0,
    ("cgroup/test.slice", "usage"): 12.5,
}
BEFORE = Snapshot("client", "lnxc1", START, "+01:00", 2, COUNTERS)
GROWTH = {"btime": 0.0, "uptime": ELAPSED, "tx_ring_size": 0.0, "processed": 2.0}
AFTER = replace(
    BEFORE,
    taken=START + timedelta(seconds=ELAPSED),
    counters={key: value + GROWTH.get(key[1], 3.0) for key, value in COUNTERS.items()},
)


def check(counters: Mapping[tuple[str, str], float | None] | None = None, **more: datetime | str | None) -> PairVerdict:
    """The verdict on a good pair of which the counters after the run are changed, or taken out."""
    changed = {**AFTER.counters, **(counters or {})}
    after = replace(AFTER, counters={key: value for key, value in changed.items() if value is not None}, **more)  # type: ignore[arg-type]
    return check_host("LV01", BEFORE, after)


def code(verdict: PairVerdict) -> str:
    (found,) = verdict.findings
    assert found.remedy or found.severity is Severity.NOTE
    return found.code


def test_a_good_pair_is_used() -> None:
    verdict = check()
    assert (verdict.state, verdict.findings, verdict.elapsed_s) == (PairState.USABLE, (), ELAPSED)
    assert not verdict.wrapped | verdict.left_out


@pytest.mark.parametrize("phase", ["before", "after"])
def test_one_snapshot_waits_for_the_other(phase: str) -> None:
    verdict = check_host("LV01", *((BEFORE, None) if phase == "before" else (None, AFTER)))
    assert (verdict.state, code(verdict)) == (PairState.WAITING, "pair.missing-half")


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        ({("uptime", "uptime"): 12.0, ("kernel", "btime"): 1710408000.0}, "pair.reboot"),
        ({("uptime", "uptime"): None, ("kernel", "btime"): 1710408000.0}, "pair.reboot"),
        ({("uptime", "uptime"): 1990.0}, "pair.swapped"),
        ({("cpu", "user"): 78.0}, "pair.reset"),
        ({("processor/0", "user"): 1.0}, "pair.reset"),
    ],
)
def test_a_pair_across_a_restart_or_of_two_hosts_is_refused(
    counters: dict[tuple[str, str], float | None], expected: str
) -> None:
    verdict = check(counters)
    assert (verdict.state, code(verdict)) == (PairState.REFUSED, expected)


@pytest.mark.parametrize(("seconds", "expected"), [(-5, "pair.swapped"), (0, "pair.same-moment")])
def test_a_pair_in_the_wrong_order_is_refused(seconds: int, expected: str) -> None:
    verdict = check(taken=START + timedelta(seconds=seconds))
    assert (verdict.state, code(verdict)) == (PairState.REFUSED, expected)


def test_a_pair_with_no_adapter_in_common_is_refused() -> None:
    gone = dict.fromkeys((("adapter/enc600", "rx_bytes"), ("adapter/enc600", "rx_packets")))
    verdict = check({**gone, ("adapter/eth7", "rx_bytes"): 12.0})
    assert (verdict.state, code(verdict)) == (PairState.REFUSED, "pair.other-adapters")
    assert "enc600 before, eth7 after" in verdict.findings[0].message


def test_an_adapter_that_came_in_between_is_said_and_the_rest_used() -> None:
    verdict = check({("adapter/docker0", "rx_bytes"): 12.0})
    assert (verdict.state, code(verdict)) == (PairState.USABLE, "pair.adapters")


def test_a_clock_that_was_set_gives_no_elapsed_time() -> None:
    verdict = check({("kernel", "btime"): 1710406030.0})
    assert (verdict.state, code(verdict), verdict.elapsed_s) == (PairState.USABLE, "pair.clock", None)


def test_the_start_may_be_a_second_off() -> None:
    assert check({("kernel", "btime"): 1710406001.0}).findings == ()


def test_idle_time_may_fall_a_little() -> None:
    verdict = check({("cpu", "idle"): 3639.9, ("cpu", "iowait"): 1.5})
    assert (verdict.state, verdict.findings, verdict.left_out) == (PairState.USABLE, (), frozenset())


def test_a_counter_of_32_bits_goes_on_after_its_end() -> None:
    verdict = check({("softnet/0", "processed"): 99.0})
    assert code(verdict) == "pair.wrapped"
    assert verdict.wrapped == {("softnet/0", "processed")}
    assert verdict.left_out == frozenset()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (8100.0, 12.0),  # far from 2^32
        (2.0**32 - 10, 2.0**31),  # half a round further
        (2.0**33, 2.0**31),  # more than 32 bits
    ],
)
def test_a_counter_that_was_cleared_is_left_out_with_its_neighbours(before: float, after: float) -> None:
    key = ("adapter/enc600", "rx_packets")
    verdict = check_host(
        "LV01",
        replace(BEFORE, counters={**COUNTERS, key: before}),
        replace(AFTER, counters={**AFTER.counters, key: after}),
    )
    assert (verdict.state, code(verdict)) == (PairState.USABLE, "pair.adapter-cleared")
    assert verdict.left_out == {"adapter/enc600"}


def test_bytes_and_packets_cleared_together_are_no_wrap() -> None:
    keys = [("adapter/enc600", name) for name in ("rx_bytes", "rx_packets")]
    before = replace(BEFORE, counters={**COUNTERS, keys[0]: 2.0**32 - 500, keys[1]: 8100.0})
    verdict = check_host("LV01", before, replace(AFTER, counters={**AFTER.counters, keys[0]: 70.0, keys[1]: 1.0}))
    assert verdict.wrapped == frozenset()
    assert verdict.left_out == {"adapter/enc600"}


def test_what_a_driver_calls_a_statistic_may_be_a_setting() -> None:
    verdict = check({("ethtool/enc600", "tx_ring_size"): 64.0})
    assert (verdict.findings, verdict.left_out) == ((), frozenset())


def test_two_sides_on_one_machine_are_said() -> None:
    sides = {
        (role, *key): (value + late, value + late + 3)
        for role, late in (("client", 0), ("server", 1))
        for key, value in COUNTERS.items()
        if key != ("kernel", "btime")
    }
    started = {(role, "kernel", "btime"): (1.7e9, 1.7e9) for role in ("client", "server")}
    assert [found.code for found in check_machine({**sides, **started})] == ["pair.one-machine"]
    assert check_machine(sides) == []
    later = {key: (a + 500, b + 500) if key[0] == "server" else (a, b) for key, (a, b) in sides.items()}
    assert check_machine({**later, **started}) == []
