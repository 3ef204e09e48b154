"""The audit of one run: what each rule finds, what it leaves alone, and what it says."""

from dataclasses import replace

import pytest

from perfdb.analysis.audit.audit_run import audit_run, audit_runs
from perfdb.analysis.audit.printed_values import Disagreement, Kind, Method, Printed, PrintedRun
from perfdb.analysis.audit.rules import RULES
from perfdb.analysis.checks.finding import Quantity, Severity
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import parse_workload

RR = parse_workload("RR")
STRG = parse_workload("STRG")


def figures(place: str = "", **texts: str) -> tuple[Printed, ...]:
    """Printed figures; ``cpu_util__client="48.40 %"`` is ``cpu_util@client``, the unit may be left out."""
    answers = []
    for key, text in texts.items():
        number, _, unit = text.partition(" ")
        answers.append(Printed(Measure.parse(key.replace("__", "@")), Quantity(number, unit, 7), place))
    return tuple(answers)


def audit(run: PrintedRun, **texts: str) -> list[Disagreement]:
    return audit_run(replace(run, figures=figures(**texts)))


def only(found: list[Disagreement]) -> Disagreement:
    assert len(found) == 1, found
    return found[0]


def kinds(found: list[Disagreement]) -> list[tuple[Kind, str]]:
    return [(one.kind, str(one.measure)) for one in found]


PLAIN = PrintedRun((), users=10, think_ms=0, workload=RR, processors=2, method=Method.REPORT)


class TestLittle:
    def test_a_published_run_agrees(self) -> None:
        assert audit(PLAIN, trans_per_s="1631.10", response_ms="6.13 msec") == []

    def test_seconds_under_a_heading_of_milliseconds(self) -> None:
        found = only(audit(replace(PLAIN, users=50), trans_per_s="2.90", response_ms="17.25 msec"))
        assert (found.kind, found.severity, found.reading) == (Kind.LITTLE, Severity.WARNING, "unit is probably sec")
        assert (found.printed, found.unit, found.line) == ("17.25", "ms", 7)
        assert found.recomputed == pytest.approx(50 / 2.90 * 1000)
        assert found.interval == pytest.approx((50 / 2.905 * 970, 50 / 2.895 * 1030))
        assert found.formula == "50 / 2.90 × 1000 = 17241.379 ms"

    def test_a_printed_zero_stands_for_less_than_half_a_step(self) -> None:
        found = only(audit(replace(PLAIN, users=50), trans_per_s="11926.76", response_ms="0.00 msec"))
        assert found.reading == "unit is probably sec"
        assert audit(replace(PLAIN, users=50), trans_per_s="11926.76", response_ms="0.00 sec") == []

    def test_no_figure_stands_for_less_than_nothing(self) -> None:
        zero = printed("response_ms", "0.00", "sec").interval
        assert zero is not None
        assert (zero.low, zero.value, zero.high) == (0.0, 0.0, 5.0)

    def test_three_percent_are_allowed(self) -> None:
        assert audit(PLAIN, trans_per_s="1000.00", response_ms="10.300") == []
        assert audit(PLAIN, trans_per_s="1000.00", response_ms="9.700") == []
        assert only(audit(PLAIN, trans_per_s="1000.00", response_ms="10.302")).severity is Severity.NOTE
        assert only(audit(PLAIN, trans_per_s="1000.00", response_ms="9.698")).severity is Severity.NOTE
        assert only(audit(PLAIN, trans_per_s="1000.00", response_ms="10.502")).severity is Severity.WARNING

    @pytest.mark.parametrize("think_ms", [None, 5.0])
    def test_users_who_may_pause_are_not_counted(self, think_ms: float | None) -> None:
        assert audit(replace(PLAIN, think_ms=think_ms), trans_per_s="1000", response_ms="1") == []

    def test_no_users_no_check(self) -> None:
        assert audit(replace(PLAIN, users=None), trans_per_s="1000", response_ms="1") == []


