"""The check of the docstrings' words, which is part of `make lint`."""

from scripts.docstrings import docstrings, problems

PLAIN = [(f"module.py:{line}", "Return the mean of the trials.") for line in range(1, 31)]


def test_plain_docstrings_pass() -> None:
    assert list(problems(PLAIN)) == []


def test_words_without_a_noun_are_found_with_their_places() -> None:
    faults = [("module.py:99", "What nouns are for."), ("module.py:100", "Count what is meant.")]
    (message,) = problems([*PLAIN, *faults])
    assert message.startswith("what: ")
    assert "module.py:99, module.py:100" in message


def test_long_first_lines_are_found() -> None:
    long = [(f"long.py:{line}", "Return " + "very " * 14 + "much.") for line in range(1, 6)]
    (message,) = problems([*PLAIN, *long])
    assert message.startswith("5 of 35 first lines have more than 14 words: long.py:1, ")


def test_every_folder_has_docstrings() -> None:
    places = {place.partition("/")[0] for place, _ in docstrings()}
    assert {"bench", "fixtures", "frontend", "importers", "perfdb", "scripts"} <= places
