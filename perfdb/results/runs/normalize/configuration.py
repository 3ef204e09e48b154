"""Circumstances of a run: facts of its files, and dimensions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from importers.collate.circumstances import ASSUMED, listed_keys
from importers.key_values import whole
from importers.model import Problem, ProblemLog, RunDraft
from importers.time_zones import utc_offset
from perfdb.analysis.dimensions import FACTOR, NUMBER_BOUNDS, NUMBERS, OPTIONS, parse_bytes, parse_integer
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import EXCHANGES, Workload, lacks_sizes, parse_pattern, parse_workload
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, SystemIdentity, Value

# The facts that a person may supply if the files lack them, besides any ``factor.NAME``.
GIVEN_FACTS = (
    *("workload", "request_bytes", "response_bytes", "device", *NUMBERS, "campaign", "level"),
    *("machine", "node", "memory", "processors"),
    *("roles", "client", "server", "client_cpus", "server_cpus", "utc_offset"),
)
UTC_OFFSET = "utc_offset"
PROCESSORS = Measure("processors", "lpar")

UNREADABLE = "run.dimension-unreadable"
"""Code of the problem of an unreadable dimension; its message begins with the fact's key."""

# The limits of the columns: integers of two, four and eight bytes, and names short enough for an index.
_INT2, _INT4, _INT8 = 2**15 - 1, 2**31 - 1, 2**63 - 1
_LONGEST = 200
_REMEMBERED = 1024


def _whole(text: str, parse: Callable[[str], str | int | None], least: int, most: int) -> int:
    """Return a whole number of this range. Raise ValueError for any other text."""
    value = parse(text)
    if not (isinstance(value, int) and least <= value <= most):
        raise ValueError(f"{text} is not between {least} and {most}")
    return value


def _read(parse: Callable[[str], str | int | None], least: int, most: int) -> Callable[[str], int]:
    """Return a cached reader of whole numbers of a range."""
    return lru_cache(_REMEMBERED)(partial(_whole, parse=parse, least=least, most=most))


_PROCESSORS = _read(parse_integer, 1, _INT4)
_MEMORY = _read(parse_bytes, 1, _INT8)
_MESSAGE = _read(parse_bytes, 0, _INT8)
WHOLE_NUMBERS: Mapping[str, Callable[[str], int]] = {
    name: _read(NUMBERS[name].parse, *bounds) for name, bounds in NUMBER_BOUNDS.items()
}
"""Readers of the dimensions that are whole numbers; each raises ValueError."""


_PREFIXED = re.compile(r"\d{1,15}[KMG]", re.IGNORECASE)
_IN_BYTES = frozenset({"message_bytes", "window", "receive_window"})
RUN_ID, TRIAL = "run_id", "trial"


def _name(text: str) -> str:
    """Return a name without outer blanks. Raise ValueError unless of 1 to 200 characters."""
    if not 0 < len(text.strip()) <= _LONGEST:
        raise ValueError(f"a name has 1 to {_LONGEST} characters")
    return text.strip()


def _processor_list(text: str) -> list[int]:
    """Return processor numbers separated by blanks. Raise ValueError otherwise."""
    return [_whole(word, parse_integer, 0, _INT2) for word in text.split()]


def _zone(text: str) -> str:
    """Return a known time zone. Raise ValueError otherwise."""
    if utc_offset(text) is None:
        raise ValueError(f"{text} is no time zone that is known, such as +02:00 or CEST")
    return text


GIVEN: Mapping[str, Callable[[str], Any]] = {
    **WHOLE_NUMBERS,
    RUN_ID: _name,
    TRIAL: partial(_whole, parse=parse_integer, least=1, most=_INT2),
    "workload": parse_workload,
    "request_bytes": _MESSAGE,
    "response_bytes": _MESSAGE,
    "processors": _PROCESSORS,
    "memory": _MEMORY,
    "client_cpus": _processor_list,
    "server_cpus": _processor_list,
    UTC_OFFSET: _zone,
}
"""Readers of facts supplied in a preview; each raises ValueError. Other facts are names."""


def check_given(key: str, text: str) -> None:
    """Raise ValueError with the accepted values for an invalid fact."""
    GIVEN.get(key, _name)(text)


