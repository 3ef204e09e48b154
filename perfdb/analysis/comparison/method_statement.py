"""What a statement of the method is made of, and the literature it refers to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

SMYTH = "Smyth, Linear models and empirical Bayes methods for assessing differential expression, 2004"
BENJAMINI = "Benjamini and Hochberg, Controlling the false discovery rate, 1995"
SCHUIRMANN = "Schuirmann, A comparison of the two one-sided tests procedure and the power approach, 1987"
KALIBERA = "Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013"
GEORGES = "Georges, Buytaert and Eeckhout, Statistically rigorous Java performance evaluation, OOPSLA 2007"
JAIN = "Jain, The Art of Computer Systems Performance Analysis, 1991"
COCHRAN = "Cochran, The combination of estimates from different experiments, 1954"


@dataclass(frozen=True, slots=True)
class Example:
    """Figures, what is done with them, and the answer as it is printed."""

    compute: Callable[..., str]
    inputs: Mapping[str, object]
    result: str

    def run(self) -> str:
        """The answer worked out anew."""
        return self.compute(**self.inputs)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One statement of the method. ``id`` is its anchor; ``section`` the heading it stands under."""

    id: str
    section: str
    title: str
    formula: str
    explanation: str
    examples: tuple[Example, ...]
    reference: str = ""
