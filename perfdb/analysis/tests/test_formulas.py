"""Derived metrics: two published runs to their last digit, and what must not be derived."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from perfdb.analysis.formulas.catalogue import BY_ID, FORMULAS
from perfdb.analysis.formulas.derivation import derive, explain_derivation
from perfdb.analysis.formulas.run_values import Derived, InputKind, RunFigures
from perfdb.analysis.metrics import BY_NAME
from perfdb.analysis.units import round_half_up

MB = 2**20
Counters = dict[tuple[str, str, str], tuple[float, float]]


def moments(start: datetime, seconds: float) -> tuple[datetime, datetime]:
    return start, start + timedelta(seconds=seconds)


# Linux connectivity study, table 1: RR over QDIO Gigabit Ethernet, MTU 9000, 50 clients.
NMGBR950 = RunFigures(
    metrics={
        ("transactions", "total"): 5558569,
        ("driver_s", "total"): 612.36,
        ("trans_per_s", "total"): 9077.29,
        ("mb_per_s", "total"): 10.39,
        ("response_ms", "total"): 5.508,
        ("processors", "lpar"): 2,
    },
    counters={
        ("client", "", "totcpu"): (2020.12, 2631.90),
        ("client", "", "virtcpu"): (1045.51, 1338.25),
        ("server", "", "totcpu"): (1000.0, 1611.27),
        ("server", "", "virtcpu"): (500.25, 784.14),
        ("lpar", "", "totcpu"): (100.0, 107.0),
        ("lpar", "", "virtcpu"): (50.0, 53.0),
    },
    taken={
        "client": moments(datetime(2002, 2, 26, 14, 5, 1), 632),
        "server": moments(datetime(2002, 2, 26, 14, 5, 2), 633),
        "lpar": moments(datetime(2002, 2, 26, 14, 5, 0), 640),
    },
    pattern="RR",
    users=50,
    request_bytes=200,
    response_bytes=1000,
    think_ms=0,
)

# The same study, tables 3 and 5: STRG over HiperSockets, MTU 32 KB, 10 clients; the run passes midnight.
NMHIS310 = RunFigures(
    metrics={("transactions", "total"): 4910, ("driver_s", "total"): 602.16},
    counters={
        ("client", "", "totcpu"): (608.77, 999.07),
        ("client", "", "virtcpu"): (310.2, 542.74),
        ("server", "", "totcpu"): (0.0, 595.03),
        ("server", "", "virtcpu"): (0.0, 372.11),
    },
    taken={"client": (datetime(2002, 2, 27, 23, 55, 10), datetime(2002, 2, 28, 0, 5, 14))},
    pattern="STRG",
    users=10,
    request_bytes=20,
    response_bytes=20 * MB,
    think_ms=0,
    system_processors=2,
)

PUBLISHED = [
    (NMGBR950, "cpu_util", 96.76028481012658, "96.76"),
    (NMGBR950, "cpu_util@client", 48.4003164556962, "48.40"),
    (NMGBR950, "cpu_util@server", 48.35996835443038, "48.36"),
    (NMGBR950, "virtual_cpu_util", 45.61946202531645, "45.62"),
    (NMGBR950, "virtual_cpu_util@client", 23.15981012658228, "23.16"),
    (NMGBR950, "virtual_cpu_util@server", 22.459651898734176, "22.46"),
    (NMGBR950, "cp_cpu_util", 51.14082278481013, "51.14"),
    (NMGBR950, "cp_cpu_util@client", 25.240506329113927, "25.24"),
    (NMGBR950, "cp_cpu_util@server", 25.900316455696203, "25.90"),
    (NMGBR950, "cpu_ms_per_trans", 0.22002965151642445, "0.22"),
    (NMGBR950, "cpu_ms_per_trans@client", 0.11006070087463159, "0.11"),
    (NMGBR950, "cpu_ms_per_trans@server", 0.10996895064179288, "0.11"),
    (NMGBR950, "virtual_cpu_ms_per_trans", 0.10373713090545426, "0.10"),
    (NMGBR950, "virtual_cpu_ms_per_trans@client", 0.052664633649415885, "0.05"),
    (NMGBR950, "virtual_cpu_ms_per_trans@server", 0.05107249725603838, "0.05"),
    (NMGBR950, "cp_cpu_ms_per_trans", 0.11629252061097022, "0.12"),
    (NMGBR950, "cp_cpu_ms_per_trans@client", 0.057396067225215695, "0.06"),
    (NMGBR950, "cp_cpu_ms_per_trans@server", 0.0588964533857545, "0.06"),
    (NMGBR950, "elapsed_s", 632.0, "632.00"),
    (NMGBR950, "trans_per_s", 9077.289502906786, "9077.29"),
    (NMGBR950, "mb_per_s", 10.388133433807509, "10.39"),
    (NMGBR950, "response_ms", 5.508252213834172, "5.51"),
    (NMHIS310, "cpu_util", 81.56705298013244, "81.57"),
    (NMHIS310, "cpu_util@client", 32.30960264900663, "32.31"),
    (NMHIS310, "cpu_util@server", 49.257450331125824, "49.26"),
    (NMHIS310, "virtual_cpu_util", 50.05380794701987, "50.05"),
    (NMHIS310, "virtual_cpu_util@client", 19.25, "19.25"),
    (NMHIS310, "virtual_cpu_util@server", 30.80380794701987, "30.80"),
    (NMHIS310, "cp_cpu_util", 31.51324503311258, "31.51"),
    (NMHIS310, "cp_cpu_util@client", 13.05960264900662, "13.06"),
    (NMHIS310, "cp_cpu_util@server", 18.453642384105958, "18.45"),
    (NMHIS310, "cpu_ms_per_trans", 200.6782077393075, "200.68"),
    (NMHIS310, "cpu_ms_per_trans@client", 79.4908350305499, "79.49"),
    (NMHIS310, "cpu_ms_per_trans@server", 121.18737270875764, "121.19"),
    (NMHIS310, "virtual_cpu_ms_per_trans", 123.14663951120163, "123.15"),
    (NMHIS310, "virtual_cpu_ms_per_trans@client", 47.360488798370675, "47.36"),
    (NMHIS310, "virtual_cpu_ms_per_trans@server", 75.78615071283096, "75.79"),
    (NMHIS310, "cp_cpu_ms_per_trans", 77.5315682281059, "77.53"),
    (NMHIS310, "cp_cpu_ms_per_trans@client", 32.13034623217923, "32.13"),
    (NMHIS310, "cp_cpu_ms_per_trans@server", 45.40122199592668, "45.40"),
    (NMHIS310, "elapsed_s", 604.0, "604.00"),
    (NMHIS310, "trans_per_s", 8.153979008901288, "8.15"),
    (NMHIS310, "mb_per_s", 163.07973570283292, "163.08"),
    (NMHIS310, "response_ms", 1226.3951120162933, "1226.40"),
    (NMHIS310, "cpu_ms_per_mb", 10.033910386965376, "10.03"),
]


def by_measure(derived: Iterable[Derived]) -> dict[str, Derived]:
    return {str(one.measure): one for one in derived}


@pytest.mark.parametrize(("figures", "measure", "value", "printed"), PUBLISHED)
def test_published_values(figures: RunFigures, measure: str, value: float, printed: str) -> None:
    derived = by_measure(derive(figures))[measure]
    assert derived.value == pytest.approx(value, rel=1e-12)
    assert round_half_up(derived.value, 2) == printed


def test_every_measure_is_derived_once() -> None:
    derived = derive(NMGBR950)
    assert len(by_measure(derived)) == len(derived)


def test_the_lpar_is_no_role_of_its_own() -> None:
    assert not [one for one in derive(NMGBR950) if one.measure.role == "lpar"]


def test_declarations_are_sound() -> None:
    assert len(BY_ID) == len(FORMULAS)
    for formula in FORMULAS:
        assert formula.metric in BY_NAME
        assert formula.id.startswith(f"{formula.metric}.")
        assert formula.terms
        assert formula.text


def test_text_of_a_formula() -> None:
    assert BY_ID["cpu_util.snapshot"].text == "CPU seconds / (processors × elapsed seconds) × 100"
    assert (
        BY_ID["cp_cpu_util.snapshot"].text
        == "(CPU seconds − virtual CPU seconds) / (processors × elapsed seconds) × 100"
    )


def test_explanations() -> None:
    derived = by_measure(derive(NMGBR950))
    assert explain_derivation(derived["cpu_util"]) == "(611.78 + 611.27) / (2 × 632) × 100 = 96.760"
    assert explain_derivation(derived["cp_cpu_util@client"]) == "(611.78 − 292.74) / (2 × 632) × 100 = 25.241"
    assert explain_derivation(derived["elapsed_s"]) == "2002-02-26 14:15:33 − 2002-02-26 14:05:01 = 632"
    assert explain_derivation(derived["cpu_ms_per_trans"]) == "(611.78 + 611.27) × 1000 / 5558569 = 0.2200"
    assert explain_derivation(derived["mb_per_s"]) == "9077.28950291 × (200 + 1000) / 2^20 = 10.388"
    assert (
        explain_derivation(by_measure(derive(NMHIS310))["cpu_ms_per_mb"])
        == "(390.3 + 595.03) × 1000 / (4910 × 20) = 10.034"
    )


@pytest.mark.parametrize("figures", [NMGBR950, NMHIS310])
def test_explanations_calculate_to_their_own_result(figures: RunFigures) -> None:
    for derived in derive(figures):
        if derived.inputs[0].kind == InputKind.SNAPSHOT:
            continue
        sides = explain_derivation(derived).replace("×", "*").replace("−", "-").replace("^", "**").split(" = ")
        assert eval(sides[0]) == pytest.approx(derived.value, rel=1e-9)
        assert float(sides[1]) == pytest.approx(derived.value, rel=1e-3)


def test_inputs_say_where_they_come_from() -> None:
    derived = by_measure(derive(NMGBR950))["cpu_util"]
    cpu = [(one.role, one.name, one.before, one.after) for one in derived.inputs if one.kind == InputKind.COUNTER]
    assert cpu == [("client", "totcpu", 2020.12, 2631.90), ("server", "totcpu", 1000.0, 1611.27)]
    rest = [(one.name, one.role, one.value) for one in derived.inputs if one.kind == InputKind.METRIC]
    assert rest == [("processors", "lpar", 2), ("elapsed_s", "total", 632)]


def test_processors_reported_before_the_systems_before_the_given() -> None:
    def processors(figures: RunFigures) -> tuple[str, float]:
        inputs = by_measure(derive(figures))["cpu_util"].inputs
        return next((one.name, one.value) for one in inputs if one.term == "processors")

    everything = replace(NMGBR950, system_processors=3, given_processors=4)
    unreported = {key: value for key, value in NMGBR950.metrics.items() if key[0] != "processors"}
    assert processors(everything) == ("processors", 2)
    assert processors(replace(everything, metrics=unreported)) == ("system_processors", 3)
    assert processors(replace(NMGBR950, metrics=unreported, given_processors=4)) == ("given_processors", 4)


def test_without_processors_no_utilisation_but_cpu_per_transaction() -> None:
    derived = by_measure(derive(replace(NMHIS310, system_processors=None)))
    assert not [name for name in derived if "util" in name]
    assert derived["cpu_ms_per_trans"].value == pytest.approx(200.6782077393075, rel=1e-12)


def test_zero_transactions_leave_response_and_cost_absent() -> None:
    metrics = {**NMGBR950.metrics, ("transactions", "total"): 0.0, ("trans_per_s", "total"): 0.0}
    derived = by_measure(derive(replace(NMGBR950, metrics=metrics)))
    assert derived["trans_per_s"].value == 0
    assert "response_ms" not in derived
    assert not [name for name in derived if "_per_trans" in name]
    assert derived["cpu_util"].value == pytest.approx(96.76028481012658, rel=1e-12)


@pytest.mark.parametrize("think_ms", [5.0, None])
def test_with_think_time_the_reported_response_time_stands(think_ms: float | None) -> None:
    assert "response_ms" not in by_measure(derive(replace(NMGBR950, think_ms=think_ms)))


def test_a_measured_response_time_stands_and_what_follows_from_the_rate_is_beside_it() -> None:
    metrics = {**NMGBR950.metrics, ("latency_p99_ms", "total"): 9.1}
    derived = by_measure(derive(replace(NMGBR950, metrics=metrics)))
    assert "response_ms" not in derived
    assert derived["users_response_ms"].value == pytest.approx(5.508252213834172, rel=1e-12)
    with_pauses = by_measure(derive(replace(NMGBR950, metrics=metrics, think_ms=5.0)))
    assert not {"response_ms", "users_response_ms"} & with_pauses.keys()


def test_a_printed_response_time_of_a_tool_without_latencies_gets_all_its_digits() -> None:
    derived = by_measure(derive(NMGBR950))
    assert (derived["response_ms"].formula, "users_response_ms" in derived) == ("response_ms.users", False)


def test_elapsed_falls_back_to_another_guest_and_names_it() -> None:
    server_only = {role: taken for role, taken in NMGBR950.taken.items() if role != "client"}
    elapsed = by_measure(derive(replace(NMGBR950, taken=server_only)))["elapsed_s"]
    assert (elapsed.value, elapsed.inputs[0].role) == (633, "server")


def test_the_lpars_snapshots_give_no_elapsed_time_and_no_utilisation() -> None:
    derived = by_measure(derive(replace(NMGBR950, taken={"lpar": NMGBR950.taken["lpar"]})))
    assert not [name for name in derived if "elapsed" in name or "util" in name]


def test_a_reports_window_is_not_the_time_between_snapshots() -> None:
    metrics = {**NMGBR950.metrics, ("elapsed_s", "total"): 150.0}
    assert "cpu_util" not in by_measure(derive(replace(NMGBR950, metrics=metrics, taken={})))


def without(counters: Iterable[tuple[str, str]]) -> Counters:
    """NMGBR950's counters but for these (role, name)."""
    leave = set(counters)
    return {key: value for key, value in NMGBR950.counters.items() if (key[0], key[2]) not in leave}


