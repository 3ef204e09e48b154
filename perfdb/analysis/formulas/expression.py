"""Arithmetic kept as a tree, so that one declaration is calculated, written in words and written with numbers.

Terms are combined with the ordinary operators: ``CPU / (PROCESSORS * ELAPSED) * 100``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import add, mul, sub, truediv

from perfdb.analysis.formulas.run_values import Input, Known
from perfdb.analysis.units import round_half_up

Resolver = Callable[[Known, str], tuple[Input, ...]]

_CALCULATE: dict[str, Callable[[float, float], float]] = {"+": add, "−": sub, "×": mul, "/": truediv}
_BINDING = {"+": 1, "−": 1, "×": 2, "/": 2}
_ATOM = 3


class Expression:
    """A term, a number, or two expressions joined by an operator."""

    def __add__(self, other: "Expression | float") -> "Operation":
        return Operation("+", self, _expression(other))

    def __sub__(self, other: "Expression | float") -> "Operation":
        return Operation("−", self, _expression(other))

    def __mul__(self, other: "Expression | float") -> "Operation":
        return Operation("×", self, _expression(other))

    def __truediv__(self, other: "Expression | float") -> "Operation":
        return Operation("/", self, _expression(other))

    def terms(self) -> "Iterator[Term]":
        """The terms from left to right."""
        yield from ()

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The value, given the terms' values by name. Raises ZeroDivisionError."""
        raise NotImplementedError

    def write(self, texts: Mapping[str, str]) -> str:
        """The expression with each term written as ``texts`` has it."""
        raise NotImplementedError

    @property
    def binding(self) -> int:
        """How tightly the outermost operator binds, which decides about parentheses."""
        return _ATOM


def _expression(value: "Expression | float") -> Expression:
    return value if isinstance(value, Expression) else Number(value)


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """A constant; ``text`` where it is to be written otherwise than in digits (``2^20``)."""

    value: float
    text: str = ""

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The constant itself."""
        return self.value

    def write(self, texts: Mapping[str, str]) -> str:
        """The constant in its own words."""
        return self.text or f"{self.value:g}"


@dataclass(frozen=True, slots=True)
class Term(Expression):
    """A quantity that a run may have. ``find`` gives its inputs for a role, whose sum it is; none: it is missing.

    ``title`` says in words, with the unit, what it is.
    """

    name: str
    title: str
    find: Resolver

    def terms(self) -> "Iterator[Term]":
        """The term itself."""
        yield self

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The term's value."""
        return values[self.name]

    def write(self, texts: Mapping[str, str]) -> str:
        """The term's text."""
        return texts[self.name]


@dataclass(frozen=True, slots=True)
class Rounded(Expression):
    """An expression rounded to so many decimals, halves away from zero."""

    of: Expression
    decimals: int

    def terms(self) -> Iterator[Term]:
        """The terms of what is rounded."""
        yield from self.of.terms()

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The rounded value."""
        return float(round_half_up(self.of.evaluate(values), self.decimals))

    def write(self, texts: Mapping[str, str]) -> str:
        """What is rounded, as the argument of a function."""
        return f"round({self.of.write(texts)}, {self.decimals})"


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """Two expressions joined by ``+``, ``−``, ``×`` or ``/``."""

    operator: str
    left: Expression
    right: Expression

    def terms(self) -> Iterator[Term]:
        """The terms of both sides."""
        yield from self.left.terms()
        yield from self.right.terms()

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Both sides, joined."""
        return _CALCULATE[self.operator](self.left.evaluate(values), self.right.evaluate(values))

    def write(self, texts: Mapping[str, str]) -> str:
        """Both sides with the operator between, and parentheses where the order needs them."""
        left, right = self.left.write(texts), self.right.write(texts)
        if self.left.binding < self.binding:
            left = f"({left})"
        # What stands right of − or / must not be torn apart; right of + and × the order makes no difference.
        if self.right.binding < self.binding + (self.operator in "−/"):
            right = f"({right})"
        return f"{left} {self.operator} {right}"

    @property
    def binding(self) -> int:
        """That of the operator."""
        return _BINDING[self.operator]
