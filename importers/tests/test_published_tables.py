"""Meaning of headings and cells, on tables in the layouts of publications."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.published.apply_mapping import Applied, PublishedRun, apply_mapping
from importers.published.grid import Grid, is_nothing, read_cell, read_number
from importers.published.guess_mapping import Guessed, guess_mapping, title_facts
from importers.published.heading_words import is_difference, read_comparison, read_name
from importers.published.headings import section_text
from importers.published.mapping import Mapping, Name, What
from importers.published.pasted_tables import read_tables
from importers.tests.test_pasted_tables import as_csv, grids

# Metrics as rows, runs as columns; devices stand alone in their rows, and their differences below them.
BLOCKS = """Table 7. STR - 8992
| Case | Layer3 | Layer3 | Layer2 |
| Number of clients | 01 | 10 | 01 |
| VSwitch | | | |
| runid | ab4sn013 | ab4sn101 | ab4sn013 |
| MB/sec | 40.0 | 80.0 | 41.0 |
| Total CPU msec/MB | 8.00 | 6.00 | 8.20 |
| OSA | | | |
| runid | cd4sn012 | cd4sn102 | cd4sn012 |
| MB/sec | 50.0 | 88.0 | - |
| Total CPU msec/MB | 6.00 | 4.50* | 6.15 |
| % diff | | | |
| MB/sec | 25% | 10% | |
| Total CPU msec/MB | -25% | -25% | -25% |
"""

# The other way round: a run a row, merged headings above the metrics, units in a row of their own.
TRANSPOSED = """<table><caption>Table 2. Best of RR</caption>
<tr><th rowspan=3>Device<th rowspan=3>MTU<th rowspan=3>Users<th rowspan=3>Run ID<th colspan=2>total<th colspan=2>client
<tr><th>Rate<th>CPU util<th>CPU util<th>response time
<tr><th>trans/sec<th>%<th>%<th>msec
<tr><td rowspan=2>QDIO<td>1500<td>10<td>aa11bb22<td>1,234.5<td>61.0<td>30.5<td>8.1
<tr><td>8K<td>20<td>aa11bb23<td>1 300.25<td>(64.0)<td>n/a<td>15.4<sup>a</sup>
</table>"""

# Throughput and cost of one device, by MTU and by workload with users.
SWEEP = """Table 4. Throughput and CPU Time: HiperSockets
MTU Size\t8K\t56K
Throughput (trans/sec)\t\t
RR1\t100.5\t101.5
RR10\t900\t
Throughput (MB/sec)\t\t
S1\t20.25\t40.5
CPU time (msec/MB)\t\t
S1\t9.5\t7.25
"""


def only(text: str) -> Grid:
    (grid,) = read_tables(text).grids
    return grid


def understood(text: str) -> tuple[Guessed, Applied]:
    """Return a table that needs no manual mapping."""
    grid = only(text)
    guessed = guess_mapping(grid)
    return guessed, apply_mapping(grid, guessed.mapping)


def facts(run: PublishedRun) -> dict[str, str]:
    return {dimension: said.value for dimension, said in run.facts.items()}


def figures(run: PublishedRun) -> dict[str, str]:
    return {f"{each.metric}@{each.role}": each.number for each in run.figures}


def test_blocks_of_devices_with_their_run_ids() -> None:
    guessed, applied = understood(BLOCKS)
    assert guessed.open == []
    assert applied.problems == []
    expected = {"workload": "STRG", "mtu": "8992", "device": "OSA", "layer": "3", "users": "10", "run_id": "cd4sn102"}
    assert facts(applied.runs[4]) == expected
    assert figures(applied.runs[4]) == {"mb_per_s@total": "88.0", "cpu_ms_per_mb@total": "4.50"}
    assert [figures(run).get("mb_per_s@total") for run in applied.runs] == [
        "40.0",
        "80.0",
        "41.0",
        "50.0",
        "88.0",
        None,
    ]


def test_a_figure_keeps_its_text_unit_place_and_labels() -> None:
    _, applied = understood(BLOCKS)
    figure = applied.runs[4].figures[1]
    assert (figure.printed, figure.unit, figure.read_as) == ("4.50*", "msec/MB", "ms/MB")
    assert (figure.line, figure.column) == (11, 3)
    assert (figure.row_label, figure.column_label) == ("OSA | Total CPU msec/MB", "Layer3 | 10")


def test_differences_are_told_from_figures_and_their_direction_from_the_numbers() -> None:
    guessed, applied = understood(BLOCKS)
    mapping = guessed.mapping
    assert (mapping.difference, mapping.compared, mapping.baseline) == ("device", "OSA", "VSwitch")
    assert [(each.printed, each.compared, each.baseline) for each in applied.percents] == [
        ("25%", 3, 0),
        ("10%", 4, 1),
        ("-25%", 3, 0),
        ("-25%", 4, 1),
        ("-25%", 5, 2),
    ]
    turned, _ = understood(BLOCKS.replace("25%", "-20%").replace("--20%", "33%").replace("10%", "-9%"))
    assert (turned.mapping.compared, turned.mapping.baseline) == ("VSwitch", "OSA")


def test_a_difference_without_its_figures_is_a_problem() -> None:
    _, applied = understood(BLOCKS.replace("| 25% | 10% | |", "| 25% | 10% | 7% |"))
    (problem,) = applied.problems
    assert (problem.code, problem.line) == ("published.no-difference", 13)


def test_runs_as_rows_with_merged_headings() -> None:
    guessed, applied = understood(TRANSPOSED)
    assert guessed.mapping.left == ("device", "mtu", "users", "run_id")
    assert guessed.mapping.top == ("role", "names", "unit")
    one, other = applied.runs
    assert facts(other) == {"device": "QDIO", "mtu": "8K", "users": "20", "run_id": "aa11bb23", "workload": "RR"}
    assert figures(one) == {
        "trans_per_s@total": "1234.5",
        "cpu_util@total": "61.0",
        "cpu_util@client": "30.5",
        "response_ms@client": "8.1",
    }
    assert figures(other) == {"trans_per_s@total": "1300.25", "cpu_util@total": "64.0", "response_ms@client": "15.4"}


def test_a_sweep_has_its_metrics_in_sections() -> None:
    guessed, applied = understood(SWEEP)
    assert (guessed.open, guessed.mapping.left, guessed.mapping.top) == ([], ("workload+users",), ("mtu",))
    assert facts(applied.runs[4]) == {"device": "HiperSockets", "mtu": "56K", "workload": "STRG", "users": "1"}
    assert figures(applied.runs[4]) == {"mb_per_s@total": "40.5", "cpu_ms_per_mb@total": "7.25"}
    assert applied.runs[2].figures[0].row_label == "Throughput (trans/sec) | RR10"
    assert len(applied.runs) == 5


def test_a_column_of_differences_and_a_column_of_units() -> None:
    heading = "Metric,Unit,OSA,VSwitch,% diff OSA vs VSwitch\n"
    guessed, applied = understood(heading + "Throughput,trans/sec,110,100,12%\nResponse time,msec,9,10,-10%\n")
    assert guessed.mapping.left == ("names", "unit")
    assert [figures(run) for run in applied.runs] == [
        {"trans_per_s@total": "110", "response_ms@total": "9"},
        {"trans_per_s@total": "100", "response_ms@total": "10"},
    ]
    # What the heading says counts, though the first difference does not match its figures.
    assert [(each.printed, each.compared, each.baseline) for each in applied.percents] == [
        ("12%", 0, 1),
        ("-10%", 0, 1),
    ]


def test_a_row_of_differences_below_runs() -> None:
    _, applied = understood("Device,trans/sec,cpu_msec/trans\nOSA,110,0.5\nVSwitch,100,0.4\nChange (%),10,25\n")
    assert [(each.metric, each.compared, each.baseline) for each in applied.percents] == [
        ("trans_per_s", 0, 1),
        ("cpu_ms_per_trans", 0, 1),
    ]


PAIRS = """Table 1. trans/sec
| users | OSA | IUCV | % diff | vCTC | LCS | % diff |
| 2 | 200.0 | 210.0 | 5.0 | 400.0 | 480.0 | 20.0 |
| 4 | 300.0 | 390.0 | 30.0 | 500.0 | 520.0 | 4.0 |
"""


@pytest.mark.parametrize(
    ("text", "kinds", "pairs"),
    [
        (PAIRS, {What.DIFFERENCE}, [(1, 0), (3, 2), (5, 4), (7, 6)]),
        # Each heading names its own pair.
        (
            PAIRS.replace("% diff |", "% diff IUCV vs OSA |", 1).replace("% diff |", "% diff LCS vs vCTC |", 1),
            {What.DIFFERENCE},
            [(1, 0), (3, 2), (5, 4), (7, 6)],
        ),
        (",OSA,IUCV,reduction\nCPU msec/MB,8.0,6.0,25%\nresponse time (ms),5,4,20%\n", {What.REDUCTION}, [(1, 0)] * 2),
        # The figures tell what the heading leaves open.
        (",OSA,IUCV,% diff\nCPU msec/MB,8.0,6.0,25.0\nresponse time (ms),5,4,20.0\n", {What.REDUCTION}, [(1, 0)] * 2),
        (",OSA,IUCV,delta\nMB/sec,80.0,90.5,+10.5\nresponse time (ms),5,4.5,-0.5\n", {What.ABSOLUTE}, [(1, 0)] * 2),
        (",OSA,IUCV,% improvement\nMB/sec,80,90,12.5\nresponse time (ms),5,4,20\n", {What.IMPROVEMENT}, [(1, 0)] * 2),
        # Each row is compared with the only other that prints no difference.
        ("users,level,MB/sec,change\n1,a,80,\n1,b,90,12.5%\n", {What.DIFFERENCE}, [(1, 0)]),
    ],
)
def test_kinds_and_pairs_of_differences(text: str, kinds: set[What], pairs: list[tuple[int, int]]) -> None:
    _, applied = understood(text)
    assert applied.problems == []
    assert not vanished(only(text), guess_mapping(only(text)).mapping, applied)
    assert {each.kind for each in applied.percents} == kinds
    assert [(each.compared, each.baseline) for each in applied.percents] == pairs


def test_a_cell_holds_figure_unit_and_difference() -> None:
    text = (
        "| users | device | MB/s |\n| 3 | OSA | 12.5MB |\n| 3 | IUCV | 15.0 MB/s(+20.0%) |\n| 5 | OSA | 20 ( 0.00%) |\n"
    )
    guessed, applied = understood(text + "| 5 | IUCV | 1.5 GB *  -2.5%* |\n| 7 | OSA | 21.5 \u00b1 0.5 |\n")
    assert guessed.open == []
    assert [(run.figures[0].number, run.figures[0].read_as) for run in applied.runs] == [
        ("12.5", "MB/s"),
        ("15.0", "MB/s"),
        ("20", "MB/s"),
        ("1.5", "GB/s"),
        ("21.5", "MB/s"),
    ]
    assert [(each.number, each.compared, each.baseline) for each in applied.percents] == [
        ("20.0", 1, 0),
        ("-2.5", 3, 2),
    ]
    (problem,) = applied.problems
    assert (problem.code, problem.line) == ("published.in-cell", 6)


def test_figures_are_no_headings() -> None:
    guessed, applied = understood("| pairs | OSA | IUCV |\n| 3 | 95.99 Mbps | 50 Mbps |\n| 5 | 99 Mbps | 51 Mbps |\n")
    assert (guessed.mapping.side, guessed.mapping.fixed["metric"]) == (1, "gbit_per_s")
    assert [figures(run) for run in applied.runs] == [{"gbit_per_s@total": n} for n in ("95.99", "50", "99", "51")]
    # Columns and rows of words are headings.
    text = "| | | 6.1 | 6.2 |\n| | | vanilla | fast |\n| Mean | send | 2.5 Gbps | 3.5 Gbps |\n"
    guessed, applied = understood(text)
    assert (guessed.mapping.head, guessed.mapping.side, guessed.mapping.fixed["metric"]) == (2, 2, "gbit_per_s")
    # Which latency it is, and whose sizes, is asked.
    guessed, _ = understood("| workload | OSA |\n| RR | 10.95 us |\n| CRR | 20.99 us |\n")
    assert guessed.open == ["fixed.metric"]
    guessed, applied = understood("| flows of msgs | MB/s |\n| 1 | 0.5 |\n| 4 | 1.5 |\n")
    assert guessed.open == ["left.0"]
    guessed, applied = understood("| message size | users | OSA | IUCV |\n| 1 | 3 | 0.5 MB/s | 0.75 MB/s |\n")
    assert facts(applied.runs[1]) == {"factor.message_bytes": "1", "users": "3", "device": "IUCV"}


def test_what_nobody_can_know_is_asked() -> None:
    text = "Flavour,sweet,sour\nGrumbles,1.5,2.5\nMB/sec,10,11\n"
    guessed, applied = understood(text)
    assert guessed.open == ["top.0", "top.1"]
    assert {problem.code for problem in applied.problems} == {"published.heading-unknown", "published.twice"}


def test_a_metric_for_the_whole_table_can_be_given() -> None:
    text = "users,1500,9000\n1,10.5,11.5\n10,20.5,21.5\n"
    guessed, applied = understood(text)
    assert guessed.open == ["fixed.metric"]
    assert {problem.code for problem in applied.problems} == {"published.no-metric"}
    said = replace(guessed.mapping, fixed={"metric": "mb_per_s", "unit": "KB/sec", "role": "server", "workload": "STR"})
    applied = apply_mapping(only(text), said)
    assert [facts(run) for run in applied.runs[:2]] == [
        {"workload": "STRG", "mtu": "1500", "users": "1"},
        {"workload": "STRG", "mtu": "9000", "users": "1"},
    ]
    figure = applied.runs[3].figures[0]
    assert (figure.metric, figure.role, figure.number, figure.read_as) == ("mb_per_s", "server", "21.5", "KB/s")


def test_a_mapping_is_plain_data_and_fits_the_next_table() -> None:
    grid = only("Flavour,sweet,sour\nMB/sec,10,11\nzork,1.5,2.5\n")
    guessed = guess_mapping(grid).mapping
    said = replace(
        guessed,
        top=("factor.flavour",),
        names={**guessed.names, "zork": Name(What.MEASURE, "jitter_ms", "server", "", "us")},
        values={"factor.flavour": {"sour": "lemon"}},
    )
    kept = Mapping.from_json(json.loads(json.dumps(said.to_json())))
    assert kept == said
    later = only("Flavour,SOUR,bitter\nzork,3.5,4.5\nMB/sec,12,13\ntrans/sec,1,2\n")
    again = guess_mapping(later, [kept])
    applied = apply_mapping(later, again.mapping)
    assert (again.open, applied.problems) == ([], [])
    assert [facts(run) for run in applied.runs] == [{"factor.flavour": "lemon"}, {"factor.flavour": "bitter"}]
    assert figures(applied.runs[1]) == {"jitter_ms@server": "4.5", "mb_per_s@total": "13", "trans_per_s@total": "2"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ([], "object"),
        ({"head": 1, "side": 1, "top": ["nothing"], "left": [""]}, "nothing"),
        ({"head": 2, "side": 1, "top": [""], "left": [""]}, "heading row"),
        ({"head": -1}, "head"),
        ({"names": {"a": {"what": "verb"}}}, "measure"),
        ({"names": {"a": {"whose": "total"}}}, "whose"),
        ({"values": {"mtu": 3}}, "texts"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_mapping_says_what_is_wrong(wrong: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Mapping.from_json(wrong)


def test_cells_that_are_no_figures_are_problems_with_their_lines() -> None:
    _, applied = understood("users,trans/sec,MB/sec\n1,812,fast\n1,813,4.5 parsecs\n10,n/a,\n")
    assert [(each.code, each.line) for each in applied.problems] == [
        ("published.no-number", 2),
        ("published.twice", 3),
        ("published.no-number", 3),
    ]
    assert [figures(run) for run in applied.runs] == [{"trans_per_s@total": "812"}]


@pytest.mark.parametrize(
    ("text", "number", "unit", "decimals"),
    [
        ("9077.29", "9077.29", "", 2),
        ("1,234,567.5", "1234567.5", "", 1),
        ("1\u202f234", "1234", "", 0),
        ("(15.3%)", "15.3", "%", 1),
        ("**12.50** [1]", "12.50", "", 2),
        ("7.0\u2020", "7.0", "", 1),
        ("3.4\u00b9", "3.4", "", 1),
        ("\u221221%", "-21", "%", 0),
        ("12 ms", "12", "ms", 0),
        (".5", ".5", "", 1),
        ("1.5e3", "1.5e3", "", 1),
    ],
)
def test_numbers_without_their_marks(text: str, number: str, unit: str, decimals: int) -> None:
    found = read_number(text)
    assert found is not None
    assert (found.number, found.unit, found.decimals) == (number, unit, decimals)


@pytest.mark.parametrize("text", ["", "-", "1.2.3", "12 \u00b1 3", "RR1", "1,23", "a 5", "()", "%", "\u0663"])
def test_what_is_no_number(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["", " - ", "\u2014", "N/A", "n.a."])
def test_what_says_that_there_is_no_figure(text: str) -> None:
    assert is_nothing(text)


@pytest.mark.parametrize(
    ("text", "measure", "unit", "read_as"),
    [
        ("Throughput (trans/sec)", "trans_per_s@total", "trans/sec", "trans/s"),
        ("Throughput [KB/s]", "mb_per_s@total", "KB/s", "KB/s"),
        ("goodput, Mbit/s", "gbit_per_s@total", "Mbit/s", "Mbit/s"),
        ("Gbps", "gbit_per_s@total", "Gbps", "Gbit/s"),
        ("Mb/s", "gbit_per_s@total", "Mb/s", "Mbit/s"),
        ("Total CPU msec/trans", "cpu_ms_per_trans@total", "msec/trans", "ms/trans"),
        ("Emul CPU usec/MB", "virtual_cpu_ms_per_mb@total", "usec/MB", "us/MB"),
        ("stack7_vcpu_msec/tx", "virtual_cpu_ms_per_trans@stack7", "msec/tx", "ms/trans"),
        ("client_ccpu_msec/MB", "cp_cpu_ms_per_mb@client", "msec/MB", "ms/MB"),
        ("server_virt_LPAR_util", "virtual_cpu_util@server", "", "%"),
        ("stack7_tot_cpu_util", "processor_util@stack7", "", "%"),
        ("stack7_run+wait", "run_wait@stack7", "", "%"),
        ("CPU (%)", "cpu_util@total", "%", "%"),
        ("response time(msec)", "response_ms@total", "msec", "ms"),
        ("latency p99 (us)", "latency_p99_ms@total", "us", "us"),
        ("99.9% latency (us)", "latency_p999_ms@total", "us", "us"),
        ("95th percentile, msec", "latency_p95_ms@total", "msec", "ms"),
        ("rx pps", "packets_received_per_s@total", "pps", "1/s"),
    ],
)
def test_names_of_metrics(text: str, measure: str, unit: str, read_as: str) -> None:
    found = read_name(text)
    assert found is not None
    assert f"{found.name.metric}@{found.name.role}" == measure
    assert (found.name.unit, found.name.read_as) == (unit, read_as)
    assert found.reason


@pytest.mark.parametrize("text", ["Flavour", "zork", "", "(", "msec", "12.95 us", "0.5 MB/s", "p99.99 (us)", "p10 ms"])
def test_words_that_name_nothing(text: str) -> None:
    found = read_name(text)
    assert found is None or not found.name.metric


@pytest.mark.parametrize(
    "text",
    [
        "% diff",
        "Change (%)",
        "Difference",
        "\u0394 %",
        "% improvement",
        "diff OSA vs IUCV",
        "% reduction",
        "CPU savings (%)",
    ],
)
def test_words_for_differences(text: str) -> None:
    assert is_difference(text)


def test_what_a_difference_is_between() -> None:
    assert read_comparison("% diff OSA vs VSwitch") == ("OSA", "VSwitch")
    assert read_comparison("% diff") is None


def test_what_titles_say() -> None:
    found = title_facts("Table 3. STR - 8992")
    assert {dimension: guess.value for dimension, guess in found.items()} == {"workload": "STRG", "mtu": "8992"}
    found = title_facts("Throughput (MB/sec): Guest LAN, Layer 2")
    assert {dimension: guess.value for dimension, guess in found.items()} == {
        "metric": "mb_per_s",
        "unit": "MB/sec",
        "device": "Guest LAN",
        "layer": "2",
    }


def vanished(grid: Grid, mapping: Mapping, applied: Applied) -> set[str]:
    """Return the figures of the body that are no figure, difference, fact or heading."""
    found = {(each.line, each.column) for run in applied.runs for each in run.figures}
    found |= {(each.line, each.column) for each in applied.percents}
    facts = {each.printed for run in applied.runs for each in run.facts.values()}
    body = [cell for row in grid.rows[mapping.head :] if not section_text(row) for cell in row[mapping.side :]]
    numbers = [cell for cell in body if (content := read_cell(cell.text)) and content.figure.value]
    return {cell.text for cell in numbers if (cell.line, cell.column) not in found and cell.text not in facts}


@given(
    rows=grids(),
    words=st.lists(st.sampled_from(["MB/sec", "% diff", "users", "runid", "OSA", "RR1", "12.5", "", "layer3", "ms"])),
)
def test_any_table_can_be_guessed_and_read(rows: list[list[str]], words: list[str]) -> None:
    for at, word in enumerate(words):
        rows[at % len(rows)][at // len(rows) % len(rows[0])] = word
    for grid in read_tables(as_csv(rows)).grids:
        guessed = guess_mapping(grid)
        applied = apply_mapping(grid, guessed.mapping)
        assert Mapping.from_json(json.loads(json.dumps(guessed.mapping.to_json()))) == guessed.mapping
        assert all(each.line for each in applied.problems)
        assert applied.problems or not vanished(grid, guessed.mapping, applied)
        again = guess_mapping(grid, [guessed.mapping]).mapping
        assert again.head == guessed.mapping.head
