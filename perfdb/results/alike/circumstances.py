"""The circumstances of runs: worked out once for all runs of whose logs the same is said."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from importers import run_records
from importers.collate import assumed
from importers.model import Fragment, Problem
from importers.packed import Facts
from importers.report.listing import LOST
from importers.run_records.record import TAGS
from perfdb.analysis.formulas import SERIES, RunFigures
from perfdb.analysis.metrics import Measure
from perfdb.results.runs.derive import fact_number, figures_of
from perfdb.results.runs.normalize import configuration as reading
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, Value

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
    kind: int
    """Equal for runs of an upload whose figures can be worked out together: workload and pauses are the same."""


class _Values(dict[str, FactValue]):
    """The values of facts in the first line of a file, by their texts: many runs say the same."""

    def __init__(self, artifact: int) -> None:
        self._artifact = artifact

    def __missing__(self, text: str) -> FactValue:
        found = self[text] = FactValue(text, self._artifact, 1)
        return found


@dataclass(slots=True)
class Known:
    """The circumstances of an upload's runs; ``artifacts`` numbers their files, by which their facts are told apart."""

    artifacts: Mapping[str, int]
    _found: dict[Hashable, Circumstances] = field(default_factory=dict)
    _values: dict[int, _Values] = field(default_factory=dict)
    _kinds: dict[Hashable, int] = field(default_factory=dict)

    def of(self, fragment: Fragment, counts: Counts) -> tuple[Circumstances, Sequence[int]]:
        """The circumstances of a run, and the lines that say them."""
        facts = fragment.facts
        said: Hashable
        if isinstance(facts, Facts):
            keys, said, lines = facts.keys, facts.text, list(facts.lines)
        else:
            keys, said = tuple([each.key for each in facts]), tuple([each.text for each in facts])
            lines = [each.line for each in facts]
        asked = (fragment.file, fragment.format, keys, said, counts, all(lines))
        found = self._found.get(asked)
        if found is None:
            found = self._found[asked] = self._new(fragment, keys, counts, have_lines=all(lines))
        return found, lines

    def _facts(self, fragment: Fragment, keys: Sequence[str]) -> dict[str, FactValue]:
        facts, artifact = fragment.facts, self.artifacts[fragment.file]
        texts = facts.texts if isinstance(facts, Facts) else [each.text for each in facts]
        values = self._values.setdefault(artifact, _Values(artifact))
        return dict(zip(keys, map(values.__getitem__, texts), strict=True))

    def _new(self, fragment: Fragment, keys: tuple[str, ...], counts: Counts, *, have_lines: bool) -> Circumstances:
        facts = self._facts(fragment, keys)
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
        odd = bool(problems) or several or len(facts) < len(keys) or _are_odd(keys)
        mb_bytes = int(fact_number(record, _MEGABYTE) or 2**20)
        return Circumstances(
            known,
            facts,
            figures,
            given if given is not None and given.origin is Origin.GIVEN else None,
            mb_bytes,
            _tags(fragment, facts),
            odd or mb_bytes != 2**20 or not have_lines,
            # Asked for again and again, and a number is sooner compared.
            self._kinds.setdefault(_kind(figures, known), len(self._kinds)),
        )


# Many runs have the same facts.
@lru_cache(1024)
def _are_odd(keys: tuple[str, ...]) -> bool:
    return any(key.partition("@")[0] in _ODD for key in keys)


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
