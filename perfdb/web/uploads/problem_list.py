"""List of problems: most severe first, grouped by kind, with links."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.urls import reverse

from perfdb.results.models import Problem

_GRAVEST_FIRST = (Problem.Severity.ERROR, Problem.Severity.WARNING, Problem.Severity.NOTE)
_RANK = Case(
    *(When(severity=severity, then=Value(rank)) for rank, severity in enumerate(_GRAVEST_FIRST)),
    output_field=IntegerField(),
)


class ShownProblem(NamedTuple):
    """A problem with the address of its place, "" without a file."""

    problem: Problem
    address: str


def gravest_first(problems: QuerySet[Problem]) -> QuerySet[Problem]:
    """Return errors, then warnings, then notes, each in order."""
    return problems.order_by(_RANK, "pk")


def with_addresses(problems: Iterable[Problem], artifacts: Mapping[str, int]) -> list[ShownProblem]:
    """Return problems with links to their lines. ``artifacts``: path -> artifact."""
    return [ShownProblem(problem, _address(problem, artifacts)) for problem in problems]


class Cause(NamedTuple):
    """Problems of equal severity, code and remedy. ``places``: the files or runs concerned, in words."""

    places: str
    first: ShownProblem
    others: list[ShownProblem]


def list_causes(shown: Iterable[ShownProblem]) -> list[Cause]:
    """Return the problems by cause."""
    found: dict[tuple[str, str, str], list[ShownProblem]] = {}
    for each in shown:
        found.setdefault((each.problem.severity, each.problem.code, each.problem.remedy), []).append(each)
    return [Cause(_count_places(kind), kind[0], kind[1:]) for kind in found.values()]


def _count_places(kind: Iterable[ShownProblem]) -> str:
    files = {each.problem.file for each in kind} - {""}
    number, noun = (len(files), "file") if files else (len({each.problem.run_label for each in kind}), "run")
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def by_run(problems: Iterable[Problem]) -> list[list[Problem]]:
    """Return several runs' problems, grouped by run and kind."""
    found: dict[tuple[int | None, str, str], list[Problem]] = {}
    for each in sorted(problems, key=lambda each: _GRAVEST_FIRST.index(Problem.Severity(each.severity))):
        found.setdefault((each.run_id, each.severity, each.code), []).append(each)
    return list(found.values())


def counted(times: Mapping[str, int]) -> str:
    """Return the numbers by severity: ``1 error, 12 notes``."""
    those = [(times[severity], severity) for severity in _GRAVEST_FIRST if severity in times]
    return ", ".join(f"{number:,} {severity}{'' if number == 1 else 's'}" for number, severity in those)


def _address(problem: Problem, artifacts: Mapping[str, int]) -> str:
    artifact = artifacts.get(problem.file)
    if artifact is None:
        return ""
    address = reverse("web:artifact", args=[artifact])
    return f"{address}?line={problem.line}#L{problem.line}" if problem.line else address
