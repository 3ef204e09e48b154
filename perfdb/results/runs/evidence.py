"""Compact columns of ``run_evidence``: the origins of a run's values and facts.

Most runs come from one log, often from one line: file and line are then stored once.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from perfdb.results.models import RunEvidence
from perfdb.results.runs.record import FactValue, Origin, Value

COLUMNS = ("slots", "origins", "printed", "artifacts", "lines", "formulas")
BETWEEN = "\n"  # Separator of the printed texts, each of one line.


def encode_values(values: Mapping[int, Value]) -> tuple[Any, ...]:
    """Return the ``COLUMNS`` with the origins of values, by slot."""
    slots = sorted(values)
    own = [values[slot] for slot in slots]
    told = [_is_told(value.origin, value.printed) for value in own]
    return (
        slots,
        "".join([value.origin for value in own]),
        BETWEEN.join([value.printed.replace(BETWEEN, " ") for value in own]),
        _shortened(told, [value.artifact for value in own]),
        _shortened(told, [value.line for value in own]),
        [value.formula for value in own if value.origin is Origin.DERIVED],
    )


def _is_told(origin: Origin, printed: str) -> bool:
    """Return whether a log prints the value, perhaps less exactly."""
    return origin is Origin.REPORTED or (origin is Origin.DERIVED and printed != "")


def _shortened(told: Sequence[bool], numbers: list[int]) -> list[int]:
    """Return the shortest form of artifacts or lines, as `RunEvidence` describes."""
    of_told = set(compress(numbers, told))
    if len(of_told) > 1 or any(number for number, is_told in zip(numbers, told, strict=True) if not is_told):
        return numbers
    return [*of_told]


def decode_values(evidence: RunEvidence, values: Sequence[float | None]) -> Iterator[tuple[int, Value]]:
    """Yield each slot that has one of the run's ``values``, with its origin."""
    origins = list(map(Origin, evidence.origins))
    texts = evidence.printed.split(BETWEEN) if origins else []
    told = list(map(_is_told, origins, texts))
    artifacts, lines = _spread(told, evidence.artifacts), _spread(told, evidence.lines)
    formulas = iter(evidence.formulas)
    for slot, origin, printed, artifact, line in zip(evidence.slots, origins, texts, artifacts, lines, strict=True):
        formula = next(formulas) if origin is Origin.DERIVED else ""
        if (value := values[slot - 1]) is not None:
            yield slot, Value(value, origin, printed, artifact, line, formula)


def encode_facts(
    facts: Mapping[str, FactValue], artifacts: Sequence[int], lines: Sequence[int]
) -> dict[str, str | dict[str, Any]]:
    """Return facts by key: text alone at the values' single place, else with place."""
    place = (artifacts[0], lines[0]) if len(artifacts) == len(lines) == 1 else None
    return {key: each.text if (each.artifact, each.line) == place else each._asdict() for key, each in facts.items()}


def decode_facts(evidence: RunEvidence) -> dict[str, FactValue]:
    """Return the facts of a run with places."""
    place = (evidence.artifacts[0], evidence.lines[0]) if len(evidence.artifacts) == len(evidence.lines) == 1 else ()
    return {
        key: FactValue(said, *place) if isinstance(said, str) else FactValue(**said)
        for key, said in evidence.facts.items()
    }


def fact_text(said: str | Mapping[str, Any]) -> str:
    """Return the text of a stored fact, which is plain or has a place."""
    return said if isinstance(said, str) else str(said["text"])


def _spread(told: Sequence[bool], numbers: Sequence[int]) -> Sequence[int]:
    """Return a number for each value from a list, a single number or none."""
    if len(numbers) == len(told):
        return numbers
    return [numbers[0] if is_told else 0 for is_told in told] if numbers else [0] * len(told)
