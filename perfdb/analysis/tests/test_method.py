"""The declarations of the method: complete, and true to the code in every example."""

import pytest

from perfdb.analysis.comparison.comparison import Verdict
from perfdb.analysis.comparison.method import DECLARATIONS
from perfdb.analysis.declaration import MethodStatement, WorkedExample

EXAMPLES = [(declaration.id, example) for declaration in DECLARATIONS for example in declaration.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_examples_come_out_as_printed(name: str, example: WorkedExample) -> None:
    assert example.run() == example.result, name


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda declaration: declaration.id)
def test_each_declaration_is_complete(declaration: MethodStatement) -> None:
    assert declaration.title
    assert declaration.examples
    assert declaration.explanation.endswith(".")


def test_anchors_are_unique() -> None:
    assert len({declaration.id for declaration in DECLARATIONS}) == len(DECLARATIONS)


def test_sections_are_not_scattered() -> None:
    sections = [declaration.section for declaration in DECLARATIONS]
    assert sections == sorted(sections, key=sections.index)


def test_every_verdict_is_shown_in_an_example() -> None:
    results = " ".join(example.result for _, example in EXAMPLES)
    said = {Verdict.NO_NOISE: "noise unknown"}
    assert [verdict for verdict in Verdict if said.get(verdict, verdict.value) not in results] == []


def test_every_kind_of_flag_is_shown_in_an_example() -> None:
    shown = {example.result.partition(":")[0] for name, example in EXAMPLES}
    assert {"outlier", "drift", "cell-drift", "first-run"} <= shown
