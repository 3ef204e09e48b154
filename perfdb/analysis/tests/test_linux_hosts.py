"""What follows from two Linux hosts' counters: busy time, steal time, processes, packets, worked out by hand."""

from dataclasses import replace
from typing import Any

import pytest

from perfdb.analysis.formulas.derivation import derive, explain_derivation
from perfdb.analysis.formulas.run_values import Derived, RunFigures

Counters = dict[tuple[str, str, str], tuple[float, float]]
TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")


def cpu(role: str, subject: str, *seconds: float) -> Counters:
    """CPU times of so many seconds between the snapshots."""
    return {(role, subject, name): (100.0, 100.0 + value) for name, value in zip(TIMES, seconds, strict=False)}


def grown(role: str, subject: str, **names: float) -> Counters:
    return {(role, subject, name): (5.0, 5.0 + value) for name, value in names.items()}


#                            user nice sys idle iow irq softirq steal guest
CLIENT = cpu("client", "cpu", 2.5, 0.5, 4.0, 10.0, 1.0, 0.25, 1.5, 0.25, 0.75)
SERVER = cpu("server", "cpu", 1.0, 0.0, 3.0, 15.5, 0.5, 0.0, 0.0, 0.0, 0.0)
RUN = RunFigures(
    metrics={("transactions", "total"): 100_000.0, ("driver_s", "total"): 10.0, ("trans_per_s", "total"): 10_000.0},
    counters={**CLIENT, **SERVER},
    pattern="RR",
)
STREAM = RunFigures(
    metrics={("mb_per_s", "total"): 112.5, ("driver_s", "total"): 10.0},
    counters={**CLIENT, **SERVER},
    pattern="STRP",
)


def figures(run: RunFigures) -> dict[str, float]:
    return {str(each.measure): each.value for each in derive(run)}


def one(run: RunFigures, measure: str) -> Derived:
    return next(each for each in derive(run) if str(each.measure) == measure)


def with_counters(run: RunFigures, counters: Counters, **more: Any) -> RunFigures:
    return replace(run, counters={**run.counters, **counters}, **more)


def test_busy_is_all_but_idle_and_waiting_and_guests_are_in_it_once() -> None:
    found = figures(RUN)
    assert found["cpu_util@client"] == pytest.approx(9.0 / 20.0 * 100)
    assert found["cpu_util@server"] == pytest.approx(4.0 / 20.0 * 100)
    assert found["cpu_util"] == pytest.approx(13.0 / 40.0 * 100)
    assert found["cpu_ms_per_trans@client"] == pytest.approx(0.09)
    assert found["cpu_ms_per_trans@server"] == pytest.approx(0.04)
    assert found["cpu_ms_per_trans"] == pytest.approx(0.13)


def test_stolen_time_is_the_hypervisor_s_share() -> None:
    found = figures(RUN)
    assert found["steal_util@client"] == pytest.approx(1.25)
    assert found["steal_ms_per_trans@client"] == pytest.approx(0.0025)
    assert found["steal_util"] == pytest.approx(0.25 / 40 * 100)


def test_a_kernel_without_steal_says_nothing_of_it() -> None:
    old = {key: value for key, value in RUN.counters.items() if key[2] not in {"steal", "guest", "guest_nice"}}
    found = figures(replace(RUN, counters=old))
    assert "steal_util@client" not in found
    assert found["cpu_util@client"] == pytest.approx(8.75 / 19.75 * 100)


def test_without_a_count_the_rate_and_the_seconds_tell_the_transactions() -> None:
    rated = {key: value for key, value in RUN.metrics.items() if key[0] != "transactions"}
    derived = one(replace(RUN, metrics=rated), "cpu_ms_per_trans@client")
    assert derived.formula == "cpu_ms_per_trans.host_rate"
    assert derived.value == pytest.approx(0.09)


def test_a_stream_s_cost_is_that_of_the_mb_it_moved() -> None:
    derived = one(STREAM, "cpu_ms_per_mb@client")
    assert derived.value == pytest.approx(9.0 * 1000 / 1125)
    assert explain_derivation(derived) == "(2.5 + 0.5 + 4 + 0.25 + 1.5 + 0.25) × 1000 / (112.5 × 10) = 8"
    assert "cpu_ms_per_mb@client" not in figures(RUN)


def test_one_side_alone_has_its_own_figures_and_no_total() -> None:
    found = figures(replace(RUN, counters=CLIENT))
    assert "cpu_util@client" in found
    assert not {"cpu_util", "cpu_util@server", "cpu_ms_per_trans"} & found.keys()


def test_idle_time_that_fell_a_little_did_not_grow() -> None:
    fallen = {("client", "cpu", "iowait"): (9.0, 8.9)}
    assert figures(with_counters(RUN, fallen))["cpu_util@client"] == pytest.approx(9.0 / 19.0 * 100)


