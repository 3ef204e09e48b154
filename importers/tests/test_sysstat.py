"""Sysstat's reports in all forms: locales, clocks, restarts and cut files."""

from datetime import datetime
from pathlib import Path

import pytest

from importers.formats import FileReading, read_files
from importers.model import Fragment, Kind, Listing, SourceFile
from importers.tests.fixture_cases import EXPECTED, assert_case, cases

LOGS = Path(__file__).parents[2] / "fixtures/logs/sysstat"
BEGIN, END = datetime(2024, 3, 14, 14, 5), datetime(2024, 3, 14, 14, 5, 30)


def path_of(case: str) -> Path:
    (path,) = (path for path in (LOGS / case).iterdir() if path.name != EXPECTED)
    return path


def read_text(text: str | bytes, name: str = "lnxc1.txt") -> FileReading:
    (reading,) = read_files([SourceFile(name, text.encode() if isinstance(text, str) else text)])
    return reading


def read_case(case: str) -> Fragment:
    reading = read_text(path_of(case).read_bytes(), path_of(case).name)
    assert (reading.format, reading.problems) == ("sysstat", [])
    (fragment,) = reading.fragments
    return fragment


def listing(fragment: Fragment, name: str) -> Listing:
    return next(each for each in fragment.listings if each.name == name)


def column(fragment: Fragment, table: str, name: str) -> list[str | None]:
    found = listing(fragment, table)
    return [row[[head for head, _ in found.columns].index(name)] for row in found.rows]


def codes(reading: FileReading) -> list[str]:
    return [problem.code for problem in reading.problems]


def value(text: str | None) -> float:
    assert text is not None
    return float(text)


