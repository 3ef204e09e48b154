"""Rows of different columns become one listing."""

from itertools import product

from importers.fragment_builder import Row, build_listing

_A, _B, _C = ("a", "s"), ("b", "s"), ("c", "s")


def _slowly(rows: list[Row]) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str | None, ...], ...]]:
    """Lay out column by column."""
    cells = [dict(zip(columns, texts, strict=True)) for _, columns, texts in rows]
    columns = tuple(dict.fromkeys(column for each in cells for column in each))
    return columns, tuple(tuple(each.get(column) for column in columns) for each in cells)


def test_rows_of_any_columns_in_any_order_are_laid_out_as_one_by_one() -> None:
    kinds = ((_A,), (_A, _B), (_B, _A), (_C, _A), (_A, _B, _A), ())
    for chosen in product(kinds, repeat=3):
        rows: list[Row] = [
            (line, kind, [f"{line}.{at}" for at in range(len(kind))]) for line, kind in enumerate(chosen, start=1)
        ]
        wanted, table = _slowly(rows)
        listings = build_listing("intervals", rows)
        assert [each.name for each in listings] == (["intervals"] if wanted else [])
        for each in listings:
            assert (each.columns, each.rows, each.lines) == (wanted, table, (1, 2, 3))


def test_nothing_makes_no_listing() -> None:
    assert build_listing("intervals", []) == ()
