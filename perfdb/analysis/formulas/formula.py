"""Formula: the declaration of a derived metric."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import add, mul, sub, truediv

from perfdb.analysis.formulas.run_values import Input, Known, RunFigures
from perfdb.analysis.units import round_half_up
from perfdb.analysis.workloads import STREAMING

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

    def leaves(self) -> "Iterator[Leaf]":
        """Yield the quantities from left to right, with repetitions."""
        yield from ()

    def in_words(self) -> str:
        """Return the expression with the titles of its quantities."""
        return self.write({leaf.name: leaf.title for leaf in self.leaves()})

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Return the value, given the terms' values by name. Raise ZeroDivisionError."""
        raise NotImplementedError

    def write(self, texts: Mapping[str, str]) -> str:
        """Return the expression as text, with each term's text from ``texts``."""
        raise NotImplementedError

    @property
    def binding(self) -> int:
        """Return the precedence of the outermost operator, for parentheses."""
        return _ATOM


def _expression(value: "Expression | float") -> Expression:
    return value if isinstance(value, Expression) else Number(value)


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """A constant; ``text`` is its spelling if not in digits (``2^20``)."""

    value: float
    text: str = ""

    def evaluate(self, values: Mapping[str, float]) -> float:
        return self.value

    def write(self, texts: Mapping[str, str]) -> str:
        return self.text or f"{self.value:g}"


@dataclass(frozen=True, slots=True)
class Leaf(Expression):
    """A quantity of a run; ``title`` names the quantity with its unit."""

    name: str
    title: str

    def leaves(self) -> "Iterator[Leaf]":
        yield self

    def evaluate(self, values: Mapping[str, float]) -> float:
        return values[self.name]

    def write(self, texts: Mapping[str, str]) -> str:
        return texts[self.name]


@dataclass(frozen=True, slots=True)
class Term(Leaf):
    """The sum of the inputs found for a role.

    ``find`` returns the inputs, none if the quantity is missing. ``counted``: there is none in a run without counters.
    """

    find: Resolver
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Rounded(Expression):
    """An expression rounded to a number of decimals, halves away from zero."""

    inner: Expression
    decimals: int

    def leaves(self) -> Iterator[Leaf]:
        yield from self.inner.leaves()

    def evaluate(self, values: Mapping[str, float]) -> float:
        return float(round_half_up(self.inner.evaluate(values), self.decimals))

    def write(self, texts: Mapping[str, str]) -> str:
        return f"round({self.inner.write(texts)}, {self.decimals})"


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """Two expressions joined by ``+``, ``−``, ``×`` or ``/``."""

    operator: str
    left: Expression
    right: Expression

    def leaves(self) -> Iterator[Leaf]:
        yield from self.left.leaves()
        yield from self.right.leaves()

    def evaluate(self, values: Mapping[str, float]) -> float:
        return _CALCULATE[self.operator](self.left.evaluate(values), self.right.evaluate(values))

    def write(self, texts: Mapping[str, str]) -> str:
        """Return both sides with the operator, and parentheses where precedence needs them."""
        left, right = self.left.write(texts), self.right.write(texts)
        if self.left.binding < self.binding:
            left = f"({left})"
        # What stands right of − or / must not be torn apart; right of + and × the order makes no difference.
        if self.right.binding < self.binding + (self.operator in "−/"):
            right = f"({right})"
        return f"{left} {self.operator} {right}"

    @property
    def binding(self) -> int:
        return _BINDING[self.operator]


def always(figures: RunFigures) -> bool:
    """Return True: the formula holds for every run."""
    return True


def streams(figures: RunFigures) -> bool:
    """Return whether the pattern is a stream, with MB as unit of work."""
    return figures.pattern in STREAMING


@dataclass(frozen=True, slots=True)
class Formula:
    """Declaration of a derived metric. ``id`` is metric and method (``cpu_util.snapshot``).

    ``version`` rises when the formula's values change. ``per_role``: a value for each role besides the total. ``when``:
    the runs for which the formula holds.
    """

    id: str
    expression: Expression
    source: str
    per_role: bool = False
    when: Callable[[RunFigures], bool] = always
    version: int = 1

    @property
    def metric(self) -> str:
        """Return the derived metric."""
        return self.id.partition(".")[0]

    @property
    def terms(self) -> tuple[Term, ...]:
        """Return the declared inputs, each once, in the order of writing."""
        return tuple({leaf.name: leaf for leaf in self.expression.leaves() if isinstance(leaf, Term)}.values())

    @property
    def text(self) -> str:
        """Return the formula in words: ``CPU seconds / (processors × elapsed seconds) × 100``."""
        return self.expression.in_words()


role_formula = partial(Formula, per_role=True)
"""Formula with a value for each role besides the total."""
