"""Declarations of perfdb's rules: title, formula, explanation, source and computed examples, as pages render."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """Given values, from which ``work`` computes the rule's answer."""

    given: str
    work: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Declaration:
    """A rule or verdict. ``code`` is stable and ``formula`` is in words."""

    code: str
    title: str
    formula: str
    explanation: str
    source: str
    example: Example


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A function with inputs."""

    compute: Callable[..., str]
    inputs: Mapping[str, object]

    def run(self) -> str:
        """Compute the result from the inputs."""
        return self.compute(**self.inputs)


@dataclass(frozen=True, slots=True)
class MethodStatement:
    """A statement of the comparison method. ``id`` is its anchor on the page."""

    id: str
    section: str
    title: str
    formula: str
    explanation: str
    examples: tuple[WorkedExample, ...]
    reference: str = ""
