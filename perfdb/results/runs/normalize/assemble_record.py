"""Assembly of a record from a draft: configuration, values, counters, traces, checks, status."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from importers import run_records
from importers.collate.snapshot_pairs import name_roles
from importers.model import Problem, ProblemLog, RunDraft, Severity, Status
from importers.run_records import TAGS
from importers.time_zones import to_utc
from perfdb.results.runs.normalize import configuration, record_values, run_checks
from perfdb.results.runs.normalize.alias_dimensions import NONE, Aliases, align
from perfdb.results.runs.normalize.configuration import UTC_OFFSET
from perfdb.results.runs.normalize.monitor_reports import add_reports
from perfdb.results.runs.record import FactValue, RunRecord


@dataclass(frozen=True, slots=True)
class Context:
    """Files' artifacts, supplied facts, time received, problems of reading, and aliases for a record."""

    artifacts: Mapping[str, int]
    given: Mapping[str, str]
    received: datetime
    problems: Sequence[Problem] = ()
    aliases: Aliases = NONE


def prepare(draft: RunDraft, context: Context) -> RunRecord:
    """Return the record of a draft, checked but without derived values."""
    name_roles(draft, context.given)
    problems = ProblemLog("", draft.run_id)
    facts = configuration.facts_of(draft, context.artifacts, context.given, problems)
    run_id, trial = configuration.run_name(draft, context.given, facts, problems)
    found = context.problems if isinstance(context.problems, FoundProblems) else FoundProblems(context.problems)
    record = RunRecord(
        run_id=run_id,
        trial=trial,
        status=log.status if (log := draft.driver or draft.peer) else Status.INCOMPLETE,
        started=_started(draft, facts, problems) or context.received,
        configuration=configuration.configuration_of(facts, context.artifacts, problems.problems),
        facts=facts,
        problems=[*found.for_run(draft), *draft.problems, *problems.problems],
        fragments=draft.fragments,
        tags=_tags(draft),
        has_driver=draft.driver is not None,
        is_named=draft.is_named or configuration.RUN_ID in context.given,
    )
    record_values.add_values(record, draft, context.artifacts)
    record_values.add_traces(record, draft, context.artifacts)
    record.counters = record_values.counters_of(record, draft, context.artifacts)
    shares = add_reports(record, draft, context.artifacts)
    record.configuration = configuration.with_system(record)
    align(record, context.aliases, context.aliases.dimensions, context.artifacts)
    run_checks.check(record, draft)
    record.refused = _refused(record, draft)
    # Not before the checks: a report's CPU seconds are no pair of snapshots.
    record.counters += shares
    if not record.has_driver and not record.refused:
        _note_lacking_driver(record, is_server=draft.peer is not None)
    return record


def _started(draft: RunDraft, facts: Mapping[str, FactValue], problems: ProblemLog) -> datetime | None:
    """Return the start of a run in UTC; report a local time whose zone is not known, and return None.

    The time in the driver's log counts; without one, the earliest time in the other files. A zone that no file prints
    may be supplied as ``utc_offset``.
    """
    timed = [fragment for fragment in draft.fragments if fragment.taken is not None]
    if draft.driver is not None and draft.driver.taken is not None:
        timed = [draft.driver]
    given = facts[UTC_OFFSET].text if UTC_OFFSET in facts else ""
    moments = [to_utc(each.taken, each.zone) or to_utc(each.taken, given) for each in timed if each.taken]
    known = [moment for moment in moments if moment is not None]
    if timed and not known:
        log = timed[0]
        zone = f"in the time zone {log.zone}, which is not known" if log.zone else "without a time zone"
        message = (
            f"The time {log.taken:%Y-%m-%d %H:%M:%S} of run {draft.run_id} is printed {zone}: the start is left open."
        )
        remedy = f"Give {UTC_OFFSET} (such as +02:00) with the upload, or in a manifest."
        severity = Severity.WARNING if log.zone else Severity.NOTE
        problem = Problem(severity, "run.zone-unknown", message, remedy, log.file, log.first_line, draft.run_id)
        problems.problems.append(problem)
    return min(known).replace(tzinfo=UTC) if known else None


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


def _note_lacking_driver(record: RunRecord, *, is_server: bool) -> None:
    missing = f"Run {record.run_id} has no log of the load driver yet: no throughput and no CPU per transaction."
    if is_server:
        missing = f"Of run {record.run_id} there is only the server's log: its figures are the server's (role server)."
    remedy = "Upload the driver's log of this run; it joins what is stored."
    record.log_of(record.fragments[0].file).note("run.no-driver-log", missing, remedy)


class FoundProblems(tuple[Problem, ...]):
    """Problems of reading files in order, with indexes, since a file may have thousands of problems."""

    def for_run(self, draft: RunDraft) -> list[Problem]:
        """Return the problems that name this run or are in its lines.

        Errors are left out: an error is about content that could not be read, such as another trial in the file.
        """
        naming, standing = self._indexes
        places: set[int] = set()
        for fragment in draft.fragments:
            places.update(naming.get((fragment.file, draft.run_id), ()))
            lines = standing.get(fragment.file, [])
            first, end = bisect_left(lines, (fragment.first_line, 0)), bisect_left(lines, (fragment.last_line + 1, 0))
            places.update(place for _, place in lines[first:end])
        return [self[place] for place in sorted(places)]

    @cached_property
    def _indexes(self) -> tuple[dict[tuple[str, str], list[int]], dict[str, list[tuple[int, int]]]]:
        """Return the places of problems by file and named run; and sorted by file, lines and places of the others."""
        naming: dict[tuple[str, str], list[int]] = defaultdict(list)
        standing: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, problem in enumerate(self):
            if problem.severity is Severity.ERROR:
                continue
            if problem.run_id is not None:
                naming[problem.file, problem.run_id].append(place)
            elif problem.line is not None:
                standing[problem.file].append((problem.line, place))
        return naming, {file: sorted(places) for file, places in standing.items()}