class TestThroughput:
    def test_a_published_run_agrees(self) -> None:
        assert audit(PLAIN, trans_per_s="1631.10", mb_per_s="1.87") == []

    def test_another_figure_does_not(self) -> None:
        found = only(audit(PLAIN, trans_per_s="1631.10", mb_per_s="1.88"))
        assert (found.kind, found.severity, found.reading) == (Kind.BYTES, Severity.NOTE, "")
        assert found.recomputed == pytest.approx(1.8666, abs=5e-5)
        assert "1631.10 × (200 + 1000) / 2^20 = 1.867 MB/s" in found.message

    @pytest.mark.parametrize(
        ("text", "reading"),
        [
            ("1.957", "its MB are probably of 10^6 bytes"),
            ("1.556", "it probably counts the responses alone"),
            ("0.311", "it probably counts the requests alone"),
        ],
    )
    def test_other_megabytes_and_directions(self, text: str, reading: str) -> None:
        assert only(audit(PLAIN, trans_per_s="1631.10", mb_per_s=text)).reading == reading

    def test_the_printed_unit_counts(self) -> None:
        run = replace(PLAIN, figures=(*figures(trans_per_s="1631.10"), printed("mb_per_s", "1.957", "MB/s 10^6")))
        assert audit_run(run) == []

    def test_gigabits_follow_from_megabytes(self) -> None:
        assert audit(PLAIN, mb_per_s="118.0", gbit_per_s="0.990") == []
        assert kinds(audit(PLAIN, mb_per_s="118.0", gbit_per_s="0.944")) == [(Kind.BYTES, "gbit_per_s")]

    def test_transactions_and_seconds(self) -> None:
        assert audit(PLAIN, transactions="97000", driver_s="200.5", trans_per_s="483.8") == []
        found = only(audit(PLAIN, transactions="97000", driver_s="200.5", trans_per_s="483.2"))
        assert (found.kind, found.severity) == (Kind.RATE, Severity.NOTE)

    def test_unknown_sizes(self) -> None:
        assert audit(replace(PLAIN, workload=parse_workload("HTTP")), trans_per_s="1", mb_per_s="9") == []
        assert audit(replace(PLAIN, workload=None), trans_per_s="1", mb_per_s="9") == []


def printed(measure: str, text: str, unit: str = "", place: str = "", half_step: float | None = None) -> Printed:
    return Printed(Measure.parse(measure), Quantity(text, unit), place, half_step)


class TestCost:
    def test_a_published_run_agrees(self) -> None:
        assert audit(PLAIN, cpu_util="89.30", trans_per_s="1631.10", cpu_ms_per_trans="1.09") == []

    def test_a_role_on_one_processor(self) -> None:
        found = only(
            audit(PLAIN, processor_util__one="47.30", trans_per_s="1654.49", cpu_ms_per_trans__one="0.14 msec/trans")
        )
        assert (found.kind, found.severity, str(found.measure)) == (Kind.CPU, Severity.WARNING, "cpu_ms_per_trans@one")
        assert found.recomputed == pytest.approx(0.2859, abs=5e-5)
        assert found.reading == "2 times the figure would fit, as if it had been divided by the processors"

    def test_multiplied_by_the_processors(self) -> None:
        found = only(audit(PLAIN, processor_util__one="47.30", trans_per_s="1654.49", cpu_ms_per_trans__one="0.57"))
        assert found.reading == "1/2 of the figure would fit, as if it had been multiplied by the processors"

    def test_another_unit(self) -> None:
        found = only(audit(PLAIN, cpu_util="89.30", trans_per_s="1631.10", cpu_ms_per_trans="1095.0"))
        assert found.reading == "a thousandth of the figure would fit: its unit may be another"

    def test_swapped_roles(self) -> None:
        found = audit(
            PLAIN,
            processor_util__one="60.00",
            processor_util__two="30.00",
            trans_per_s="1000.00",
            cpu_ms_per_trans__one="0.300",
            cpu_ms_per_trans__two="0.600",
        )
        assert [one.reading for one in found] == [
            "it is probably swapped with that of two",
            "it is probably swapped with that of one",
        ]

    def test_cp_time_is_what_is_left(self) -> None:
        texts = {"processor_util__one": "58.70", "virtual_processor_util__one": "45.30", "trans_per_s": "1631.10"}
        assert audit(PLAIN, **texts, cp_cpu_ms_per_trans__one="0.08") == []
        found = only(audit(PLAIN, **texts, cp_cpu_ms_per_trans__one="0.12"))
        assert found.formula == "(58.70 − 45.30) × 10 / 1631.10 = 0.08215 ms/trans"
        assert audit(PLAIN, **texts, cp_processor_util__one="13.40", cp_cpu_ms_per_trans__one="0.08") == []

    def test_megabytes(self) -> None:
        run = replace(PLAIN, workload=STRG)
        assert audit(run, cpu_util="98.50", mb_per_s="74.45", cpu_ms_per_mb="26.46") == []
        assert kinds(audit(run, cpu_util="98.50", mb_per_s="74.45", cpu_ms_per_mb="26.48")) == [
            (Kind.CPU, "cpu_ms_per_mb")
        ]

    def test_a_hosts_own_processors_come_first(self) -> None:
        texts = {"cpu_util__client": "50.00", "trans_per_s": "1000.00", "processors__client": "4"}
        assert audit(PLAIN, **texts, cpu_ms_per_trans__client="2.00") == []
        assert kinds(audit(PLAIN, **texts, cpu_ms_per_trans__client="1.00")) == [(Kind.CPU, "cpu_ms_per_trans@client")]

    def test_unknown_method_or_processors(self) -> None:
        texts = {"cpu_util": "89.30", "trans_per_s": "1631.10", "cpu_ms_per_trans": "5.00"}
        assert audit(replace(PLAIN, method=None), **texts) == []
        assert audit(replace(PLAIN, processors=None), **texts) == []

    def test_a_rate_of_zero(self) -> None:
        assert audit(PLAIN, cpu_util="89.30", trans_per_s="0.00", cpu_ms_per_trans="5.00") == []

    def test_a_figure_that_should_be_zero(self) -> None:
        texts = {"processor_util__one": "80.00", "virtual_processor_util__one": "80.00", "trans_per_s": "1654.49"}
        assert audit(PLAIN, **texts, cp_cpu_ms_per_trans__one="0.00") == []
        assert only(audit(PLAIN, **texts, cp_cpu_ms_per_trans__one="0.16")).severity is Severity.WARNING


