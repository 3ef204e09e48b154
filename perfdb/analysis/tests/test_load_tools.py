"""What follows from what load tools print in parts: operations, time stamps, samples, both ends' bytes."""

from typing import Any

import pytest

from perfdb.analysis.formulas.derivation import derive
from perfdb.analysis.formulas.load_tools import plateau
from perfdb.analysis.formulas.run_values import RunFigures

MB = 2**20
RAW = {
    "raw.first_ms": (1_700_000_000_100.5,),
    "raw.last_ms": (1_700_000_004_100.5,),
    "raw.first_bytes": (1200.0,),
    "raw.last_bytes": (1200.0 + 48 * MB,),
    "raw.first_operations": (2.0,),
    "raw.last_operations": (80_002.0,),
}
TWO_EACH = {"operations_per_transaction": (2.0,)}


def values(figures: RunFigures) -> dict[str, tuple[Any, str]]:
    return {str(each.measure): (pytest.approx(each.value), each.formula) for each in derive(figures)}


def test_raw_counts_give_seconds_rates_and_transactions() -> None:
    found = values(RunFigures(facts=RAW | TWO_EACH))
    assert found == {
        "driver_s": (4.0, "driver_s.raw"),
        "trans_per_s": (10_000.0, "trans_per_s.raw"),
        "mb_per_s": (12.0, "mb_per_s.raw"),
        "transactions": (40_000.0, "transactions.rate"),
    }


def test_operations_alone_are_no_transactions() -> None:
    assert set(values(RunFigures(facts=RAW))) == {"driver_s", "mb_per_s"}


def test_operations_per_second_stand_in_for_a_count_of_transactions() -> None:
    facts = {"operations_per_s": (183_663.0,), **TWO_EACH}
    found = values(RunFigures(metrics={("driver_s", "total"): 3.2}, facts=facts))
    assert found["trans_per_s"] == (91_831.5, "trans_per_s.operations")
    assert found["transactions"] == (91_831.5 * 3.2, "transactions.rate")


def test_a_count_of_transactions_goes_before_operations() -> None:
    figures = RunFigures(
        metrics={("driver_s", "total"): 4.0, ("transactions", "total"): 30_000},
        facts={"operations_per_s": (99_999.0,), **TWO_EACH, **RAW},
    )
    found = values(figures)
    assert found["trans_per_s"] == (7_500.0, "trans_per_s.driver")
    assert "transactions" not in found


def test_the_drivers_bytes_go_before_transactions_times_sizes() -> None:
    """Of 50 users each has a transaction of 20 MB under way at the end: counted as begun, its bytes not."""
    figures = RunFigures(
        metrics={("driver_s", "total"): 9.0, ("transactions", "total"): 227, ("data_bytes", "total"): 3600 * MB},
        pattern="STRG",
        users=50,
        request_bytes=20,
        response_bytes=20 * MB,
    )
    assert values(figures)["mb_per_s"] == (400.0, "mb_per_s.data")


@pytest.mark.parametrize(("think_ms", "there"), [(0, True), (5, False), (None, False)])
def test_response_time_gives_the_rate_of_users_that_never_pause(think_ms: float | None, there: bool) -> None:
    found = values(RunFigures(metrics={("response_ms", "total"): 0.0236}, users=1, think_ms=think_ms))
    assert ("trans_per_s" in found) is there
    if there:
        assert found["trans_per_s"] == (42_372.8813559322, "trans_per_s.response")


def test_a_printed_rate_is_not_replaced_by_one_from_the_response_time() -> None:
    metrics = {("response_ms", "total"): 5.0, ("trans_per_s", "total"): 190.0}
    assert "trans_per_s" not in values(RunFigures(metrics=metrics, users=1, think_ms=0))


def test_rates_of_one_connection_are_averaged_and_those_of_several_add_up() -> None:
    facts = {"samples_kbytes_per_s": (102_400.0, 204_800.0)}
    assert values(RunFigures(facts=facts))["mb_per_s"] == (150.0, "mb_per_s.samples")
    assert values(RunFigures(facts=facts, users=2))["mb_per_s"] == (300.0, "mb_per_s.users")


def test_load_is_that_of_the_plateau() -> None:
    assert plateau([2.0, -1.0, 50.0, 52.0, 54.0]) == [50.0, 52.0, 54.0]
    facts = {"load_percent@client": (-1.0, 50.0, 52.0, 54.0), "samples_kbytes_per_s": (102_400.0,)}
    found = values(RunFigures(facts=facts, pattern="STRP", metrics={("processors", "client"): 2}))
    assert found["cpu_util@client"] == (52.0, "cpu_util.soaked")
    assert found["cpu_ms_per_mb@client"] == (52.0 * 10 * 2 / 100, "cpu_ms_per_mb.soaked")
    assert "cpu_util" not in found


def test_cpu_seconds_of_the_process() -> None:
    metrics = {("process_cpu_s", "client"): 2.92, ("driver_s", "total"): 7.3, ("mb_per_s", "total"): 800.0}
    found = values(RunFigures(metrics=metrics, pattern="STRP"))
    assert found == {
        "processor_util@client": (40.0, "processor_util.process"),
        "process_cpu_ms_per_mb@client": (0.5, "process_cpu_ms_per_mb.process"),
    }


