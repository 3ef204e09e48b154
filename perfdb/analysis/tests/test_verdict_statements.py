"""The declarations of the method: complete, and true to the code in every example."""

import pytest

from perfdb.analysis.declaration import Declaration, Example
from perfdb.analysis.insights.method_statements import SECTIONS
from perfdb.analysis.tests.worked_answers import COMPARING
from perfdb.analysis.verdicts.words import LEGEND

DECLARATIONS = [each for section in SECTIONS.values() for each in section]
EXAMPLES = [
    (declaration.code, example, answer)
    for declaration in DECLARATIONS
    for example, answer in zip(declaration.examples, COMPARING[declaration.code], strict=True)
]


@pytest.mark.parametrize(("name", "example", "answer"), EXAMPLES)
def test_examples_come_out_as_printed(name: str, example: Example, answer: str) -> None:
    assert example.work() == answer, name


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda declaration: declaration.code)
def test_each_declaration_is_complete(declaration: Declaration) -> None:
    assert declaration.title
    assert declaration.examples
    assert declaration.explanation.endswith(".")


def test_anchors_are_unique() -> None:
    assert len({declaration.code for declaration in DECLARATIONS}) == len(DECLARATIONS)


def test_every_verdict_is_shown_in_an_example() -> None:
    results = " ".join(answer for *_, answer in EXAMPLES)
    for word in ("improved", "in these runs", "same within 2%", "can't tell in", "likely higher", "no repeats",
                 "no more than repeats differ", "not comparable", "mixed"):  # fmt: skip
        assert word in results


def test_each_word_of_the_legend_leads_to_a_statement() -> None:
    assert {rule for *_, rule in LEGEND} <= {declaration.code for declaration in DECLARATIONS}