class TestSnapshots:
    RUN = replace(PLAIN, method=Method.SNAPSHOT, asked_s=600.0, workload=STRG)
    TEXTS = {"cpu_util": "93.57", "trans_per_s": "2.90", "elapsed_s": "632.00"}

    def test_the_drivers_time_lies_between_asked_and_elapsed(self) -> None:
        assert audit(self.RUN, **self.TEXTS, cpu_ms_per_trans="660.74") == []
        assert kinds(audit(self.RUN, **self.TEXTS, cpu_ms_per_trans="690.00")) == [(Kind.CPU, "cpu_ms_per_trans")]
        assert kinds(audit(self.RUN, **self.TEXTS, cpu_ms_per_trans="640.00")) == [(Kind.CPU, "cpu_ms_per_trans")]

    def test_the_printed_seconds_decide(self) -> None:
        found = only(audit(self.RUN, **self.TEXTS, driver_s="601.00", cpu_ms_per_trans="660.74"))
        assert found.formula == "93.57 × 2 × 10 / 2.90 × 632.00 / 601.00 = 678.596 ms/trans"

    def test_without_either_there_is_no_check(self) -> None:
        assert audit(replace(self.RUN, asked_s=None), **self.TEXTS, cpu_ms_per_trans="900.00") == []

    def test_asked_for_more_than_there_was(self) -> None:
        assert audit(replace(self.RUN, asked_s=900.0), **self.TEXTS, cpu_ms_per_trans="900.00") == []

    def test_roles_add_up(self) -> None:
        texts = {"cpu_util": "96.76", "cpu_util__client": "48.40", "cpu_util__server": "48.36"}
        assert audit(self.RUN, **texts) == []
        assert audit(self.RUN, **{**texts, "cpu_util": "96.77"}) == []
        found = only(audit(self.RUN, **{**texts, "cpu_util": "96.78"}))
        assert (found.kind, found.severity) == (Kind.ROLES, Severity.NOTE)

    def test_a_reports_roles_do_not(self) -> None:
        texts = {"cpu_util": "96.76", "cpu_util__client": "48.40", "cpu_util__server": "40.00"}
        assert audit(PLAIN, **texts) == []

    def test_a_stream_with_much_in_the_other_direction_is_left_alone(self) -> None:
        run = replace(PLAIN, workload=parse_workload("STRG 2000/20K"))
        assert audit(run, cpu_ms_per_mb="33.04", cpu_ms_per_trans="0.90") == []
        assert audit(run, cpu_util="50.00", mb_per_s="100.00", cpu_ms_per_mb="11.00") == []

    def test_messages(self) -> None:
        assert audit(self.RUN, cpu_ms_per_mb="33.04", cpu_ms_per_trans="660.74") == []
        found = only(audit(self.RUN, cpu_ms_per_mb="33.04", cpu_ms_per_trans="661.00"))
        assert (found.kind, found.formula) == (Kind.MESSAGE, "33.04 × 20 = 660.800 ms/trans")