def test_loss_needs_both_ends() -> None:
    both = {"datagram_bytes_sent": (140_000.0,), "datagram_bytes_received": (35_000.0,)}
    assert values(RunFigures(facts=both)) == {"loss_percent": (75.0, "loss_percent.bytes")}
    assert values(RunFigures(facts={"datagram_bytes_sent": (140_000.0,)})) == {}
    reported = {("loss_percent", "total"): 74.0}
    assert values(RunFigures(metrics=reported, facts=both)) == {}


def test_messages_that_did_not_arrive_are_lost() -> None:
    facts = {"messages_sent": (281927.0,), "messages_received": (55108.0,)}
    assert values(RunFigures(facts=facts)) == {
        "loss_percent": (pytest.approx(80.45309601421644), "loss_percent.messages")
    }
    reported = {("loss_percent", "total"): 80.0}
    assert values(RunFigures(metrics=reported, facts=facts)) == {}


def test_datagrams_of_connections_are_added_up() -> None:
    metrics = {("packets_lost", "total"): 25.0}
    assert values(RunFigures(metrics=metrics, facts={"datagrams": (681.0, 681.0)})) == {
        "loss_percent": (pytest.approx(1.8355359765), "loss_percent.datagrams")
    }


def test_the_mean_of_echoes_is_that_of_those_that_came_back() -> None:
    facts = {"samples_response_ms": (0.07, 0.09, 0.11)}
    assert values(RunFigures(facts=facts)) == {"response_ms": (pytest.approx(0.09), "response_ms.samples")}


def test_both_directions_of_a_stream_add_up() -> None:
    ways = {("mb_per_s", "to_server"): 100.0, ("mb_per_s", "to_client"): 250.0}
    assert values(RunFigures(metrics=ways, pattern="STRB"))["mb_per_s"] == (350.0, "mb_per_s.both_ways")
    assert "mb_per_s" not in values(RunFigures(metrics={("mb_per_s", "to_server"): 100.0}, pattern="STRB"))
    printed = values(RunFigures(metrics={**ways, ("mb_per_s", "total"): 349.0}, pattern="STRB"))
    assert "mb_per_s" not in printed


def test_what_arrived_of_datagrams_follows_from_rate_and_loss() -> None:
    facts = {"sent_bits_per_second": (190_206_000.0,)}
    found = values(RunFigures(metrics={("loss_percent", "total"): 66.2532}, facts=facts))
    assert found["mb_per_s"] == (64_188_438.4 / 8 / MB, "mb_per_s.arrived")
    assert values(RunFigures(facts=facts)) == {}


PERCENT = {("processor_util", "client"): 25.0, ("processor_util", "server"): 40.0, ("mb_per_s", "total"): 100.0}


def test_the_cost_of_a_process_is_not_that_of_its_host() -> None:
    found = values(RunFigures(metrics=PERCENT, pattern="STRP", of_processes=True))
    assert found == {
        "process_cpu_ms_per_mb@client": (2.5, "process_cpu_ms_per_mb.percent"),
        "process_cpu_ms_per_mb@server": (4.0, "process_cpu_ms_per_mb.percent"),
    }
    host = values(RunFigures(metrics=PERCENT, pattern="STRP"))
    assert host == {
        "cpu_ms_per_mb@client": (2.5, "cpu_ms_per_mb.processor"),
        "cpu_ms_per_mb@server": (4.0, "cpu_ms_per_mb.processor"),
    }


def test_a_systems_own_report_stands_beside_a_processs_percentage() -> None:
    metrics = {**PERCENT, ("processor_util", "total"): 90.0, ("processors", "lpar"): 2.0}
    found = values(RunFigures(metrics=metrics, pattern="STRP", of_processes=True))
    assert found["cpu_ms_per_mb"] == (9.0, "cpu_ms_per_mb.processor")
    assert "cpu_ms_per_mb@client" not in found


def test_the_processs_cpu_seconds_go_before_its_percentage() -> None:
    metrics = {**PERCENT, ("process_cpu_s", "client"): 3.0, ("driver_s", "total"): 10.0}
    found = values(RunFigures(metrics=metrics, pattern="STRP", of_processes=True))
    assert found["process_cpu_ms_per_mb@client"] == (3.0, "process_cpu_ms_per_mb.process")


def test_transactions_have_processes_costs_too() -> None:
    metrics = {("processor_util", "client"): 25.0, ("trans_per_s", "total"): 1000.0}
    found = values(RunFigures(metrics=metrics, pattern="RR", of_processes=True))
    assert found == {"process_cpu_ms_per_trans@client": (0.25, "process_cpu_ms_per_trans.percent")}


def test_a_shared_machine_is_no_sides_own() -> None:
    metrics = {
        **{
            (name, role): value
            for role in ("client", "server")
            for name, value in (("cpu_util", 80.0), ("processors", 2.0))
        },
        ("trans_per_s", "total"): 1000.0,
    }
    alone = values(RunFigures(metrics=metrics, pattern="RR"))
    assert alone["cpu_ms_per_trans@client"] == (1.6, "cpu_ms_per_trans.report")
    assert values(RunFigures(metrics=metrics, pattern="RR", one_host=True)) == {}


def test_bytes_of_both_directions_make_transactions() -> None:
    metrics = {("mb_per_s", "total"): 7812.5 / 1024}
    figures = RunFigures(metrics=metrics, pattern="RR", request_bytes=100, response_bytes=700)
    assert values(figures)["trans_per_s"] == (pytest.approx(10_000), "trans_per_s.bytes")
