"""Working out what follows within one run, and saying how."""

from perfdb.analysis.formulas.figures import Derived, RunFigures


def derive(figures: RunFigures) -> list[Derived]:
    """Everything that follows from the figures of one run, each measure once, inputs before what uses them."""
    return []


def explain(derived: Derived) -> str:
    """The formula with the numbers put in: ``(611.78 + 611.27) / (2 × 632) × 100 = 96.760``."""
    return ""
