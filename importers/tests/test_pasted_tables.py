"""Pasted tables to grids: syntaxes, merged and stacked cells, titles, hostile input."""

import csv
import html
import io
from collections.abc import Callable, Sequence
from string import punctuation

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.published.grid import MOST_CELLS, clean
from importers.published.pasted_tables import Syntax, read_tables, recognise

Rows = Sequence[Sequence[str]]

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12).map(clean)


@st.composite
def grids(draw: st.DrawFn) -> list[list[str]]:
    """Return rectangular grids of two columns or more, with text in the first cell."""
    width = draw(st.integers(2, 5))
    rows = draw(st.lists(st.lists(TEXTS, min_size=width, max_size=width), min_size=2, max_size=6))
    rows[0][0] = "a" + rows[0][0]
    return rows


def as_csv(rows: Rows, delimiter: str = ",") -> str:
    """Return CSV in the quoting of spreadsheets."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


def as_tsv(rows: Rows) -> str:
    """Return tab-separated text in the form of a spreadsheet's clipboard."""
    return as_csv(rows, "\t")


def as_markdown(rows: Rows) -> str:
    """With a rule below the heading; punctuation is escaped."""
    lines = ["| " + " | ".join(map(_escaped, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _escaped(text: str) -> str:
    return "".join("\\" + each if each in punctuation else each for each in text)


def as_html(rows: Rows) -> str:
    """Without the end tags that HTML does not need."""
    return "<table>" + "".join("<tr>" + "".join(f"<td>{html.escape(t)}" for t in row) for row in rows) + "</table>"


WRITERS: dict[Syntax, Callable[[Rows], str]] = {
    Syntax.CSV: as_csv,
    Syntax.TSV: as_tsv,
    Syntax.MARKDOWN: as_markdown,
    Syntax.HTML: as_html,
}


@pytest.mark.parametrize("syntax", WRITERS)
@given(rows=grids())
def test_a_grid_reads_back_as_it_was_written(syntax: Syntax, rows: list[list[str]]) -> None:
    tables = read_tables(WRITERS[syntax](rows), syntax)
    assert [grid.texts() for grid in tables.grids] == [rows]
    assert tables.problems == []


@pytest.mark.parametrize("syntax", [*Syntax, None])
@given(text=st.one_of(st.text(max_size=200), st.text("|-\t,;<>tablerhd/=\"' 12\n", max_size=200)))
def test_nothing_raises(syntax: Syntax | None, text: str) -> None:
    tables = read_tables(text, syntax)
    assert tables.grids or tables.problems
    assert all(len(row) == grid.width for grid in tables.grids for row in grid.rows)


@pytest.mark.parametrize("syntax", WRITERS)
def test_the_syntax_is_recognised(syntax: Syntax) -> None:
    assert recognise(WRITERS[syntax]([["Users", "trans/sec"], ["1", "812.5"], ["10", "1,204.0"]])) is syntax


# Columns aligned by blanks: indented with rules, quoted, groups between blank lines, words by single blanks.
ALIGNED = """
   kernel        users       MB/s      p99 (us)
  =============================================
   6.1 vanilla       1      77.25        (14.5)
   6.1 patched       1      79.00         13.25

   6.1 vanilla      16     810.50         31.0
"""


@pytest.mark.parametrize("mark", ["", "> "])
def test_columns_aligned_by_blanks(mark: str) -> None:
    tables = read_tables("".join(f"{mark}{line}\n" for line in ALIGNED.splitlines()))
    (grid,) = tables.grids
    assert (tables.syntax, tables.problems) == (Syntax.ALIGNED, [])
    assert grid.texts() == [
        ["kernel", "users", "MB/s", "p99 (us)"],
        ["6.1 vanilla", "1", "77.25", "(14.5)"],
        ["6.1 patched", "1", "79.00", "13.25"],
        ["6.1 vanilla", "16", "810.50", "31.0"],
    ]


def test_blanks_inside_of_a_cell_separate_no_columns() -> None:
    text = "Results of the mail.\n\n           base                  new\n"
    text += "Rate 1   102.25 (   0.00%)    104.50 *   2.20%*\nRate 16 1200.50 (   0.00%)   1190.00 (  -0.87%)\n"
    (grid,) = read_tables(text).grids
    assert grid.texts()[1:] == [
        ["Rate 1", "102.25 ( 0.00%)", "104.50 * 2.20%*"],
        ["Rate 16", "1200.50 ( 0.00%)", "1190.00 ( -0.87%)"],
    ]
    assert grid.texts()[0] == ["", "base", "new"]
    (grid,) = read_tables("users OSA IUCV\n1 10.5 12.5\n20 20.5 -\n").grids
    assert grid.texts()[2] == ["20", "20.5", "-"]
    text = "> users  before  after  gain\n> 1      10.5 Gbps 11.0 Gbps +4.8%\n> 10     20.0 Gbps 25.0 Gbps +25.0%\n"
    (grid,) = read_tables(text).grids
    assert grid.texts()[2] == ["10", "20.0 Gbps", "25.0 Gbps", "+25.0%"]
    assert not read_tables("We ran 1 user  first.\nThen  we ran 10.\nAll is well.\n").grids


def test_prose_and_missing_cells_do_not_move_columns() -> None:
    text = """The kernels were the two of last week.  Everything else was
equal.  CPU is that of the sender.

                            eth0 eth0                 eth1
                             CPU   rx pps tx pps

    6.1-rc2, sendfile():    11.6%   4100   8100
    6.1-rc2, send():        24.5%                   12.5%

    6.1 vanilla, send():    21.0%   4200   8200     20.5%
"""
    (grid,) = read_tables(text).grids
    assert grid.texts() == [
        ["", "eth0", "eth0", "", "eth1"],
        ["", "CPU", "rx pps", "tx pps", ""],
        ["6.1-rc2, sendfile():", "11.6%", "4100", "8100", ""],
        ["6.1-rc2, send():", "24.5%", "", "", "12.5%"],
        ["6.1 vanilla, send():", "21.0%", "4200", "8200", "20.5%"],
    ]


def test_drawn_tables_are_read_whole() -> None:
    text = "+-------+------+\n| users | MB/s |\n+=======+======+\n|     3 | 41.5 |\n+-------+------+\n"
    (grid,) = read_tables(text).grids
    assert grid.texts() == [["users", "MB/s"], ["3", "41.5"]]


def test_figures_outside_of_all_tables_are_named() -> None:
    (problem,) = read_tables("| users | MB/s |\n| 1 | 2.5 |\n\n7   8.25   9\n10   8.5   9\n").problems
    assert (problem.code, problem.line) == ("published.left-out", 4)
    assert "7 8.25 9" in problem.message
    assert "1 lines more" in problem.message


def test_semicolons_separate_where_they_do_so_evenly() -> None:
    (grid,) = read_tables("Users;MB/sec;note\n1;3.5;a, b\n10;7.25;c\n", Syntax.CSV).grids
    assert grid.texts() == [["Users", "MB/sec", "note"], ["1", "3.5", "a, b"], ["10", "7.25", "c"]]


def test_every_cell_has_its_line_also_below_a_cell_of_two_lines() -> None:
    (grid,) = read_tables('Users,"Rate\n(trans/sec)"\n1,812\n', Syntax.CSV).grids
    assert grid.texts() == [["Users", "Rate (trans/sec)"], ["1", "812"]]
    assert [[cell.line for cell in row] for row in grid.rows] == [[1, 1], [3, 3]]


@pytest.mark.parametrize("syntax", [Syntax.CSV, Syntax.TSV])
def test_several_tables_have_their_titles(syntax: Syntax) -> None:
    bar = "," if syntax is Syntax.CSV else "\t"
    text = f"Table 1. RR - 1492\nUsers{bar}trans/sec\n1{bar}812\n\nTable 2. STR\nUsers{bar}MB/sec\n1{bar}31\n"
    grids = read_tables(text, syntax).grids
    assert [(grid.title, grid.line, len(grid.rows)) for grid in grids] == [
        ("Table 1. RR - 1492", 2, 2),
        ("Table 2. STR", 6, 2),
    ]


def test_markdown_tables_stand_in_prose() -> None:
    text = """What follows are means.
## Table 3: CRR

Users | trans/sec
--- | ---:
1 | 44
Prose after it | is no row.

| a | b |
| c \\| d | e |
|
"""
    first, second = read_tables(text).grids
    assert (first.title, first.texts()[1]) == ("Table 3: CRR", ["1", "44"])
    assert second.texts() == [["a", "b"], ["c | d", "e"]]


def test_merged_cells_of_html_are_repeated_and_marked() -> None:
    text = """<p>About them.</p><table><caption>Table 2. STR</caption>
<thead><tr><th rowspan=2>Users<th colspan="2">Layer 3<tr><th>OSA<th>vSwitch</thead>
<tr><td>1<td>54.5<sup>a</sup><td>44.6</table>"""
    (grid,) = read_tables(text).grids
    assert grid.title == "Table 2. STR"
    assert grid.texts() == [["Users", "Layer 3", "Layer 3"], ["Users", "OSA", "vSwitch"], ["1", "54.5^a", "44.6"]]
    assert [[cell.merged for cell in row] for row in grid.rows[:2]] == [[False, False, True], [True, False, False]]
    assert [cell.line for cell in grid.rows[2]] == [3, 3, 3]


def test_scripts_and_what_is_not_closed_do_no_harm() -> None:
    text = (
        "<table><script>document.write('<td>x')</script><tr><td>a<td>b<table><tr><td>in<td>side</table>"
        "<tr><td>c<td>&lt;d"
    )
    outer, inner = read_tables(text).grids
    assert (outer.texts(), inner.texts()) == ([["a", "b"], ["c", "<d"]], [["in", "side"]])


@pytest.mark.parametrize(
    "text",
    [
        "<table>" + "<tr><td colspan=1000 rowspan=65534>x" * 200 + "</table>",
        "<table><tr>" + "<td>1" * 1001 + "<tr><td>1" * 1001 + "</table>",
        "a,b\n" * (MOST_CELLS // 2 + 1),
    ],
)
def test_tables_beyond_measure_are_refused(text: str) -> None:
    tables = read_tables(text)
    assert [problem.code for problem in tables.problems] == ["published.too-large"]
    assert tables.grids == []


def test_endless_lines_are_no_document() -> None:
    tables = read_tables("Table 1. x\n\na\n\n1\n\n" * 10_000)
    assert (tables.grids, [problem.code for problem in tables.problems]) == ([], ["published.no-table"])


def test_an_enormous_field_is_refused() -> None:
    (problem,) = read_tables('a,"' + "x" * 200_000 + '"\n', Syntax.CSV).problems
    assert (problem.code, "field" in problem.message) == ("published.no-table", True)


def below_each_other(rows: Sequence[Sequence[Sequence[str]]], gap: int) -> str:
    """Return cells as stacked lines, separated by ``gap`` empty lines."""
    return "".join("\n".join(cell) + "\n" * (gap + 1) for row in rows for cell in row)


@pytest.mark.parametrize("gap", [1, 2])
def test_cells_below_each_other_are_told_apart_by_counting(gap: int) -> None:
    rows = [
        [["MTU"], ["1500"], ["9000"]],
        [["Throughput (MB/sec)"], [""], [""]],
        [["STRG1", "STRG5"], ["25.5", "31.0"], ["", ""]],
        [["STRG10", "STRG50"], ["26.1", "30.2"], ["40.0", "41.1"]],
    ]
    text = "Prose.\n\nTable 4. Streaming\n\n\n" + below_each_other(rows, gap) + "Note: of our own.\n\nMore prose.\n"
    (grid,) = read_tables(text).grids
    assert grid.title == "Table 4. Streaming"
    assert grid.texts() == [
        ["MTU", "1500", "9000"],
        ["Throughput (MB/sec)", "", ""],
        ["STRG1", "25.5", ""],
        ["STRG5", "31.0", ""],
        ["STRG10", "26.1", "40.0"],
        ["STRG50", "30.2", "41.1"],
    ]
    lines = text.split("\n")
    assert all(lines[cell.line - 1] == cell.text for row in grid.rows for cell in row)
