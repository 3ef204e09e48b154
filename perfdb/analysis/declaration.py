"""Declaration of a rule: title, formula, explanation, source, worked example.

The pages that explain how figures are judged are rendered from such declarations, and the tests work out the examples,
so that the explanation cannot come apart from the code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """Numbers inserted in a rule; ``work`` must return ``answer``."""

    given: str
    answer: str
    work: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Declaration:
    """One rule or verdict with stable ``code``, ``formula`` in words, and ``source``."""

    code: str
    title: str
    formula: str
    explanation: str
    source: str
    example: Example


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """Figures, what is done with them, and the answer as it is printed."""

    compute: Callable[..., str]
    inputs: Mapping[str, object]
    result: str

    def run(self) -> str:
        """The answer worked out anew."""
        return self.compute(**self.inputs)


@dataclass(frozen=True, slots=True)
class MethodStatement:
    """One statement of the method; ``id`` is its anchor."""

    id: str
    section: str
    title: str
    formula: str
    explanation: str
    examples: tuple[WorkedExample, ...]
    reference: str = ""