def test_no_total_without_both_parts() -> None:
    derived = by_measure(derive(replace(NMGBR950, counters=without([("server", "totcpu"), ("server", "virtcpu")]))))
    assert "cpu_util@client" in derived
    assert "cpu_util" not in derived
    assert "cpu_ms_per_trans" not in derived


def test_another_guest_has_its_own_figures_outside_the_total() -> None:
    counters = {**NMGBR950.counters, ("router", "", "totcpu"): (0.0, 63.2), ("router", "", "virtcpu"): (0.0, 31.6)}
    derived = by_measure(derive(replace(NMGBR950, counters=counters)))
    assert derived["cpu_util@router"].value == pytest.approx(5)
    assert derived["cp_cpu_util@router"].value == pytest.approx(2.5)
    assert derived["cpu_util"].value == pytest.approx(96.76028481012658, rel=1e-12)


def test_whole_seconds_of_indicate_user_serve_where_query_time_is_missing_and_say_so() -> None:
    coarse = {
        ("server", "CPU 00", "ttime"): (1000.0, 1311.0),
        ("server", "CPU 01", "ttime"): (500.0, 800.0),
        ("server", "CPU 00", "vtime"): (400.0, 500.0),
        ("server", "CPU 01", "vtime"): (300.0, 483.0),
        ("client", "CPU 00", "ttime"): (1.0, 2.0),
        ("client", "CPU 00", "vtime"): (1.0, 2.0),
        ("server", "LINUXC/CPU 00", "ttime"): (1.0, 99.0),
    }
    counters = without([("server", "totcpu"), ("server", "virtcpu")]) | coarse
    derived = by_measure(derive(replace(NMGBR950, counters=counters)))
    assert derived["cpu_util@client"].formula == "cpu_util.snapshot"
    assert derived["cpu_util@server"].formula == "cpu_util.coarse"
    assert derived["cpu_util@server"].value == pytest.approx(611 / 1264 * 100)
    assert derived["cp_cpu_util@server"].value == pytest.approx((611 - 283) / 1264 * 100)
    assert derived["cpu_util"].formula == "cpu_util.coarse"
    assert explain_derivation(derived["cpu_util"]) == "(611.78 + 311 + 300) / (2 × 632) × 100 = 96.739"


