"""The audit of a document: maxima, sums of all parts, and figures apart from their table."""

from dataclasses import replace

import pytest

from perfdb.analysis.audit.audit_run import audit_runs
from perfdb.analysis.audit.printed_values import Disagreement, Kind, Method, PrintedRun
from perfdb.analysis.tests.test_audit_run import figures

TITLES = {"Table 1": "Maximum Throughput: RR", "Table 2": "Throughput and CPU Time"}
RR = PrintedRun((), think_ms=0, peers="OSA, RR")


def found(*runs: PrintedRun, titles: dict[str, str] | None = None) -> list[tuple[int, Disagreement]]:
    answers = audit_runs(runs, TITLES if titles is None else titles)
    return [(at, each) for at, of_run in enumerate(answers) for each in of_run]


def run(place: str, base: PrintedRun = RR, users: int = 10, **texts: str) -> PrintedRun:
    return replace(base, users=users, figures=(*base.figures, *figures(place, **texts)))


class TestMaximum:
    LARGER = run("Table 2", users=20, trans_per_s="1656.20")

    def test_a_larger_figure_of_the_study(self) -> None:
        most = run("Table 1", trans_per_s="1651.50", mb_per_s="1.89")
        ((at, one),) = found(most, self.LARGER)
        assert (at, one.kind, one.place, one.printed, one.recomputed) == (0, Kind.MAXIMUM, "Table 1", "1651.50", 1656.2)
        assert "1656.20 trans/s in Table 2 (20 users)" in one.message

    @pytest.mark.parametrize(
        "title", ["Throughput", "Maximum number of users", "Maximum latency", "Response time at the highest load", ""]
    )
    def test_other_tables_hold_no_maximum(self, title: str) -> None:
        assert found(run("Table 1", trans_per_s="1651.50"), self.LARGER, titles={"Table 1": title}) == []

    @pytest.mark.parametrize("title", ["Peak rates", "Table 3. Max. TCP throughput", "Highest measured bandwidth"])
    def test_other_words_for_a_maximum(self, title: str) -> None:
        assert found(run("Table 1", trans_per_s="1651.50"), self.LARGER, titles={"Table 1": title})

    def test_the_largest_figure_and_equal_ones(self) -> None:
        assert found(run("Table 1", trans_per_s="1656.20"), self.LARGER) == []
        assert found(run("Table 1", trans_per_s="1656"), self.LARGER) == []
        assert found(run("Table 1", trans_per_s="1700"), self.LARGER) == []

    def test_another_device_or_workload_and_the_run_itself(self) -> None:
        most = run("Table 1", trans_per_s="1651.50")
        assert found(most, replace(self.LARGER, peers="IUCV, RR")) == []
        ((_, twice),) = found(run("Table 2", most, trans_per_s="1656.20"))
        assert twice.kind is Kind.CONTRADICTION

    def test_smaller_is_no_maximum_of_times(self) -> None:
        assert found(run("Table 1", response_ms="10.5"), run("Table 2", response_ms="12.5")) == []


class TestParts:
    HOST = PrintedRun((), processors=2, method=Method.REPORT)

    def found(self, place: str = "Table 1", host: PrintedRun = HOST, **texts: str) -> list[Disagreement]:
        return [each for _, each in found(replace(host, figures=figures(place, **texts)))]

    def kinds(self, elapsed: str = "", place: str = "Table 1", host: PrintedRun = HOST) -> list[Kind]:
        parts = {"cpu_util": "70.00", "processor_util__a": "60.00", "processor_util__b": "81.00"}
        return [each.kind for each in self.found(place, host, **parts | ({"elapsed_s": elapsed} if elapsed else {}))]

    def test_more_than_the_whole(self) -> None:
        (one,) = self.found(cpu_util="70.00", processor_util__a="60.00", processor_util__b="83.00")
        assert (one.kind, str(one.measure), one.printed) == (Kind.PARTS, "cpu_util", "70.00")
        assert "(60.00 + 83.00 = 143) / 2 = 71.500 %" in one.message

    def test_at_most_the_whole(self) -> None:
        assert not self.found(cpu_util="70.0", processor_util__a="60", processor_util__b="80")
        # Rounded figures, and others that are no part of a sum.
        assert not self.found(cpu_util="70", processor_util__a="60.5", processor_util__b="80.4")
        assert not self.found(cpu_util="70", processor_util__a="97")
        assert not self.found(cpu_util="70.00", processor_util__a="60.00", processor_util__lpar="140.00")

    def test_a_second_of_a_report_is_not_known(self) -> None:
        assert self.kinds() == self.kinds(elapsed="1500.0") == [Kind.PARTS]
        assert self.kinds(elapsed="150.0") == []

    def test_without_processors_or_in_a_log(self) -> None:
        assert self.kinds(host=replace(self.HOST, processors=None)) == []
        assert self.kinds(place="") == []


class TestOutlier:
    RATES = ((10, "83.22", "120.16"), (50, "88.50", "564.97"), (5, "91.54", "54.62"), (20, "81.81", "244.47"))

    def table(self, *wrong: str, place: str = "Table 1") -> list[tuple[int, Disagreement]]:
        rows = [(users, rate, wrong[at] if at < len(wrong) else ms) for at, (users, rate, ms) in enumerate(self.RATES)]
        return found(
            *(run(place, users=users, trans_per_s=rate, response_ms=ms) for users, rate, ms in rows), titles={}
        )

    def test_one_figure_apart(self) -> None:
        ((at, one),) = self.table("120.16", "566.10")
        assert (at, one.kind, one.printed) == (1, Kind.OUTLIER, "566.10")
        assert "50 / 88.50 × 1000 = 564.972 ms: 0.2% off" in one.message

    def test_all_alike(self) -> None:
        assert self.table() == []
        # All are half a per cent off, as where users start one after the other.
        assert self.table("120.76", "567.79", "54.89", "245.69") == []

    def test_within_ten_times_the_median_or_rounding(self) -> None:
        assert self.table("120.20", "565.50", "54.64", "244.60") == []
        assert self.table("120.16", "565") == []

    def test_what_the_rule_finds_itself_is_found_once(self) -> None:
        ((_, one),) = self.table("120.16", "600.00")
        assert one.kind is Kind.LITTLE

    def test_too_few_others(self) -> None:
        runs = [run("Table 1", users=u, trans_per_s=r, response_ms=ms) for u, r, ms in self.RATES[:2]]
        odd = run("Table 1", users=50, trans_per_s="88.50", response_ms="566.10")
        assert found(runs[0], odd, titles={}) == []
