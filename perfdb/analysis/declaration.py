"""What perfdb says about its own rules: title, formula, explanation, source and an example that is worked out.

The pages that explain how figures are judged are rendered from such declarations, and the tests work out the examples,
so that the explanation cannot come apart from the code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """Figures put into a rule. ``work`` gives the rule's own answer in words, which must be ``answer``."""

    given: str
    answer: str
    work: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Declaration:
    """One rule or verdict. ``code`` is stable; ``formula`` is written in words; ``source`` says where it comes from."""

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
    """One statement of the method. ``id`` is its anchor; ``section`` the heading it stands under."""

    id: str
    section: str
    title: str
    formula: str
    explanation: str
    examples: tuple[WorkedExample, ...]
    reference: str = ""