def test_streaming_alone_costs_per_mb() -> None:
    assert not [name for name in by_measure(derive(NMGBR950)) if "_per_mb" in name]
    per_mb = {name for name in by_measure(derive(NMHIS310)) if "_per_mb" in name}
    assert {"cpu_ms_per_mb", "cpu_ms_per_mb@client", "virtual_cpu_ms_per_mb", "cp_cpu_ms_per_mb@server"} <= per_mb


# HiperSockets study, table 6 (qnxr1072): the system's and the TCP/IP stacks' utilisation come from VMPRF reports.
QNXR1072 = RunFigures(
    metrics={
        ("transactions", "total"): 327003,
        ("driver_s", "total"): 200.48,
        ("elapsed_s", "total"): 150,
        ("cpu_util", "total"): 89.3,
        ("virtual_cpu_util", "total"): 69.9,
        ("processor_util", "tcpip1"): 88 / 150 * 100,
        ("virtual_processor_util", "tcpip1"): 68 / 150 * 100,
    },
    pattern="RR",
    given_processors=2,
)


@pytest.mark.parametrize(
    ("measure", "formula", "value"),
    [
        ("cpu_ms_per_trans", "cpu_ms_per_trans.report", 1.0949663458745025),
        ("virtual_cpu_ms_per_trans", "virtual_cpu_ms_per_trans.report", 0.8570901184392803),
        ("cp_cpu_ms_per_trans", "cp_cpu_ms_per_trans.report", 0.2378762274352222),
        ("cpu_ms_per_trans@tcpip1", "cpu_ms_per_trans.processor", 0.35967539543470034),
        ("virtual_cpu_ms_per_trans@tcpip1", "virtual_cpu_ms_per_trans.processor", 0.2779309873813593),
        ("cp_cpu_ms_per_trans@tcpip1", "cp_cpu_ms_per_trans.processor", 0.08174440805334102),
    ],
)
def test_cost_from_reports(measure: str, formula: str, value: float) -> None:
    derived = by_measure(derive(QNXR1072))[measure]
    assert derived.value == pytest.approx(value, rel=1e-12)
    assert derived.formula == formula


