"""What perfdb says about its own rules: title, formula, explanation, source and an example that is worked out.

The pages that explain how figures are judged are rendered from such declarations, and the tests work out the examples,
so that the explanation cannot come apart from the code.
"""

from collections.abc import Callable
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
