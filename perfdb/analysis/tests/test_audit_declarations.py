"""The explanations of the audit, of curves and of limits: complete, and their examples worked out."""

import pytest

from perfdb.analysis.audit.audit_declarations import DECLARATIONS
from perfdb.analysis.audit.printed_values import Kind
from perfdb.analysis.declaration import Declaration
from perfdb.analysis.insights.bottleneck import LIMIT_RULES, Verdict
from perfdb.analysis.insights.throughput_curve import CURVE_RULES
from perfdb.analysis.tests.worked_answers import OTHERS

ALL = (*DECLARATIONS, *CURVE_RULES, *LIMIT_RULES)


@pytest.mark.parametrize("declaration", ALL, ids=lambda declaration: declaration.code)
def test_the_example_works_out(declaration: Declaration) -> None:
    assert [example.work() for example in declaration.examples] == [OTHERS[declaration.code]]


def test_codes_are_unique() -> None:
    assert len({declaration.code for declaration in ALL}) == len(ALL)


def test_every_kind_and_verdict_is_explained() -> None:
    codes = {declaration.code for declaration in ALL}
    assert {str(kind) for kind in Kind} <= codes
    assert {f"verdict.{verdict.name.lower()}" for verdict in Verdict} <= codes


@pytest.mark.parametrize("declaration", ALL, ids=lambda declaration: declaration.code)
def test_nothing_is_left_empty(declaration: Declaration) -> None:
    texts = [declaration.title, declaration.formula, declaration.explanation, declaration.source]
    texts += [example.given for example in declaration.examples]
    assert all(text.strip() for text in texts)
    assert declaration.explanation.endswith(".")
