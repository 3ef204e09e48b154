"""Page of the comparison rules, each with worked examples."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from perfdb.analysis import verdicts
from perfdb.analysis.audit import audit_declarations as audit
from perfdb.analysis.declaration import Declaration, MethodStatement
from perfdb.analysis.insights.bottleneck import LIMIT_RULES, Bottleneck
from perfdb.analysis.insights.throughput_curve import CURVE_RULES
from perfdb.analysis.verdicts.statements import DECLARATIONS


@dataclass(frozen=True, slots=True)
class Worked:
    """An example: inputs, and the rule's own answer."""

    given: str
    answer: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A displayed rule; ``anchor`` is its link target."""

    anchor: str
    title: str
    formula: str
    explanation: str
    source: str
    examples: list[Worked]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of rules; ``title`` is "" for a single one."""

    title: str
    rules: list[Rule]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter with its ``anchor``."""

    anchor: str
    title: str
    about: str
    sections: list[Section]


def build_chapters() -> list[Chapter]:
    """Return the chapters of all rules in reading order."""
    return [
        Chapter(
            "comparing",
            "One result against another",
            "A difference in per cent is printed beside what can be said of it: a verdict, in words.",
            _comparing(DECLARATIONS),
        ),
        _chapter(
            "curves",
            "Where throughput levels off",
            "What is said of the means over a rising number of users.",
            CURVE_RULES,
        ),
        _chapter(
            "limits",
            "What limited a run",
            "The first of these that applies, in this order, is the verdict.",
            LIMIT_RULES,
        ),
        _chapter(
            "audit",
            "Printed figures held against each other",
            "What can be recomputed is, with the interval that rounding leaves; nothing is corrected.",
            audit.DECLARATIONS,
        ),
    ]


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often verdicts are right, by simulation: date, tables of each row, and chapters of rows.

    A chapter has ``title``, ``about``, ``columns`` and ``rows``; a row has ``title`` and ``figures``.
    """

    date: str
    tables: int
    chapters: list[dict[str, Any]]


def read_calibration(package: ModuleType = verdicts) -> Calibration:
    """Return the stored result of ``make calibration`` for verdicts or trends."""
    return Calibration(**json.loads(Path(package.__file__ or "").with_name("calibration.json").read_text("utf-8")))


def worst_rates(calibration: Calibration) -> list[tuple[str, float]]:
    """Return (detector, highest rate of false changes in per cent) of the calibration of trends."""
    return [
        (detector, max(max(row["figures"]) for row in chapter["rows"]))
        for chapter in calibration.chapters
        for kind, _, detector in [chapter["title"].partition(": ")]
        if kind == "False changes" and chapter["rows"]
    ]


def rule_anchor(chapter: str, code: str) -> str:
    """Return a rule's anchor; codes are unique within chapters."""
    return f"{chapter}-{code.replace('.', '-').replace(' ', '-')}"


def limit_anchor(limit: Bottleneck) -> str:
    """Return the anchor of a bottleneck's rule."""
    return rule_anchor("limits", f"verdict.{limit.verdict.name.lower()}")


def _chapter(name: str, title: str, about: str, declared: Sequence[Declaration]) -> Chapter:
    return Chapter(name, title, about, [Section("", [_rule(name, each) for each in declared])])


def _rule(chapter: str, declared: Declaration) -> Rule:
    example = declared.example
    return Rule(
        rule_anchor(chapter, declared.code),
        declared.title,
        declared.formula,
        declared.explanation,
        declared.source,
        [Worked(example.given, example.work())],
    )


def _comparing(declared: Iterable[MethodStatement]) -> list[Section]:
    sections = groupby(declared, key=lambda each: each.section)
    return [Section(title, [_comparing_rule(each) for each in group]) for title, group in sections]


def _comparing_rule(declared: MethodStatement) -> Rule:
    return Rule(
        rule_anchor("comparing", declared.id),
        declared.title,
        declared.formula,
        declared.explanation,
        declared.reference,
        [Worked(_given(example.inputs), example.run()) for example in declared.examples],
    )


def _given(inputs: Mapping[str, object]) -> str:
    """Return inputs as text: ``base 100, 101, 99; new 110, 111, 109``."""
    return "; ".join(f"{name.replace('_', ' ')} {_said(value)}" for name, value in inputs.items())


def _said(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if not isinstance(value, tuple):
        return str(value)
    nested = any(isinstance(each, tuple) for each in value)
    return (" | " if nested else ", ").join(map(_said, value)) or "nothing"
