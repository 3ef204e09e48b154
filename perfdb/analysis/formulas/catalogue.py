"""The formulas of the derived metrics, one declaration each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Formula:
    """A derived metric's declaration. ``id`` is metric and method (``cpu_util.snapshot``)."""

    id: str
    metric: str
    source: str
    version: int = 1

    @property
    def text(self) -> str:
        """The formula in words: ``CPU seconds / (processors × elapsed seconds) × 100``."""
        return ""


FORMULAS: tuple[Formula, ...] = ()

BY_ID: dict[str, Formula] = {formula.id: formula for formula in FORMULAS}