def test_the_report_method_needs_processors() -> None:
    derived = by_measure(derive(replace(QNXR1072, given_processors=None)))
    assert "cpu_ms_per_trans" not in derived
    assert "cpu_ms_per_trans@tcpip1" in derived


def test_a_hosts_report_is_a_percentage_of_its_own_processors() -> None:
    metrics = {
        **QNXR1072.metrics,
        ("cpu_util", "client"): 50.0,
        ("processors", "client"): 8.0,
        ("cpu_util", "server"): 50.0,
    }
    derived = by_measure(derive(replace(QNXR1072, metrics=metrics)))
    assert derived["cpu_ms_per_trans@client"].value == pytest.approx(50 * 8 * 10 / (327003 / 200.48))
    assert "cpu_ms_per_trans@server" not in derived


def test_reports_of_a_streaming_run_give_cost_per_mb() -> None:
    # HiperSockets study, table 8: 98.5% of two processors at 74.45 MB per second.
    metrics = {("cpu_util", "total"): 98.5, ("mb_per_s", "total"): 74.45}
    derived = by_measure(derive(RunFigures(metrics=metrics, pattern="STRG", given_processors=2)))
    assert round_half_up(derived["cpu_ms_per_mb"].value, 2) == "26.46"


def test_snapshots_are_preferred_to_reports() -> None:
    metrics = {**NMGBR950.metrics, ("cpu_util", "total"): 50.0}
    derived = by_measure(derive(replace(NMGBR950, metrics=metrics)))
    assert derived["cpu_ms_per_trans"].formula == "cpu_ms_per_trans.snapshot"


