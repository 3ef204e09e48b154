"""VMPRF reports: pages, carriage control, columns, missing parts."""

import pytest

from fixtures.tests.cases.report_listings import (
    VMPRF_DRIVER,
    VMPRF_WINDOW,
    controlled,
    fixed_records,
    form_feeds,
    vmprf_pages,
)
from importers.collate.drafts import collate
from importers.formats import FileReading, read_files
from importers.model import Fragment, SourceFile, Status
from importers.monitor.listing import GUEST, MEAN_OF_ROWS

LISTING = controlled(vmprf_pages(), VMPRF_WINDOW)
FORM_FEEDS = form_feeds(vmprf_pages(), VMPRF_WINDOW)


def reading_of(text: str | bytes) -> FileReading:
    (reading,) = read_files([SourceFile("listing.txt", text.encode() if isinstance(text, str) else text)])
    assert reading.format == "vmprf"
    return reading


def fragment_of(text: str | bytes) -> Fragment:
    (fragment,) = reading_of(text).fragments
    return fragment


def codes(reading: FileReading) -> list[str]:
    return [problem.code for problem in reading.problems]


def of_guest(fragment: Fragment, guest: str) -> dict[str, str]:
    found = {each.name: each.text for each in fragment.readings if (each.role, each.subject) == (GUEST, guest)}
    assert found
    return found


def test_the_three_reports_of_a_run() -> None:
    reading = reading_of(LISTING)
    (fragment,) = reading.fragments
    assert reading.problems == []
    assert (fragment.run_id, fragment.status) == ("syhs1041", Status.COMPLETE)
    assert (str(fragment.taken), str(fragment.ended)) == ("2002-03-04 09:10:00", "2002-03-04 09:12:00")
    means = {each.name: each.text for each in fragment.readings if each.subject == MEAN_OF_ROWS}
    assert means == {"cpu_util": "43.2", "virtual_cpu_util": "32.4", "cp_cpu_util": "10.8"}
    assert of_guest(fragment, "TCPIPA") == {
        "cpu_s": "50",
        "virtual_cpu_s": "31",
        "processor_util": "41.7",
        "cpu_wait": "18.3",
    }
    facts = {fact.key: fact.text for fact in fragment.facts}
    assert (facts["machine"], facts["cp.level"], facts["cp.service_level"]) == ("2064-116", "z/VM 4.3.0", "0201")


def test_a_reading_names_the_line_that_prints_it() -> None:
    lines = LISTING.splitlines()
    for each in fragment_of(LISTING).readings:
        assert each.text in lines[each.line - 1], each


@pytest.mark.parametrize("data", [FORM_FEEDS.encode(), fixed_records(LISTING), FORM_FEEDS.encode("cp037")])
def test_other_ways_of_printing_say_the_same(data: bytes) -> None:
    fragment, same = fragment_of(LISTING), fragment_of(data)
    without_lines = [[(r.name, r.text, r.role, r.subject) for r in each.readings] for each in (fragment, same)]
    assert without_lines[0] == without_lines[1]
    assert [each.rows for each in same.listings] == [each.rows for each in fragment.listings]


def test_a_table_goes_on_over_pages_and_is_not_repeated() -> None:
    users = next(each for each in fragment_of(LISTING).listings if each.name == "user_resource_utilization")
    assert [row[0] for row in users.rows] == [
        *("TCPIPA", "TCPIPB", "SYCLI01", "SYCLI02", "SYSRV01", "SYSRV02", "MONWRITE"),
    ]


def test_intervals_are_rows_under_metric_names() -> None:
    system = fragment_of(LISTING).listings[0]
    columns = [name for name, _ in system.columns]
    assert [row[columns.index("cpu_util")] for row in system.rows] == ["43.0", "43.4", "43.2", "43.3"]
    assert [row[columns.index("end")] for row in system.rows][-1] == "09:12:00"


def test_missing_marks_are_absent_and_zero_is_zero() -> None:
    users = next(each for each in fragment_of(LISTING).listings if each.name == "user_resource_utilization")
    row = dict(zip([name for name, _ in users.columns], users.rows[-1], strict=True))
    assert row["total_to_virtual"] is None
    assert row["cpu_s"] == "0"


