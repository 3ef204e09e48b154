"""What a formula is: the declaration of a derived metric."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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


def always(figures: RunFigures) -> bool:
    """The formula holds for every run."""
    return True


def streams(figures: RunFigures) -> bool:
    """The run's pattern is a stream, whose unit of work is the MB."""
    return figures.pattern in STREAMING


@dataclass(frozen=True, slots=True)
class Where:
    """A condition that looks at no more than these metrics, and at the run's other figures."""

    holds: Callable[[RunFigures], bool]
    reads: frozenset[str]

    def __call__(self, figures: RunFigures) -> bool:
        """Whether it holds for a run."""
        return self.holds(figures)


@dataclass(frozen=True, slots=True)
class Formula:
    """A derived metric's declaration. ``id`` is metric and method (``cpu_util.snapshot``).

    ``version`` rises when the formula gives other values than before. ``per_role``: it gives a value for each role
    beside the total. ``when`` says for which runs the formula holds at all.
    """

    id: str
    metric: str
    expression: Expression
    source: str
    per_role: bool = False
    when: Callable[[RunFigures], bool] = always
    version: int = 1

    @property
    def reads(self) -> frozenset[str]:
        """The metrics that the condition looks at; one that does not say may look at the formula's own."""
        if self.when in (always, streams):
            return frozenset()
        return self.when.reads if isinstance(self.when, Where) else frozenset({self.metric})

    @property
    def terms(self) -> tuple[Term, ...]:
        """The declared inputs, each once, in the order of writing."""
        return tuple({term.name: term for term in self.expression.terms()}.values())

    @property
    def text(self) -> str:
        """The formula in words: ``CPU seconds / (processors × elapsed seconds) × 100``."""
        return self.expression.write({term.name: term.title for term in self.terms})
