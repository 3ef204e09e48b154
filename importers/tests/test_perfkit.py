"""Performance Toolkit listings: CPU time, cut listings, screens, leading blanks."""

import pytest

from fixtures.tests.cases.report_listings import PERFKIT_WINDOW, SCREEN, controlled, form_feeds, perfkit_pages
from fixtures.tests.cases.report_networks import NETWORKS_WINDOW, network_pages
from importers.formats import FileReading, read_files
from importers.model import Fragment, SourceFile, Status
from importers.monitor.columns import read_headings
from importers.monitor.listing import CLOCKS, LOST

PAGES = {page.name: page for page in perfkit_pages()}
LISTING = controlled([*PAGES.values()], PERFKIT_WINDOW)


def listing_of(*names: str) -> str:
    return controlled([PAGES[name] for name in names], PERFKIT_WINDOW)


def reading_of(text: str) -> FileReading:
    (reading,) = read_files([SourceFile("listing.txt", text.encode())])
    assert reading.format == "perfkit"
    return reading


def fragment_of(text: str) -> Fragment:
    (fragment,) = reading_of(text).fragments
    return fragment


def figures(fragment: Fragment, role: str = "total") -> dict[tuple[str, str], str]:
    return {(each.name, each.subject): each.text for each in fragment.readings if each.role == role}


def codes(reading: FileReading) -> list[str]:
    return [problem.code for problem in reading.problems]


def test_a_listing() -> None:
    reading = reading_of(LISTING)
    (fragment,) = reading.fragments
    assert codes(reading) == ["perfkit.not-read"]
    assert "FCX146 AUXLOG" in reading.problems[0].message
    assert (fragment.run_id, str(fragment.taken), str(fragment.ended)) == (
        "sypk2101",
        "2006-05-09 14:20:10",
        "2006-05-09 14:21:10",
    )
    assert figures(fragment) == {
        ("window_s", ""): "60",
        ("cpu_util", ""): "20.2",
        ("tv_ratio", ""): "1.98",
        ("processor_util", "CPU 0"): "20.4",
        ("virtual_processor_util", "CPU 0"): "10.3",
        ("processor_util", "CPU 1"): "20.0",
        ("virtual_processor_util", "CPU 1"): "10.1",
    }
    assert figures(fragment, "lpar") == {("processors", ""): "2.0"}
    guests = figures(fragment, "guest")
    assert guests["cpu_s", "SYLNX1"] == "24.300"
    assert guests["virtual_cpu_s", "SYLNX1"] == "13.500"
    assert guests["cpu_wait", "SYLNX1"] == "5"
    assert ("cpu_wait", "OPERATOR") not in guests


def test_form_feeds_say_the_same() -> None:
    fragment = fragment_of(form_feeds([*PAGES.values()], PERFKIT_WINDOW))
    assert figures(fragment) == figures(fragment_of(LISTING))


def test_text_before_the_first_report_is_skipped() -> None:
    assert figures(fragment_of(" Benchmark of 9 May\n \n" + LISTING)) == figures(fragment_of(LISTING))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("SYSSUMLG", "PROCSUM"), {("processor_util", ""): "40.4", ("virtual_processor_util", ""): "20.4"}),
        (("SYSSUMLG",), {}),
        (("PROCLOG", "PROCSUM"), {("processor_util", "CPU 0"): "20.4", ("processor_util", "CPU 1"): "20.0"}),
    ],
)
def test_the_best_report_that_is_there(names: tuple[str, ...], expected: dict[tuple[str, str], str]) -> None:
    found = figures(fragment_of(listing_of(*names)))
    assert expected.items() <= found.items()
    assert sum(name == "processor_util" for name, _ in found) == sum(name == "processor_util" for name, _ in expected)


def test_summaries_are_no_users_and_no_intervals() -> None:
    listings = {each.name: each for each in fragment_of(LISTING).listings}
    assert [row[0] for row in listings["user"].rows] == ["SYLNX1", "OPERATOR"]
    assert [row[0] for row in listings["ustat"].rows] == ["SYLNX1", "OPERATOR"]
    assert [row[0] for row in listings["syssumlg"].rows] == ["14:20:40", "14:21:10"]


def test_blank_leading_columns_are_those_of_the_row_before() -> None:
    lpar = next(each for each in fragment_of(LISTING).listings if each.name == "lpar")
    names = [name for name, _ in lpar.columns]
    rows = [dict(zip(names, row, strict=True)) for row in lpar.rows]
    assert [(row["partition"], row["number"], row["cpu"], row["vm_load"]) for row in rows] == [
        ("SYLP1", "1", "0", "20.4"),
        ("SYLP1", "1", "1", "20.0"),
    ]


def test_a_screen_has_no_date() -> None:
    fragment = fragment_of(SCREEN)
    assert (fragment.run_id, fragment.taken) == (None, None)
    assert {fact.key: fact.text for fact in fragment.facts}[CLOCKS] == "14:20:10 - 14:21:10"
    assert figures(fragment)["processor_util", "CPU P00"] == "21"
    assert figures(fragment)["virtual_processor_util", "CPU P01"] == "10"