class TestSumsAndBounds:
    @pytest.mark.parametrize(("total", "count"), [("1.10", 0), ("1.09", 0), ("1.11", 0), ("1.12", 1), ("1.08", 1)])
    def test_virtual_and_cp_within_all_half_steps(self, total: str, count: int) -> None:
        texts = {"virtual_cpu_ms_per_trans__one": "0.86", "cp_cpu_ms_per_trans__one": "0.24"}
        found = audit(PLAIN, **texts, cpu_ms_per_trans__one=total)
        assert kinds(found) == [(Kind.SUM, "cpu_ms_per_trans@one")] * count

    def test_a_part_cannot_pass_its_whole(self) -> None:
        assert audit(PLAIN, processor_util__one="80.0", virtual_processor_util__one="80.1") == []
        found = only(audit(PLAIN, processor_util__one="80.0", virtual_processor_util__one="80.2"))
        assert (found.kind, str(found.measure)) == (Kind.BOUND, "virtual_processor_util@one")
        assert "cannot pass 80.0 %" in found.message

    def test_running_is_part_of_running_and_waiting(self) -> None:
        assert audit(PLAIN, processor_util__one="58.70", run_wait__one="85.40") == []
        assert kinds(audit(PLAIN, processor_util__one="85.40", run_wait__one="58.70")) == [
            (Kind.BOUND, "processor_util@one")
        ]

    def test_a_system_is_not_more_than_busy(self) -> None:
        assert audit(PLAIN, cpu_util="100.0", processor_util__one="180.0") == []
        assert kinds(audit(PLAIN, cpu_util="100.2")) == [(Kind.BOUND, "cpu_util")]

    def test_the_link(self) -> None:
        run = replace(PLAIN, line_bits_per_s=1e8, mtu=1500, workload=STRG)
        assert audit(run, mb_per_s="11.5") == []
        found = only(audit(run, mb_per_s="11.9"))
        assert (found.kind, found.reading) == (Kind.LINK, "its MB are probably of 10^6 bytes")
        assert only(audit(run, mb_per_s="21.9")).reading == ""
        assert audit(replace(run, mtu=None), mb_per_s="21.9") == []

    def test_both_directions_share_a_link_of_two(self) -> None:
        both = parse_workload("RR 1000/1000")
        run = replace(PLAIN, line_bits_per_s=1e8, mtu=1500, workload=both)
        assert audit(run, mb_per_s="21.9") == []
        assert kinds(audit(run, mb_per_s="23.9")) == [(Kind.LINK, "mb_per_s")]


class TestPlaces:
    def test_the_same_figure_printed_twice(self) -> None:
        run = replace(
            PLAIN,
            figures=(*figures("Table 4", trans_per_s="2159.24"), *figures("Table 6", trans_per_s="2116.14")),
        )
        found = only(audit_run(run))
        assert (found.kind, found.severity, found.place) == (Kind.CONTRADICTION, Severity.NOTE, "Table 6")
        assert (found.printed, found.recomputed) == ("2116.14", 2159.24)

    def test_a_coarser_printing_is_none(self) -> None:
        run = replace(PLAIN, figures=(*figures("a", trans_per_s="2159.24"), *figures("b", trans_per_s="2159")))
        assert audit_run(run) == []

    def test_other_units_are_converted(self) -> None:
        run = replace(PLAIN, figures=(*figures("a", response_ms="6.13 msec"), *figures("b", response_ms="0.0061 sec")))
        assert audit_run(run) == []

    def test_three_printings_name_each_wrong_one_once(self) -> None:
        places = [figures(place, trans_per_s=text) for place, text in (("a", "10.0"), ("b", "11.0"), ("c", "11.0"))]
        found = audit_run(replace(PLAIN, figures=(*places[0], *places[1], *places[2])))
        assert [one.place for one in found] == ["b"]

    def test_what_a_place_lacks_comes_from_another(self) -> None:
        here = figures("Table 6", cpu_util="99.20")
        there = figures("Table 4", trans_per_s="2159.24", cpu_ms_per_trans="0.95")
        found = only(audit_run(replace(PLAIN, figures=(*here, *there))))
        assert (found.kind, found.place) == (Kind.CPU, "Table 4")

    def test_a_place_is_judged_by_its_own_figures(self) -> None:
        here = figures("Table 6", cpu_util="99.20", trans_per_s="2116.14", cpu_ms_per_trans="0.94")
        there = figures("Table 4", trans_per_s="2159.24", cpu_ms_per_trans="0.92")
        found = audit_run(replace(PLAIN, figures=(*there, *here)))
        assert kinds(found) == [(Kind.CONTRADICTION, "trans_per_s"), (Kind.CONTRADICTION, "cpu_ms_per_trans")]

    def test_contradicting_operands_from_elsewhere_decide_nothing(self) -> None:
        result = figures("c", cpu_util="99.20", cpu_ms_per_trans="0.20")
        run = replace(
            PLAIN, figures=(*figures("a", trans_per_s="2159.24"), *figures("b", trans_per_s="2116.14"), *result)
        )
        assert kinds(audit_run(run)) == [(Kind.CONTRADICTION, "trans_per_s")]

    def test_a_wrong_operand_is_traced_to_its_place(self) -> None:
        here = figures("Table 7", cpu_util="67.12", trans_per_s="88.74", cpu_ms_per_trans="15.134")
        found = audit_run(replace(PLAIN, figures=(*figures("Table 1", trans_per_s="88.70"), *here)))
        assert [one.reading for one in found] == ["it matches the numbers of Table 1", ""]

    def test_the_same_wrong_figure_in_two_places_is_told_once(self) -> None:
        here = figures("Table 8", cpu_util="92.97", mb_per_s="65.36", cpu_ms_per_mb="28.43")
        there = figures("Table 2", mb_per_s="65.36", cpu_ms_per_mb="28.43")
        found = only(audit_run(replace(PLAIN, workload=STRG, figures=(*there, *here))))
        assert found.place == "Table 8"


