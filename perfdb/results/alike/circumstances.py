"""The circumstances of runs: worked out once for all runs of whose logs the same is said."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from importers import run_records
from importers.collate import assumed
from importers.model import Fragment, Problem
from importers.packed import Facts
from importers.report.listing import LOST
from importers.run_records.record import TAGS
from perfdb.analysis.formulas import SERIES, RunFigures
from perfdb.analysis.metrics import Measure
from perfdb.results.derivation import fact_number, figures_of
from perfdb.results.prepare import configuration as reading
from perfdb.results.prepare.configuration import PROCESSORS
from perfdb.results.record import Configuration, FactValue, Origin, RunRecord, Value

# What only somebody who looks at the very run can read: other files, or a person, may say otherwise.
_ODD = frozenset({assumed.KEY, LOST, "client_cpus", "server_cpus", *SERIES})
_MEGABYTE = "mb_bytes"
_NEVER = datetime.min
COUNTED = (PROCESSORS, Measure(PROCESSORS.metric, "client"))
"""The measures that say how many processors a system has."""

Counts = tuple[float | None, ...]
"""What a run's log says of them."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What follows from the facts of a log alone.

    ``figures``: the run as formulas see it, without its figures. ``processors``: those that a fact says. ``odd``:
    something has to be looked at, and is not here.
    """

    configuration: Configuration
    facts: Mapping[str, FactValue]
    figures: RunFigures
    processors: Value | None
    mb_bytes: int
    tags: list[str]
    odd: bool
    kind: Hashable
    """Equal for runs whose figures can be worked out together."""


@dataclass(slots=True)
class Known:
    """The circumstances of an upload's runs; ``artifacts`` names each file's artifact."""

    artifacts: Mapping[str, int]
    _found: dict[Hashable, Circumstances] = field(default_factory=dict)

    def of(self, fragment: Fragment, counts: Counts) -> tuple[Circumstances, Sequence[int]]:
        """The circumstances of a run, and the lines that say them."""
        facts = fragment.facts
        if isinstance(facts, Facts):
            keys, texts, lines = facts.keys, tuple(facts.texts), list(facts.lines)
        else:
            keys, texts = tuple([each.key for each in facts]), tuple([each.text for each in facts])
            lines = [each.line for each in facts]
        asked = (fragment.file, fragment.format, keys, texts, counts, all(lines))
        found = self._found.get(asked)
        if found is None:
            found = self._found[asked] = self._new(fragment, keys, texts, counts, have_lines=all(lines))
        return found, lines

    def _new(
        self, fragment: Fragment, keys: Sequence[str], texts: Sequence[str], counts: Counts, *, have_lines: bool
    ) -> Circumstances:
        artifact = self.artifacts[fragment.file]
        facts = {key: FactValue(text, artifact, 1) for key, text in zip(keys, texts, strict=True)}
        values = {
            measure: Value(value, Origin.REPORTED)
            for measure, value in zip(COUNTED, counts, strict=True)
            if value is not None
        }
        problems: list[Problem] = []
        known = reading.configuration_of(facts, self.artifacts, problems)
        record = RunRecord("", 1, "", _NEVER, known, values, facts=facts, problems=problems)
        known = record.configuration = reading.with_system(record)
        figures, given = figures_of(record), record.values.get(PROCESSORS)
        several = any(len(numbers) > 1 for numbers in figures.facts.values())
        odd = bool(problems) or several or len(facts) < len(keys) or any(map(_is_odd, facts))
        mb_bytes = int(fact_number(record, _MEGABYTE) or 2**20)
        return Circumstances(
            known,
            facts,
            figures,
            given if given is not None and given.origin is Origin.GIVEN else None,
            mb_bytes,
            _tags(fragment, facts),
            odd or mb_bytes != 2**20 or not have_lines,
            _kind(figures, known),
        )


def _is_odd(key: str) -> bool:
    return key.partition("@")[0] in _ODD


def _tags(fragment: Fragment, facts: Mapping[str, FactValue]) -> list[str]:
    """The words that run records give a run."""
    said = facts[TAGS].text if fragment.format == run_records.NAME and TAGS in facts else ""
    return list(dict.fromkeys(word.lower() for word in said.split()))


def _kind(figures: RunFigures, known: Configuration) -> Hashable:
    return (
        (figures.pattern, figures.request_bytes, figures.response_bytes, known.workload),
        (figures.users is None, figures.think_ms, figures.system_processors),
        (figures.one_host, figures.of_processes, frozenset(figures.facts)),
    )
