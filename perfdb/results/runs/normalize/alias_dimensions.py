"""Aliases applied to a run's dimensions; facts keep the printed text.

A run without facts for a dimension (a published one) has the dimension's value as printed text. Where an alias replaces
a value that no single fact has, the fact ``printed.DIMENSION`` keeps the value.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from importers.model import Problem
from perfdb.analysis.dimensions import FACTOR, OPTIONS
from perfdb.analysis.workloads import parse_workload
from perfdb.results.runs.normalize import configuration as reading
from perfdb.results.runs.record import Configuration, FactValue, RunRecord, SystemIdentity

PRINTED = "printed."

# The facts of each dimension; the first that a run has counts. Other dimensions have a fact of the same name.
_FACTS: Mapping[str, tuple[str, ...]] = {
    "device": ("device", "driver"),
    "level": ("level", "cp.level"),
    "workload": ("workload", "request_bytes", "response_bytes"),
    "system": ("machine", "cpu_model", "architecture", "node", "memory"),
    **{f"{FACTOR}{name}": (name, f"{FACTOR}{name}") for name in OPTIONS},
}
# Dimensions that several facts make together: the printed text is then the resulting value.
COMPOSED = frozenset({"workload", "system"})


def facts_saying(dimension: str) -> tuple[str, ...]:
    """Return the keys of the facts that determine a dimension."""
    return _FACTS.get(dimension, (dimension,))


def fold(text: str) -> str:
    """Return a text in small letters and without outer blanks, for comparison."""
    return text.strip().casefold()


@dataclass(frozen=True, slots=True)
class Aliases:
    """A study's aliases by dimension and folded text; ``systems`` by name."""

    meanings: Mapping[tuple[str, str], str] = field(default_factory=dict)
    systems: Mapping[str, SystemIdentity] = field(default_factory=dict)

    @property
    def dimensions(self) -> list[str]:
        """Return the dimensions with aliases."""
        return list(dict.fromkeys(dimension for dimension, _ in self.meanings))

    def meaning(self, dimension: str, text: str | None) -> str | None:
        """Return a text's meaning; None without an alias."""
        return None if text is None else self.meanings.get((dimension, fold(text)))


NONE = Aliases()


def printed_text(facts: Mapping[str, FactValue], dimension: str) -> str | None:
    """Return the printed text of a dimension; None unless a single fact has it."""
    keys = (PRINTED + dimension, *(() if dimension in COMPOSED else facts_saying(dimension)))
    return next((facts[key].text.strip() for key in keys if key in facts), None)


def align(record: RunRecord, aliases: Aliases, dimensions: Iterable[str], artifacts: Mapping[str, int]) -> None:
    """Set these dimensions of a record from its facts and the aliases.

    Problems of unreadable texts are removed where an alias now gives a value, and added where none does any more.
    """
    for dimension in dimensions:
        _align(record, aliases, dimension, artifacts)


def _align(record: RunRecord, aliases: Aliases, dimension: str, artifacts: Mapping[str, int]) -> None:
    keys = facts_saying(dimension)
    texts = [record.facts[key].text.strip() for key in keys if key in record.facts]
    said = bool(texts)
    kept = record.facts.pop(PRINTED + dimension, None)
    problems: list[Problem] = []
    plain = record.configuration
    if said:
        plain = reading.with_processors(reading.configuration_of(record.facts, artifacts, problems), record)
    elif kept is not None:
        plain = with_value(plain, dimension, kept.text, aliases)
    value = plain.dimensions().get(dimension)
    text = printed_text(record.facts, dimension) if said else None
    text = text or (None if value is None else str(value)) or next(iter(texts), None)
    meaning = aliases.meaning(dimension, text)
    starts = tuple(f"{key}: " for key in keys)
    record.problems = [each for each in record.problems if not _is_about(each, starts)]
    if meaning is None:
        record.configuration = _with_same(record.configuration, plain, dimension)
        record.problems += [each for each in problems if _is_about(each, starts)]
        return
    record.configuration = with_value(record.configuration, dimension, meaning, aliases)
    if not said or dimension in COMPOSED:
        record.facts[PRINTED + dimension] = FactValue(text or "")


def _is_about(problem: Problem, starts: tuple[str, ...]) -> bool:
    return problem.code == reading.UNREADABLE and problem.message.startswith(starts)


_READERS: Mapping[str, Callable[[str], object]] = {"workload": parse_workload, **reading.WHOLE_NUMBERS}


def with_value(configuration: Configuration, dimension: str, text: str, aliases: Aliases) -> Configuration:
    """Return a configuration with another value. Raise ValueError for an unreadable one."""
    if dimension.startswith(FACTOR):
        return replace(configuration, factors={**configuration.factors, dimension.removeprefix(FACTOR): text})
    if dimension == "system":
        if text not in aliases.systems:
            raise ValueError(f"no system is called {text!r}")
        return replace(configuration, system=aliases.systems[text])
    # The dimension is one of the configuration's fields, since others can have no aliases.
    return replace(configuration, **{dimension: _READERS.get(dimension, str)(text)})  # type: ignore[arg-type]


def _with_same(configuration: Configuration, other: Configuration, dimension: str) -> Configuration:
    """Return a configuration with the other's value of one dimension."""
    if not dimension.startswith(FACTOR):
        return replace(configuration, **{dimension: getattr(other, dimension)})
    name = dimension.removeprefix(FACTOR)
    factors = {key: value for key, value in configuration.factors.items() if key != name}
    if name in other.factors:
        factors[name] = other.factors[name]
    return replace(configuration, factors=factors)