def test_nothing_known_nothing_derived() -> None:
    assert derive(RunFigures()) == []


def percent_and_rate(percent: str, rate: str, cost: str) -> dict[str, Derived]:
    """What follows from a process's per cent, a rate in MB/s and a printed cost in ms/MB."""
    printed = {("processor_util", "client"): percent, ("mb_per_s", "total"): rate, ("cpu_ms_per_mb", "client"): cost}
    metrics = {measure: sum(map(float, text.split(" + "))) for measure, text in printed.items()}
    return by_measure(derive(RunFigures(metrics=metrics, printed=printed, pattern="STRP")))


@pytest.mark.parametrize(
    ("percent", "rate", "cost", "replaced"),
    [
        ("52", "104", "5.0", True),  # 51.5 to 52.5 over 103.5 to 104.5 are 4.93 to 5.07.
        ("52", "104", "4.9", True),
        ("52", "104", "4.7", False),
        ("52.0", "104.0", "4.90", False),
        ("52", "51 + 53", "4.9", True),
        ("52", "0.4", "1250", True),  # A rate of 0.35 to 0.45.
        ("0", "104", "2.0", False),
    ],
)
def test_a_printed_value_stays_unless_the_derived_one_agrees_within_rounding(
    percent: str, rate: str, cost: str, replaced: bool
) -> None:
    assert ("cpu_ms_per_mb@client" in percent_and_rate(percent, rate, cost)) is replaced


def test_what_follows_from_a_derived_value_has_its_rounding() -> None:
    printed = {
        ("transactions", "total"): "1000",
        ("driver_s", "total"): "0.3",
        ("trans_per_s", "total"): "3500.00",
        ("mb_per_s", "total"): "3.90",
    }
    metrics = {measure: float(text) for measure, text in printed.items()}
    run = RunFigures(metrics=metrics, printed=printed, pattern="RR", request_bytes=200, response_bytes=1000)
    # 0.25 to 0.35 seconds: a rate of 2857 to 4000, which is 3.3 to 4.6 MB/s.
    assert by_measure(derive(run)).keys() == {"trans_per_s", "mb_per_s"}
    exact = replace(run, printed=printed | {("driver_s", "total"): "0.300"})
    assert "trans_per_s" not in by_measure(derive(exact))
    # The printed rate gives 4.01 MB/s.
    assert "mb_per_s" not in by_measure(derive(exact))


def test_nothing_derived_is_negative() -> None:
    facts = {"packets_sent": (8.0,), "packets_received": (10.0,)}
    assert derive(RunFigures(facts=facts)) == []
    assert by_measure(derive(RunFigures(facts=facts | {"packets_sent": (20.0,)})))["loss_percent"].value == 50