SHARED: Counters = {
    (role, "kernel", name): values
    for role, late in (("client", 0.0), ("server", 2.0))
    for name, values in (("btime", (1.7e9, 1.7e9)), ("context_switches", (50.0 + late, 90.0 + late)))
}
ONE_MACHINE = RunFigures(
    metrics=RUN.metrics,
    counters={**CLIENT, **{("server", *key[1:]): value for key, value in CLIENT.items()}, **SHARED},
    pattern="RR",
)


def test_on_one_machine_its_time_is_the_run_s_and_no_side_s() -> None:
    found = figures(ONE_MACHINE)
    assert found["cpu_util"] == pytest.approx(45.0)
    assert found["cpu_ms_per_trans"] == pytest.approx(0.09)
    assert not {"cpu_util@client", "cpu_util@server", "cpu_ms_per_trans@client"} & found.keys()


@pytest.mark.parametrize("side", ["client", "server"])
def test_the_ends_addresses_tell_one_machine_where_one_side_has_snapshots(side: str) -> None:
    counters = {(side, *key[1:]): value for key, value in CLIENT.items()}
    assert figures(with_counters(RUN, counters))[f"cpu_util@{side}"] == pytest.approx(45.0)
    found = figures(with_counters(RUN, counters, one_host=True))
    assert found["cpu_util"] == pytest.approx(45.0)
    assert f"cpu_util@{side}" not in found


def test_processors_that_a_side_was_bound_to_give_its_own_figures() -> None:
    own = {**cpu("client", "processor/0", 1, 0, 2, 1, 0, 0, 1, 0), **cpu("server", "processor/3", 1, 0, 0, 4)}
    run = with_counters(ONE_MACHINE, own, facts={"client_cpus": (0.0,), "server_cpus": (3.0,)})
    found = figures(run)
    assert found["bound_cpu_util@client"] == pytest.approx(80.0)
    assert found["bound_cpu_util@server"] == pytest.approx(20.0)
    assert found["cpu_ms_per_trans@client"] == pytest.approx(0.04)
    assert found["cpu_ms_per_trans"] == pytest.approx(0.05)
    assert "bound_cpu_util@client" not in figures(with_counters(ONE_MACHINE, own))


def test_processes_are_told_apart_wherever_they_ran() -> None:
    groups = {**grown("client", "cgroup/a", usage=3.0, user=9.0), **grown("server", "cgroup/b", user=0.5, system=1.5)}
    found = figures(with_counters(ONE_MACHINE, groups))
    assert (found["process_cpu_s@client"], found["process_cpu_s@server"]) == (3.0, 2.0)
    assert found["process_cpu_ms_per_trans"] == pytest.approx(0.05)
    two = figures(with_counters(ONE_MACHINE, {**groups, **grown("client", "cgroup/other", usage=1.0)}))
    assert "process_cpu_s@client" not in two


@pytest.mark.parametrize(("pattern", "total"), [("RR", 15.0), ("STRP", 4.0), ("STRG", 11.0)])
def test_segments_sent_again_are_the_sender_s(pattern: str, total: float) -> None:
    counters = {("client", "snmp", "Tcp.RetransSegs"): (5.0, 9.0), ("server", "snmp", "Tcp.RetransSegs"): (20.0, 31.0)}
    run = with_counters(RUN, counters, pattern=pattern)
    found = figures(run)
    assert (found["retransmits"], found["retransmits@client"], found["retransmits@server"]) == (total, 4.0, 11.0)
    assert "retransmits" not in figures(replace(run, metrics={**RUN.metrics, ("retransmits", "total"): 3.0}))


def test_packets_are_those_of_the_adapters_that_were_asked_for() -> None:
    counters = {
        **grown("client", "adapter/lo", rx_packets=9.0, rx_dropped=9.0),
        **grown("client", "adapter/eth0", rx_packets=50.0, rx_dropped=1.0, tx_dropped=0.0),
        **grown("client", "adapter/eth1", rx_packets=7.0, rx_dropped=2.0, tx_dropped=0.0),
    }
    assert figures(with_counters(RUN, counters))["packets_dropped@client"] == 3.0
    assert figures(with_counters(RUN, counters, device="lo"))["packets_dropped@client"] == 9.0
    assert figures(with_counters(RUN, counters, device="hipersockets"))["packets_dropped@client"] == 3.0
    asked = {**counters, **grown("client", "link/eth1", rx_dropped=2.0, rx_missed=4.0)}
    assert figures(with_counters(RUN, asked))["packets_dropped@client"] == 6.0


def test_a_report_s_busy_time_is_what_is_neither_idle_nor_waiting() -> None:
    metrics = {("idle_util", "client"): 12.5, ("iowait_util", "client"): 2.5}
    assert figures(RunFigures(metrics=metrics))["cpu_util@client"] == pytest.approx(85.0)