def facts_of(
    draft: RunDraft, artifacts: Mapping[str, int], given: Mapping[str, str], log: ProblemLog
) -> dict[str, FactValue]:
    """Return the facts of a draft; ``log`` gets problems with supplied facts.

    Supplied facts fill gaps and replace unreadable dimensions; otherwise the files count.
    """
    facts: dict[str, FactValue] = {}
    for fact in draft.facts:
        value = FactValue(fact.text, artifacts.get(fact.file, 0), fact.line)
        # The window of a server's log is the server's own.
        key = "server.window" if (fact.key, fact.role) == ("window", "server") else fact.key
        if facts.setdefault(key, value).text != fact.text:
            facts.setdefault(f"{key} ({fact.role}, {fact.file})", value)
    users = _users(draft)
    if users is not None:
        facts["users"] = facts.get("users", FactValue(""))._replace(text=users)
    facts = _without_assumed(facts, given)
    if ASSUMED in facts:
        keys, _, why = facts[ASSUMED].text.partition(":")
        message = f"No file of run {draft.run_id} states {keys}: taken {why.strip()}."
        of_driver = replace(log, file=draft.driver.file if draft.driver else "")
        of_driver.note("run.assumed", message, "Upload what says it, or give it with the upload; that counts.")
    for key, text in given.items():
        if key in (RUN_ID, TRIAL):
            continue
        if key in facts and not _understood(facts, key):
            facts[f"{key} (not understood)"] = facts.pop(key)
        _note_needless(log, key, text, facts.setdefault(key, FactValue(text)).text)
    return facts


def _users(draft: RunDraft) -> str | None:
    """Return the users of several processes, one by default; None if unreadable, or for one log."""
    texts = [log.fact_text("users") or "1" for log in draft.logs] if draft.parts else []
    return str(sum(map(whole, texts))) if texts and all(text.isdecimal() for text in texts) else None


def _understood(facts: Mapping[str, FactValue], key: str) -> bool:
    """Return whether a fact could be read as its dimension, with all sizes; True for other facts."""
    if key not in {"workload", "device", "level", *WHOLE_NUMBERS}:
        return True
    value = configuration_of(facts, {}, []).dimensions().get(key)
    return value is not None and not (key == "workload" and lacks_sizes(value))


def run_name(
    draft: RunDraft, given: Mapping[str, str], facts: dict[str, FactValue], log: ProblemLog
) -> tuple[str, int]:
    """Return run ID and trial from the files, else as supplied, else trial 1."""
    run_id, trial = draft.run_id, draft.trial
    if RUN_ID in given:
        if any(fragment.run_id for fragment in draft.fragments):
            _note_needless(log, RUN_ID, given[RUN_ID], run_id)
        else:
            run_id = given[RUN_ID].strip()
            facts[RUN_ID] = FactValue(run_id)
    if TRIAL in given:
        if trial is not None:
            _note_needless(log, TRIAL, given[TRIAL], str(trial))
        else:
            trial = GIVEN[TRIAL](given[TRIAL])
            facts[TRIAL] = FactValue(given[TRIAL])
    return run_id, trial or 1


def _note_needless(log: ProblemLog, key: str, given: str, printed: str) -> None:
    if given != printed:
        message = f"Run {log.run_id}: {key} was given as {given}, but the files say {printed}; the files count."
        log.note("given.not-needed", message)


def _without_assumed(facts: dict[str, FactValue], given: Mapping[str, str]) -> dict[str, FactValue]:
    """Return the facts without an importer's assumptions that a person contradicts."""
    keys = listed_keys(facts[ASSUMED].text) if ASSUMED in facts else frozenset()
    dropped = {*keys, ASSUMED} if keys & given.keys() else frozenset()
    return {key: value for key, value in facts.items() if key not in dropped}


def configuration_of(
    facts: Mapping[str, FactValue], artifacts: Mapping[str, int], problems: list[Problem]
) -> Configuration:
    """Return the dimensions of the facts; an unreadable one becomes a problem."""
    reader = _Reader(facts, {artifact: file for file, artifact in artifacts.items()}, problems)
    factors = {key.removeprefix(FACTOR): fact.text for key, fact in facts.items() if key.startswith(FACTOR)}
    return Configuration(
        workload=reader.workload(),
        device=reader.text("device") or reader.text("driver"),
        campaign=reader.text("campaign") or "",
        level=reader.text("level") or reader.text("cp.level"),
        system=reader.system(),
        factors=factors | reader.options(),
        **{name: reader.whole(name, parse) for name, parse in WHOLE_NUMBERS.items()},
    )


