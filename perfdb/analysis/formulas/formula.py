"""What a formula is: the declaration of a derived metric."""

from collections.abc import Callable
from dataclasses import dataclass

from perfdb.analysis.formulas.expression import Expression, Term
from perfdb.analysis.formulas.run_values import RunFigures
from perfdb.analysis.workloads import STREAMING


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