@pytest.mark.parametrize("folder", cases("sysstat"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


FORMS = ["sar_text", "sadf_json", "mpstat_json", "sadf_csv", "sadf_pairs", "sadf_xml"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_shares(form: str) -> None:
    fragment = read_case(form)
    assert (fragment.kind, fragment.host, fragment.role, fragment.ended) == (Kind.REPORT, "lnxc1", "", END)
    assert column(fragment, "cpu", "end") == ["14:05:10", "14:05:20", "14:05:30"]
    assert list(map(value, column(fragment, "cpu", "idle"))) == [38.0, 35.0, 29.0]
    assert list(map(value, column(fragment, "cpu", "iowait"))) == [0.5, 0.0, 1.0]
    assert list(map(value, column(fragment, "cpu", "steal"))) == [1.5, 2.0, 2.5]


@pytest.mark.parametrize("form", FORMS)
def test_figures_stand_in_the_lines_they_name(form: str) -> None:
    lines = path_of(form).read_text().splitlines()
    fragment = read_case(form)
    for table in fragment.listings:
        assert len(table.rows) == len(table.lines)
        assert all(fragment.first_line <= line <= fragment.last_line for line in table.lines)
    if form in {"sar_text", "sadf_csv", "sadf_xml"}:
        found = listing(fragment, "cpu")
        for row, line in zip(found.rows, found.lines, strict=True):
            cells = [cell for cell, head in zip(row, found.columns, strict=True) if head[0] not in {"end", "interval"}]
            assert all(str(cell) in lines[line - 1] for cell in cells)


@pytest.mark.parametrize("form", ["sadf_json", "sar_text", "sadf_csv", "sadf_xml"])
def test_interfaces_are_listings_of_their_own(form: str) -> None:
    fragment = read_case(form)
    assert list(map(value, column(fragment, "interface enc600", "rxkB"))) == [11728.5] * 3
    assert ("rxkB", "KB/s") in listing(fragment, "interface enc600").columns


def test_system_includes_interrupts_only_where_they_have_no_column() -> None:
    assert list(map(value, column(read_case("sadf_csv"), "cpu", "system"))) == [40.0, 41.0, 43.5]
    assert list(map(value, column(read_case("sar_text"), "cpu", "sys"))) == [30.0, 31.0, 32.0]


def test_sar_s_blocks_and_averages() -> None:
    fragment = read_case("sar_text")
    assert [table.name for table in fragment.listings] == [
        *("cpu", "interface lo", "interface enc600", "tcp", "tcp_errors"),
    ]
    assert fragment.taken == BEGIN
    assert {each.name: (each.text, each.role) for each in fragment.readings} == {
        "processors": ("4", ""),
        "idle_util": ("34.00", ""),
        "iowait_util": ("0.50", ""),
        "steal_util": ("2.00", ""),
    }
    assert {(fact.key, fact.text) for fact in fragment.facts if fact.of_host} >= {
        ("node", "lnxc1"),
        ("level", "Linux 5.14.21-150500"),
    }


def test_an_american_clock_passes_midnight() -> None:
    fragment = read_case("american")
    assert column(fragment, "cpu", "end") == ["00:00:00", "00:00:10"]
    assert (fragment.taken, fragment.ended) == (datetime(2024, 3, 14, 23, 59, 50), datetime(2024, 3, 15, 0, 0, 10))


def test_decimal_commas_and_a_translated_average() -> None:
    fragment = read_case("german")
    assert column(fragment, "cpu", "idle") == ["37.00", "36.00"]
    assert [each.text for each in fragment.readings if each.name == "idle_util"] == ["36.50"]


def test_a_restart_leaves_no_average() -> None:
    reading = read_text(path_of("restart").read_bytes())
    assert codes(reading) == ["sysstat.restart"]
    (fragment,) = reading.fragments
    assert [each.name for each in fragment.readings] == ["processors"]
    assert column(fragment, "cpu", "idle") == ["37.00", "79.00"]


@pytest.mark.parametrize(("case", "idle"), [("iostat_json", ["38.0", "35.0"]), ("vmstat", ["38", "35"])])
def test_reports_since_the_start_of_the_host_are_left_out(case: str, idle: list[str]) -> None:
    assert column(read_case(case), "cpu", "idle") == idle


@pytest.mark.parametrize(
    ("day", "taken", "expected"),
    [
        ("03/14/24", BEGIN, []),
        ("14/03/2024", BEGIN, []),
        ("14.03.2024", BEGIN, []),
        ("03/04/24", None, ["sysstat.ambiguous-date"]),
        ("04/04/24", datetime(2024, 4, 4, 14, 5), []),
    ],
)
def test_of_some_dates_nobody_knows_the_month(day: str, taken: datetime | None, expected: list[str]) -> None:
    reading = read_text(path_of("sar_text").read_text().replace("2024-03-14", day))
    assert (reading.fragments[0].taken, codes(reading)) == (taken, expected)


def test_columns_may_change_within_a_file() -> None:
    head, rows = "14:05:30 CPU %user %nice %system %idle\n", "14:05:40 all 1.00 0.00 2.00 97.00\n"
    fragment = read_text(path_of("sar_text").read_text() + head + rows).fragments[0]
    assert column(fragment, "cpu #2", "idle") == ["97.00"]


def test_a_time_that_is_none_is_left_out() -> None:
    reading = read_text(path_of("sar_text").read_text().replace("14:05:20        all", "14:75:20        all"))
    assert codes(reading) == ["sysstat.time"]
    assert column(reading.fragments[0], "cpu", "end") == ["14:05:10", "14:05:30"]


def test_a_tool_that_failed_has_no_figures() -> None:
    reading = read_text(path_of("failed").read_bytes())
    assert (reading.format, reading.fragments, codes(reading)) == ("sysstat", [], ["sysstat.failed"])


@pytest.mark.parametrize("form", FORMS)
def test_cut_anywhere_there_is_never_a_wrong_figure(form: str) -> None:
    data = path_of(form).read_bytes()
    whole = read_case(form)
    rows = {(table.name, row) for table in whole.listings for row in table.rows}
    for at in range(40, len(data) - 1, 17):
        reading = read_text(data[:at])
        found = {(table.name, row) for each in reading.fragments for table in each.listings for row in table.rows}
        assert found <= rows, f"cut at {at}"
        if found != rows and form in {"sadf_json", "mpstat_json", "sadf_xml"}:
            assert codes(reading), f"cut at {at}"


@pytest.mark.parametrize("form", FORMS)
def test_line_ends_of_other_systems_change_nothing(form: str) -> None:
    (fragment,) = read_text(path_of(form).read_bytes().replace(b"\n", b"\r\n"), path_of(form).name).fragments
    assert fragment == read_case(form)


def test_of_a_cut_document_the_last_interval_counts_if_it_is_whole() -> None:
    lines = path_of("mpstat_json").read_text().splitlines(keepends=True)
    closing = [number for number, line in enumerate(lines) if line.rstrip("\n") in {"\t\t\t\t\t}", "\t\t\t\t\t},"}]
    assert len(closing) == 3
    whole, half = (read_text("".join(lines[: closing[1] + more])) for more in (1, 0))
    assert [len(listing(reading.fragments[0], "cpu").rows) for reading in (whole, half)] == [2, 1]
    assert codes(whole) == codes(half) == ["sysstat.cut-off"]


def test_a_printed_length_makes_the_first_interval_count() -> None:
    for form in ("sadf_json", "sadf_csv", "sadf_pairs", "sadf_xml"):
        fragment = read_case(form)
        assert (fragment.taken, fragment.ended) == (BEGIN, END)
        assert column(fragment, "cpu", "interval") == ["10"] * 3


SADF = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle"


@pytest.mark.parametrize(
    ("stamp", "zone"),
    [
        ("1710425110", "+00:00"),
        ("2024-03-14 14:05:10 UTC", "+00:00"),
        ("2024-03-14 14:05:10", ""),
        ("2024-03-14 14:05:10 CET", "CET"),
    ],
)
def test_sadf_prints_its_times_in_several_forms(stamp: str, zone: str) -> None:
    rows = f"{SADF}\nlnxc1;-1;{stamp};LINUX-RESTART\t(2 CPU)\nlnxc1;10;{stamp};-1;3.00;0.00;4.00;0.00;0.00;93.00\n"
    pairs = rows.split("\n")[1].replace(";", "\t") + "".join(
        f"\nlnxc1\t10\t{stamp}\tall\t{name}\t{text}" for name, text in (("%user", "3.00"), ("%idle", "93.00"))
    )
    for text in (rows, f"{pairs}\n"):
        reading = read_text(text)
        assert (reading.format, reading.problems) == ("sysstat", [])
        (fragment,) = reading.fragments
        assert (fragment.taken, fragment.ended, fragment.zone) == (BEGIN, datetime(2024, 3, 14, 14, 5, 10), zone)


def test_horizontal_lines_are_refused_once() -> None:
    line = "lnxc1;10;2024-03-14 14:05:10 UTC;-1;3.00;0.00;4.00;0.00;0.00;93.00;1.00;2.00;3.00;4.00"
    reading = read_text(f"{SADF}[...];active/s;passive/s;iseg/s;oseg/s\n{line}\n{line}\n")
    assert (reading.fragments, codes(reading)) == ([], ["sysstat.horizontal"])


HEAD = "Linux 5.14.21 (lnxc1) \t2024-03-14 \t_x86_64_\t(2 CPU)\n\n"
CPUS = "14:05:00 CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle\n"


@pytest.mark.parametrize(
    "block",
    [
        "14:05:00 runq-sz plist-sz ldavg-1 ldavg-5 ldavg-15 blocked\n14:05:10 3 212 0.41 0.22 0.11 0\n",
        "14:05:00 CPU MHz\n14:05:10 all 2400.00\n",
        "14:05:00 CPU 24/s 25/s NMI/s\n14:05:10 0 0.00 1.00 2.00\n",
        "14:05:00 BUS idvendor idprod maxpower manufact product\n14:05:10 1 1d6b 2 0 Linux 5.14 xHCI Host Controller\n",
    ],
)
def test_a_head_has_no_figures_and_unused_blocks_no_warnings(block: str) -> None:
    row = "14:05:10 all 10.0% 0.0% 5.0% 0.0% 0.0% 0.0% 0.0% 0.0% 0.0% 85.0%\n"
    reading = read_text(f"{HEAD}{CPUS}{row}\n{block}\n{CPUS}14:05:20 all 1.0\n14:05:30 all 1.0\n")
    assert codes(reading) == ["sysstat.cells"]
    (fragment,) = reading.fragments
    assert column(fragment, "cpu", "idle") == ["85.0"]


def test_single_processors_count_where_all_are_there() -> None:
    row = "14:05:10 {} 10.00 0.00 5.00 0.00 0.00 0.00 0.00 0.00 0.00 85.00\n"
    both, one = (read_text(HEAD + CPUS + "".join(map(row.format, own))) for own in ("01", "1"))
    assert [each.name for each in both.fragments[0].listings] == ["cpu 0", "cpu 1"]
    assert (codes(both), codes(one), one.fragments[0].listings) == ([], ["sysstat.some-processors"], ())
