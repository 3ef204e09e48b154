"""Declarations of perfdb's rules: title, formula, explanation, source and computed examples, as pages render."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple


class Example(NamedTuple):
    """Given values in words, from which ``work`` computes the rule's answer."""

    given: str
    work: Callable[[], str]


class Declaration:
    """A rule or verdict. ``code`` is stable and names the anchor on the page, ``formula`` is in words."""

    def __init__(
        self, code: str, title: str, formula: str, explanation: str, *examples: Example, source: str = ""
    ) -> None:
        self.code = code
        self.title = title
        self.formula = formula
        self.explanation = explanation
        self.examples = examples
        self.source = source


def worked(compute: Callable[..., str], **inputs: object) -> Example:
    """Return an example by a function; its inputs are written ``base 100, 101, 99; new 110, 111, 109``."""
    given = "; ".join(f"{name.replace('_', ' ')} {_in_words(value)}" for name, value in inputs.items())
    return Example(given, partial(compute, **inputs))


def _in_words(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if not isinstance(value, tuple):
        return str(value)
    nested = any(isinstance(each, tuple) for each in value)
    return (" | " if nested else ", ").join(map(_in_words, value)) or "nothing"
