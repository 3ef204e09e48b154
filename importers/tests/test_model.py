"""Model of importers: listings, numbers, garbage collector."""

import gc

import pytest

from importers.files.text import decode
from importers.formats import read_files
from importers.fragment_builder import is_decimal
from importers.model import Listing, SourceFile, Text

COLUMNS = (("n", ""), ("rate", "MB/s"))


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (("1", "2.5"),),
        (("1", None), (None, ""), ("", "a\nb"), ("é", "\x01\x1f")),
    ],
)
def test_a_listing_gives_back_its_rows(rows: tuple[tuple[str | None, ...], ...]) -> None:
    lines = tuple(range(3, 3 + len(rows)))
    listing = Listing("intervals", COLUMNS, rows, lines)
    assert (listing.rows, listing.lines, listing.columns) == (rows, lines, COLUMNS)
    assert listing == Listing("intervals", COLUMNS, list(rows), list(lines))


def test_listings_differ_by_a_cell_that_is_missing_and_by_a_line() -> None:
    listing = Listing("intervals", COLUMNS, (("1", ""),), (3,))
    assert listing != Listing("intervals", COLUMNS, (("1", None),), (3,))
    assert listing != Listing("intervals", COLUMNS, (("1", ""),), (4,))


def test_a_listing_without_columns_still_has_its_rows() -> None:
    assert Listing("intervals", (), ((), ()), (1, 2)).rows == ((), ())


@pytest.mark.parametrize("text", ["1", "12.5", ".5", "5.", "-1.000", "1.112e+09", "0" * 30])
def test_numbers(text: str) -> None:
    assert is_decimal(text)


@pytest.mark.parametrize("text", ["", ".", "1.2.3", "nan", "N/A", "1e", "٣", "²", "0" * 31, "1,5", "1 2"])
def test_no_numbers(text: str) -> None:
    assert not is_decimal(text)


def test_reading_leaves_the_collector_as_it_was() -> None:
    file = SourceFile("np.out", b"       1 0.24 0.00003\n")
    assert gc.isenabled()
    read_files([file])
    assert gc.isenabled()
    gc.disable()
    try:
        read_files([file])
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_word_is_found_in_any_line_and_across_none() -> None:
    lines = decode("a.txt", b"one\r\ntwo\n" + b"three\n" * 100_000 + b"four").text
    assert lines is not None
    for text in (lines, Text("a.txt", ["one", "two", "three", "four"], "ascii")):
        assert [text.has([word]) for word in ("two", "four", "five", "onetwo")] == [True, True, False, False]
        assert text.has(["five", "three"])


def test_a_word_is_looked_for_in_the_first_lines_alone() -> None:
    text = decode("run.log", b"first\nsecond\nthird\n").text
    assert text is not None
    assert text.head(2) == "first\nsecond"
    assert text.mentions(("third", "second"), 2)
    assert not text.mentions(("third",), 2)
    assert not text.mentions(("first\nthird",), 3)
