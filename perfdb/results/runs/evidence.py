"""Where the values and facts of a run come from, as ``run_evidence`` keeps it: short, for there is a row for every run.

Most runs are told by one log, and many by one line of it: then file and line stand there once.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from perfdb.results.models import RunEvidence
from perfdb.results.runs.record import FactValue, Origin, Value

COLUMNS = ("slots", "origins", "printed", "artifacts", "lines", "formulas")
BETWEEN = "\n"
"""Stands between the printed texts, each of which is of one line."""


def written(values: Mapping[int, Value]) -> tuple[Any, ...]:
    """The ``COLUMNS`` that say where these values come from, by their slots."""
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
    """Whether a log prints it: what is derived more exactly than it is printed has that text all the same."""
    return origin is Origin.REPORTED or (origin is Origin.DERIVED and printed != "")


def _shortened(told: Sequence[bool], numbers: list[int]) -> list[int]:
    """The number of each value; the one of all that logs print, where they have the same and others none."""
    of_told = set(compress(numbers, told))
    if len(of_told) > 1 or any(number for number, is_told in zip(numbers, told, strict=True) if not is_told):
        return numbers
    return [*of_told]


def read(evidence: RunEvidence, values: Sequence[float | None]) -> Iterator[tuple[int, Value]]:
    """Each slot that has a value, with the value and where it comes from; ``values`` are those of the run by slot."""
    origins = list(map(Origin, evidence.origins))
    texts = evidence.printed.split(BETWEEN) if origins else []
    told = list(map(_is_told, origins, texts))
    artifacts, lines = _spread(told, evidence.artifacts), _spread(told, evidence.lines)
    formulas = iter(evidence.formulas)
    for slot, origin, printed, artifact, line in zip(evidence.slots, origins, texts, artifacts, lines, strict=True):
        formula = next(formulas) if origin is Origin.DERIVED else ""
        if (value := values[slot - 1]) is not None:
            yield slot, Value(value, origin, printed, artifact, line, formula)


def facts_written(
    facts: Mapping[str, FactValue], artifacts: Sequence[int], lines: Sequence[int]
) -> dict[str, str | dict[str, Any]]:
    """Facts by their keys; of those that stand where all printed values do, if that is one line, the texts alone."""
    place = (artifacts[0], lines[0]) if len(artifacts) == len(lines) == 1 else None
    return {key: each.text if (each.artifact, each.line) == place else _placed(each) for key, each in facts.items()}


def _placed(fact: FactValue) -> dict[str, Any]:
    return {"text": fact.text, "artifact": fact.artifact, "line": fact.line}


def facts_of(evidence: RunEvidence) -> dict[str, FactValue]:
    """The facts of a run with where each stands."""
    place = (evidence.artifacts[0], evidence.lines[0]) if len(evidence.artifacts) == len(evidence.lines) == 1 else ()
    return {
        key: FactValue(said, *place) if isinstance(said, str) else FactValue(**said)
        for key, said in evidence.facts.items()
    }


def text_of(said: str | Mapping[str, Any]) -> str:
    """What a fact says, whichever way it is kept."""
    return said if isinstance(said, str) else str(said["text"])


def _spread(told: Sequence[bool], numbers: Sequence[int]) -> Sequence[int]:
    """The number of each value, of which there may be one for all that logs print, or none."""
    if len(numbers) == len(told):
        return numbers
    return [numbers[0] if is_told else 0 for is_told in told] if numbers else [0] * len(told)
