"""Assembly of a record from a draft: configuration, values, counters, traces, checks, status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from importers.collate.snapshot_pairs import name_roles
from importers.model import Problem, RunDraft, Severity, Status
from importers.run_records import log as run_records
from importers.run_records.log import TAGS
from perfdb.results.runs.normalize import configuration, record_values, run_checks
from perfdb.results.runs.normalize.alias_dimensions import NONE, Aliases, align
from perfdb.results.runs.normalize.monitor_reports import add_reports
from perfdb.results.runs.normalize.reading_problems import FoundProblems
from perfdb.results.runs.record import RunRecord, resolve_zone


@dataclass(frozen=True, slots=True)
class Context:
    """Data that a record needs besides the draft.

    The artifact of each file, facts that a person supplied, the time received, problems of reading, and the study's
    aliases.
    """

    artifacts: Mapping[str, int]
    given: Mapping[str, str]
    received: datetime
    problems: Sequence[Problem] = ()
    aliases: Aliases = NONE


def prepare(draft: RunDraft, context: Context) -> RunRecord:
    """Return the record of a draft, checked but without derived values."""
    name_roles(draft, context.given)
    facts, problems = configuration.facts_of(draft, context.artifacts, context.given)
    run_id, trial = configuration.run_name(draft, context.given, facts, problems)
    record = RunRecord(
        run_id=run_id,
        trial=trial,
        status=draft.driver.status if draft.driver else Status.INCOMPLETE,
        started=_started(draft, context.received),
        configuration=configuration.configuration_of(facts, context.artifacts, problems),
        facts=facts,
        problems=[*_found(context.problems).for_run(draft), *draft.problems, *problems],
        fragments=draft.fragments,
        tags=_tags(draft),
        has_driver=draft.driver is not None,
    )
    record_values.add_values(record, draft, context.artifacts)
    record_values.add_traces(record, draft, context.artifacts)
    record.counters = record_values.counters_of(draft, context.artifacts, record.problems)
    shares = add_reports(record, draft, context.artifacts)
    record.configuration = configuration.with_system(record)
    align(record, context.aliases, context.aliases.dimensions, context.artifacts)
    run_checks.check(record, draft)
    record.refused = _refused(record, draft)
    # Not before the checks: a report's CPU seconds are no pair of snapshots.
    record.counters += shares
    if not record.has_driver and not record.refused:
        record.problems.append(_no_driver(record))
    return record


def _found(problems: Sequence[Problem]) -> FoundProblems:
    return problems if isinstance(problems, FoundProblems) else FoundProblems(problems)


def _started(draft: RunDraft, received: datetime) -> datetime:
    """Return the start of a run as a time with zone.

    The time in the driver's log counts; without one, the earliest time in the other files, else the time received.
    """
    if draft.driver is not None and draft.driver.taken is not None:
        return resolve_zone(draft.driver.taken, draft.driver.zone)
    moments = [resolve_zone(f.taken, f.zone) for f in draft.fragments if f.taken is not None]
    return min(moments, default=received)


def _tags(draft: RunDraft) -> list[str]:
    """Return the tags of a JSON run record; in other formats tags remain facts."""
    said = draft.driver.facts if draft.driver is not None and draft.driver.format == run_records.NAME else ()
    return list(dict.fromkeys(word.lower() for fact in said if fact.key == TAGS for word in fact.text.split()))


def _refused(record: RunRecord, draft: RunDraft) -> bool:
    """Return whether a driver's log contradicts itself, or snapshots alone have no usable pair."""
    if draft.driver is not None:
        return any(p.severity == Severity.ERROR and p.file == draft.driver.file for p in record.problems)
    whole = [each for each in record.counters if each.before_artifact and each.after_artifact]
    return bool(whole) and not any(counters.usable for counters in record.counters)


def _no_driver(record: RunRecord) -> Problem:
    return Problem(
        Severity.NOTE,
        "run.no-driver-log",
        f"Run {record.run_id} has no log of the load driver yet: no throughput and no CPU per transaction.",
        "Upload the driver's log of this run; it joins what is stored.",
        file=record.fragments[0].file,
        run_id=record.run_id,
    )