def test_cut_inside_a_processors_row() -> None:
    text = listing_of("SYSSUMLG", "PROCLOG")
    cut = text[: text.index(">>Mean>>   1") + 22]
    reading = reading_of(cut)
    (fragment,) = reading.fragments
    assert codes(reading) == ["perfkit.cut-off"]
    assert reading.problems[0].message == (
        "The listing stops in the middle of FCX144 PROCLOG (processor 1 is incomplete): FCX225 SYSSUMLG was read, "
        "but emulation time and CPU per transaction cannot be worked out."
    )
    assert fragment.status is Status.INCOMPLETE
    assert LOST in {fact.key for fact in fragment.facts}
    assert ("cpu_util", "") in figures(fragment)
    assert ("processor_util", "CPU 0") not in figures(fragment)


def test_an_interval_report_reaches_the_windows_end() -> None:
    text = LISTING.splitlines(keepends=True)
    last = next(n for n, line in enumerate(text) if line.startswith(" 14:21:10   1"))
    reading = reading_of("".join([*text[:last], *text[last + 1 :]]))
    assert "(processor 1 is incomplete)" in reading.problems[0].message
    assert LOST not in {fact.key for fact in reading.fragments[0].facts}, "PROCSUM is whole"
    assert figures(reading.fragments[0])["processor_util", ""] == "40.4"


def test_columns_are_qualified_by_what_stands_above() -> None:
    columns = read_headings(tuple(PAGES["SYSSUMLG"].headings))
    assert columns is not None
    assert columns.names[:7] == (
        "Interval End Time",
        *("CPU Pct Busy", "CPU Ratio T/V", "CPU Ratio Capt", "CPU On-line", "Vec Pct Busy", "Users Log-ged"),
    )


def test_what_is_wider_than_any_report_names_no_columns() -> None:
    headings = (*PAGES["SYSSUMLG"].headings[:-1], PAGES["SYSSUMLG"].headings[-1] + 5000 * " x")
    assert read_headings(headings) is None
    columns = read_headings(tuple(PAGES["SYSSUMLG"].headings))
    assert columns is not None
    assert columns.cells("14:21:10" + 5000 * " 1") is None


@pytest.mark.parametrize("gap", [" ", "\t", "\N{NO-BREAK SPACE}"])
def test_words_that_fall_into_one_column_are_one_text_with_one_blank(gap: str) -> None:
    columns = read_headings(("Name              Status            Load",))
    assert columns is not None
    # The second line has the shape of the first, and other words.
    for name, status in (("VM1", ("not", "inst")), ("AB2", ("now", "gone"))):
        line = f"{name}          {gap.join(status).rjust(11)}               5"
        assert list(columns.cells(line) or ()) == [name, " ".join(status), "5"]


def test_the_words_of_a_table_of_one_column_are_its_only_cell() -> None:
    columns = read_headings(("Remark",))
    assert columns is not None
    for text in ("all well", "not done"):
        assert list(columns.cells(text) or ()) == [text]


def test_a_report_known_by_its_name_whatever_its_number() -> None:
    assert figures(fragment_of(LISTING.replace("FCX144", "FCX304"))) == figures(fragment_of(LISTING))


@pytest.mark.parametrize("text", ["24:18", "1024.3"])
def test_long_times(text: str) -> None:
    reading = reading_of(LISTING.replace(" 24.300", f"{text:>7}"))
    found = next(each for each in reading.fragments[0].readings if each.name == "cpu_s")
    assert (found.text, found.unit) == (text, "mmm:ss" if ":" in text else "s")


def test_networks_and_a_guests_log() -> None:
    fragment = fragment_of(controlled(network_pages(), NETWORKS_WINDOW))
    assert figures(fragment, "guest") == {
        ("processor_util", "SYLNX1"): "31.5",
        ("packets_sent_per_s", "SYLNX1/0600"): "2512.5",
        ("packets_received_per_s", "SYLNX1/0600"): "2498.0",
    }
    tables = {
        each.name: [dict(zip((key for key, _ in each.columns), row, strict=True)) for row in each.rows]
        for each in fragment.listings
    }
    assert [row["user_cpu_s"] for row in tables["userlog.SYLNX1"]] == ["9.300", "9.600"]
    (switch,) = tables["vswitch"]
    assert (switch["switch"], switch["outbound_bytes_per_s"], switch["read_signals_per_s"]) == (
        "SYSW1",
        "640200",
        "1602.4",
    )
    assert [row["messages_lpar_per_s"] for row in tables["hipsock"]] == ["4020.3", ".0"]
    assert [row["vm_load"] for row in tables["lparlog"]] == ["16.0", "16.4"]
    assert [(row["label"], row["response"]) for row in tables["device"]] == [("SYCTL1", ".3")]
