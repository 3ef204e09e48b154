"""Page of the comparison rules, each with worked examples."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from perfdb.analysis import verdicts
from perfdb.analysis.audit import audit_declarations as audit
from perfdb.analysis.declaration import Declaration
from perfdb.analysis.insights.bottleneck import LIMIT_RULES, Bottleneck
from perfdb.analysis.insights.method_statements import SECTIONS
from perfdb.analysis.insights.throughput_curve import CURVE_RULES

_CHAPTERS: tuple[tuple[str, str, str, Mapping[str, tuple[Declaration, ...]]], ...] = (
    (
        "comparing",
        "One result against another",
        "A difference in per cent is printed beside what can be said of it: a verdict, in words.",
        SECTIONS,
    ),
    (
        "curves",
        "Where throughput levels off",
        "What is said of the means over a rising number of users.",
        {"": CURVE_RULES},
    ),
    (
        "limits",
        "What limited a run",
        "The first of these that applies, in this order, is the verdict.",
        {"": LIMIT_RULES},
    ),
    (
        "audit",
        "Printed figures held against each other",
        "What can be recomputed is, with the interval that rounding leaves; nothing is corrected.",
        {"": audit.DECLARATIONS},
    ),
)
"""Chapters of declared rules: anchor, title, introduction, and rules by section."""


def build_chapters() -> list[dict[str, Any]]:
    """Return the chapters of all rules in reading order. A section without a title is the only one."""
    return [
        {
            "anchor": name,
            "title": title,
            "about": about,
            "sections": [
                {"title": section, "rules": [_rule(name, each) for each in declared]}
                for section, declared in sections.items()
            ],
        }
        for name, title, about, sections in _CHAPTERS
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
    """Return (detector, highest rate of false changes in per cent) for trends."""
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


def _rule(chapter: str, declared: Declaration) -> dict[str, Any]:
    return {
        "anchor": rule_anchor(chapter, declared.code),
        "title": declared.title,
        "formula": declared.formula,
        "explanation": declared.explanation,
        "source": declared.source,
        "examples": [{"given": example.given, "answer": example.work()} for example in declared.examples],
    }