def test_means_of_trials_are_given_a_hundredth_where_they_are_multiplied() -> None:
    texts = {"cpu_util": "50.000", "trans_per_s": "1000.000", "cpu_ms_per_trans": "1.005"}
    assert kinds(audit(PLAIN, **texts)) == [(Kind.CPU, "cpu_ms_per_trans")]
    assert audit(replace(PLAIN, trials=3), **texts) == []
    assert audit(replace(PLAIN, trials=3), **{**texts, "cpu_ms_per_trans": "1.02"}) != []
    sums = {"cpu_ms_per_trans": "1.005", "virtual_cpu_ms_per_trans": "0.600", "cp_cpu_ms_per_trans": "0.400"}
    assert audit(replace(PLAIN, trials=3), **sums) != []


@pytest.mark.parametrize("text", ["junk", "", "n/a", "-5", "nan", "inf"])
def test_what_is_no_figure_is_left_alone(text: str) -> None:
    assert audit_run(replace(PLAIN, figures=(*figures(trans_per_s="5"), printed("response_ms", text)))) == []
    assert audit_run(replace(PLAIN, figures=(printed("trans_per_s", text), *figures(response_ms="5")))) == []


def test_a_foreign_unit_is_left_alone() -> None:
    assert audit(PLAIN, trans_per_s="1000", response_ms="5 parsec") == []
    assert audit(PLAIN, trans_per_s="1000", response_ms="5 MB") == []


def test_an_empty_run() -> None:
    assert audit_run(PrintedRun(())) == []


def test_a_given_half_step_counts() -> None:
    run = replace(PLAIN, figures=(*figures(trans_per_s="1000.00"), printed("response_ms", "11.00", half_step=1.0)))
    assert audit_run(run) == []


def test_padded_figures_are_recognised_across_runs() -> None:
    # Utilisations known to a tenth and printed to a hundredth: 58.67 became 58.70.
    rows = [("88.70", "83.22"), ("85.80", "88.70"), ("86.70", "91.54"), ("84.70", "84.05"), ("92.70", "81.81")]
    costs = ["10.65", "9.68", "9.47", "10.07", "11.33"]
    runs = [
        replace(PLAIN, figures=figures(processor_util__one=busy, trans_per_s=rate, cpu_ms_per_trans__one=cost))
        for (busy, rate), cost in zip(rows, costs, strict=True)
    ]
    assert any(audit_run(run) for run in runs)
    assert audit_runs(runs) == [[], [], [], [], []]


def test_every_kind_of_rule_is_declared() -> None:
    assert {rule.kind for rule in RULES} == set(Kind) - {Kind.PERCENT, Kind.CONTRADICTION, Kind.MAXIMUM, Kind.OUTLIER}
