"""The check of wordings, which is part of `make lint`."""

import pytest

from scripts.words import find_old_words, read_words

WORDS = {"Put off": "Delayed", "the files' fault": "perfdb error"}


@pytest.mark.parametrize(
    "text",
    ["<p>Put off 3 runs</p>", '"Put "\n    "off 3 runs"', "Put\noff 3 runs", "’Put off’"],
    ids=["template", "joined strings", "lines of a document", "quoted"],
)
def test_an_old_wording_is_found_however_it_is_broken(text: str) -> None:
    assert list(find_old_words(text, WORDS)) == [(1, "Put off")]


def test_typographic_apostrophes_are_the_same_and_lines_are_counted() -> None:
    assert list(find_old_words("one\ntwo\nthe files’ fault", WORDS)) == [(3, "the files' fault")]


def test_each_old_wording_has_a_better_one() -> None:
    words = read_words()
    assert len(words) > 100
    assert all(better and better != old for old, better in words.items())
