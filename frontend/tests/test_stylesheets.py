"""Pages link one style sheet, apart from sheets of single pages."""

from pathlib import Path

import pytest

from perfdb.staticfiles import join_sheet, list_parts

STATIC = Path(__file__).parent.parent / "static"
OF_ONE_PAGE = {"table-import.css"}
JOINING = {"pages.css", "shared.css"}


def read(name: str) -> str:
    return (STATIC / name).read_text()


def test_pages_have_every_sheet_once_and_in_order() -> None:
    text = join_sheet("css/pages.css", read)
    assert "@import" not in text
    others = {path.name for path in STATIC.glob("css/*.css")} - OF_ONE_PAGE - JOINING
    assert [name for name in others if text.count(read(f"css/{name}")) != 1] == []
    assert text.index(":root") < text.index(read("css/report.css")) < text.index(read("css/uploads.css"))


def test_where_sheets_are_not_joined_each_is_linked() -> None:
    linked = list_parts("css/pages.css", read)
    assert "".join(map(read, linked)) == join_sheet("css/pages.css", read)
    assert not JOINING & {Path(name).name for name in linked}


def test_a_sheet_that_imports_others_has_no_rules_of_its_own() -> None:
    sheets = {"a.css": '/* Both. */\n@import "b.css";\nbody { margin: 0; }\n', "b.css": "p { margin: 0; }\n"}
    with pytest.raises(ValueError, match=r"^a\.css imports style sheets and has rules of its own"):
        join_sheet("a.css", sheets.__getitem__)
