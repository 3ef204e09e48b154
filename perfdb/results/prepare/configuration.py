"""The circumstances of a run: facts from all its files, and the experiment's dimensions that follow from them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from importers.model import Problem, RunDraft, Severity
from perfdb.analysis.dimensions import FACTOR, parse_bytes, parse_integer
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import Workload, workload_name
from perfdb.results.record import Configuration, FactValue, Origin, RunRecord, SystemIdentity, Value

# What a person may give when the files lack it, besides any ``factor.NAME``.
GIVEN_FACTS = (
    "workload",
    "request_bytes",
    "response_bytes",
    "device",
    "mtu",
    "users",
    "layer",
    "campaign",
    "level",
    "machine",
    "node",
    "memory",
    "processors",
)
PROCESSORS = Measure("processors", "lpar")

_T = TypeVar("_T")


def facts_of(
    draft: RunDraft, artifacts: Mapping[str, int], given: Mapping[str, str]
) -> tuple[dict[str, FactValue], list[Problem]]:
    """All circumstances; the driver's come first, and what a person gave only fills what no file says."""
    facts: dict[str, FactValue] = {}
    for fact in draft.facts:
        value = FactValue(fact.text, artifacts.get(fact.file, 0), fact.line)
        if facts.setdefault(fact.key, value).text != fact.text:
            facts.setdefault(f"{fact.key} ({fact.role}, {fact.file})", value)
    problems = []
    for key, text in given.items():
        if facts.setdefault(key, FactValue(text)).text != text:
            problems.append(_not_needed(draft.run_id, key, text, facts[key].text))
    return facts, problems


def _not_needed(run_id: str, key: str, given: str, printed: str) -> Problem:
    return Problem(
        Severity.NOTE,
        "given.not-needed",
        f"Run {run_id}: {key} was given as {given}, but the files say {printed}; the files count.",
        run_id=run_id,
    )


def configuration_of(
    facts: Mapping[str, FactValue], artifacts: Mapping[str, int], problems: list[Problem]
) -> Configuration:
    """The dimensions that the facts name; one that cannot be read is left out, with a problem."""
    reader = _Reader(facts, {artifact: file for file, artifact in artifacts.items()}, problems)
    think = reader.text("think_ms")
    factors = {key.removeprefix(FACTOR): fact.text for key, fact in facts.items() if key.startswith(FACTOR)}
    if think is not None and think.strip("0.") != "":
        # Pauses between transactions change what is measured; none is the rule and needs no dimension.
        factors["think_ms"] = think
    return Configuration(
        workload=reader.workload(),
        device=reader.text("device"),
        mtu=reader.converted("mtu", parse_bytes),
        users=reader.converted("users", parse_integer),
        layer=reader.converted("layer", parse_integer),
        campaign=reader.text("campaign") or "",
        level=reader.text("level") or reader.text("cp.level"),
        system=SystemIdentity(
            machine=reader.text("machine") or "",
            host=reader.text("node") or "",
            memory_bytes=reader.converted("memory", parse_bytes),
        ),
        factors=factors,
    )


def with_system(record: RunRecord) -> Configuration:
    """The configuration with its system's processors: as reported by the LPAR's capture, else as given."""
    given = record.facts.get("processors")
    if PROCESSORS not in record.values and given is not None and given.text.isdigit():
        record.values[PROCESSORS] = Value(float(given.text), Origin.GIVEN, given.text)
    reported = record.values.get(PROCESSORS)
    system = record.configuration.system or SystemIdentity()
    if reported is not None:
        system = replace(system, processors=int(reported.value))
    return replace(record.configuration, system=system if system.name else None)


class _Reader:
    """Reads facts as dimension values and collects what cannot be read."""

    def __init__(self, facts: Mapping[str, FactValue], files: Mapping[int, str], problems: list[Problem]) -> None:
        self._facts = facts
        self._files = files
        self._problems = problems

    def text(self, key: str) -> str | None:
        fact = self._facts.get(key)
        return fact.text.strip() or None if fact else None

    def converted(self, key: str, parse: Callable[[str], _T]) -> _T | None:
        text = self.text(key)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            self._refuse(key, str(error))
            return None

    def workload(self) -> Workload | None:
        pattern = self.text("workload")
        request = self.converted("request_bytes", parse_bytes)
        response = self.converted("response_bytes", parse_bytes)
        if pattern is None or request is None or response is None:
            return None
        try:
            workload_name(pattern, request, response)
        except ValueError as error:
            self._refuse("workload", str(error))
            return None
        return Workload(pattern.upper(), request, response)

    def _refuse(self, key: str, why: str) -> None:
        self._problems.append(
            Problem(
                Severity.WARNING,
                "run.dimension-unreadable",
                f"{key}: {why}; the run is stored without it.",
                f"Correct {key} in the file, or give it with the upload.",
                file=self._files.get(self._facts[key].artifact, ""),
                line=self._facts[key].line or None,
            )
        )