def with_system(record: RunRecord) -> Configuration:
    """Return the configuration with its system's processors: the LPAR's, else the client's."""
    reader = _Reader(record.facts, {}, record.problems)
    given, reported = reader.whole("processors", _PROCESSORS), record.values.get(PROCESSORS)
    if reported is None and given is not None:
        reported = record.values[PROCESSORS] = Value(float(given), Origin.GIVEN, record.facts["processors"].text)
    elif reported is not None and given is not None and reported.value != given:
        _note_needless(record.log_of(), "processors", str(given), reported.printed)
    if (counted := _counted(record)) is not None and not 0 <= counted.value <= _INT4:
        message = f"processors: nothing has {counted.printed} processors; "
        message += "the run's system is stored without their number."
        record.log_of().warn(UNREADABLE, message, "Correct processors in the file.")
    return with_processors(record.configuration, record)


def with_processors(configuration: Configuration, record: RunRecord) -> Configuration:
    """Return a configuration with the number of processors that a record's values have."""
    counted = _counted(record)
    if counted is None or not 0 <= counted.value <= _INT4:
        return configuration
    system = replace(configuration.system or SystemIdentity(), processors=int(counted.value))
    return replace(configuration, system=system if system.name else None)


def _counted(record: RunRecord) -> Value | None:
    return record.values.get(PROCESSORS) or record.values.get(Measure(PROCESSORS.metric, "client"))


@dataclass(slots=True)
class _Reader:
    """Reader of facts as dimension values; collects problems of unreadable ones."""

    facts: Mapping[str, FactValue]
    files: Mapping[int, str]
    problems: list[Problem]

    def text(self, key: str) -> str | None:
        text = self.facts[key].text.strip() if key in self.facts else ""
        if len(text) > _LONGEST:
            self._refuse(key, f"{text[:20]}… has {len(text)} characters, and at most {_LONGEST} are taken")
            return None
        return text or None

    def whole(self, key: str, read: Callable[[str], int]) -> int | None:
        text = self.text(key)
        try:
            return None if text is None else read(text)
        except ValueError as error:
            self._refuse(key, str(error))
            return None

    def options(self) -> dict[str, str]:
        """Return the load tool's options that change the work; zero is the rule and needs no factor."""
        texts = {name: self.text(name) for name in OPTIONS & self.facts.keys()}
        return {
            # Sizes such as 8K are in bytes; with a unit as printed, since the tool decides the meaning.
            name: str(parse_bytes(text)) if name in _IN_BYTES and _PREFIXED.fullmatch(text) else text
            for name, text in texts.items()
            if text and text.strip("0.")
        }

    def system(self) -> SystemIdentity | None:
        """Return the system without its processors; None if unknown."""
        machine = self.text("machine") or self.text("cpu_model") or self.text("architecture") or ""
        host, memory_bytes = self.text("node") or "", self.whole("memory", _MEMORY)
        return SystemIdentity(machine, host, None, memory_bytes) if machine or host or memory_bytes else None

    def workload(self) -> Workload | None:
        pattern = self.text("workload")
        request = self.whole("request_bytes", _MESSAGE)
        response = self.whole("response_bytes", _MESSAGE)
        if pattern is None:
            return None
        try:
            if not self.facts["workload"].line and not {"request_bytes", "response_bytes"} & self.facts.keys():
                # A person, or the study's pattern of run ids, names the dimension's value, not a log's pattern.
                return parse_workload(pattern)
            if request is None or response is None:
                return _partly_sized(pattern, request, response)
            return _workload(pattern, request, response)
        except ValueError as error:
            self._refuse("workload", str(error))
            return None

    def _refuse(self, key: str, why: str) -> None:
        log = ProblemLog(self.files.get(self.facts[key].artifact, ""), problems=self.problems)
        message = f"{key}: {why}; the run is stored without it."
        remedy = f"Correct {key} in the file, or give it with the upload."
        log.warn(UNREADABLE, message, remedy, self.facts[key].line or None)


@lru_cache(_REMEMBERED)
def _workload(pattern: str, request: int, response: int) -> Workload:
    return Workload(parse_pattern(pattern), request, response)


def _partly_sized(text: str, request: int | None, response: int | None) -> Workload:
    """Return a log's workload; the sizes of RR and CRR are unknown, never the well-known ones."""
    workload = parse_workload(text)
    bare = workload.pattern == text.strip().upper()
    return Workload(workload.pattern, request, response) if bare and workload.pattern in EXCHANGES else workload