@pytest.mark.parametrize("row", ["-Mean", "-Total"])
def test_without_its_last_row_a_report_was_cut(row: str) -> None:
    text = "".join(line for line in LISTING.splitlines(keepends=True) if not line.startswith(row))
    reading = reading_of(text)
    assert codes(reading) == ["vmprf.cut-off"]
    assert f"({row[1:]} row is missing)" in reading.problems[0].message.replace("its ", "")
    assert reading.fragments[0].status is Status.INCOMPLETE
    lost = "cpu_util" if row == "-Mean" else "cpu_s"
    assert lost not in {each.name for each in reading.fragments[0].readings}


def test_cut_inside_a_row_that_row_is_not_used() -> None:
    text = LISTING.rstrip("\n")[:-30]
    reading = reading_of(text)
    assert codes(reading) == ["vmprf.cut-off"]
    assert "USER_STATES" in reading.problems[0].message
    assert "cpu_wait" not in {each.name for each in reading.fragments[0].readings}


def test_a_row_that_fits_no_columns_is_counted() -> None:
    reading = reading_of(LISTING.replace("TCPIPB        29      19 ", "TCPIPB     2 9 8      19 "))
    assert codes(reading) == ["vmprf.odd-row"]
    assert "TCPIPB" not in {each.subject for each in reading.fragments[0].readings if each.name == "cpu_s"}


def test_an_overflow_is_absent_with_a_warning() -> None:
    reading = reading_of(LISTING.replace("TCPIPB        29 ", "TCPIPB    ****** "))
    assert codes(reading) == ["vmprf.overflow"]
    assert "cpu_s" not in of_guest(reading.fragments[0], "TCPIPB")
    assert of_guest(reading.fragments[0], "TCPIPB")["virtual_cpu_s"] == "19"


def test_three_windows_that_disagree_are_refused() -> None:
    reading = reading_of(LISTING.replace("For    120 Secs", "For    150 Secs"))
    assert reading.fragments == []
    assert set(codes(reading)) == {"vmprf.window"}


def test_a_heading_that_is_not_known_is_said() -> None:
    reading = reading_of(LISTING.replace("Userid     Total Virtual", "Userid     Ttime Vtime  "))
    assert "vmprf.headings" in codes(reading)
    assert "cpu_s, virtual_cpu_s" in reading.problems[0].message


def test_the_same_report_with_other_figures_is_a_conflict() -> None:
    page = vmprf_pages()[0]
    other = controlled([page], VMPRF_WINDOW).replace("   43.0   32.1", "   44.0   33.1")
    assert codes(reading_of(controlled([page], VMPRF_WINDOW) + other)) == ["vmprf.conflict"]
    assert codes(reading_of(controlled([page], VMPRF_WINDOW) * 2)) == []


@pytest.mark.parametrize("old, new", [("03/04/2002", "2002/03/04"), ("03/04/2002", "03/04/02")])
def test_dates_in_all_their_forms(old: str, new: str) -> None:
    assert str(fragment_of(LISTING.replace(old, new)).taken) == "2002-03-04 09:10:00"


def test_runs_of_two_windows_are_two_fragments() -> None:
    later = LISTING.replace("09:1", "11:1").replace("syhs1041", "syhs1042")
    assert [each.run_id for each in reading_of(LISTING + later).fragments] == ["syhs1041", "syhs1042"]


def test_a_word_of_the_title_that_is_a_known_run_names_it() -> None:
    other = LISTING.replace("syhs1041   ", "HS base syhs1041 again")
    assert fragment_of(other).run_id is None
    driver = SourceFile("driver.log", VMPRF_DRIVER.encode())
    readings = read_files([driver, SourceFile("listing.txt", other.encode())])
    (draft,) = collate(fragment for reading in readings for fragment in reading.fragments).drafts
    assert len(draft.reports) == 1
    assert [problem.code for problem in draft.problems] == ["collate.run-id-from-name"]


def test_a_report_that_names_no_run_joins_by_time_and_guests() -> None:
    driver = SourceFile("driver.log", VMPRF_DRIVER.encode())
    readings = read_files([driver, SourceFile("listing.txt", LISTING.replace("syhs1041", "        ").encode())])
    (draft,) = collate(fragment for reading in readings for fragment in reading.fragments).drafts
    assert len(draft.reports) == 1
    assert [problem.code for problem in draft.problems] == ["collate.joined-by-time"]
