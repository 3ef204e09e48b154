"""Fragments to run drafts: which log, which snapshots and which reports belong to one run.

Fragments are joined by the run id in their content, else by a run id in the file or folder name, else by
overlapping time on the same hosts. What stays ambiguous is a problem and is left out, never guessed.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from importers.collate.names import RunIdPattern, apply_pattern, compile_pattern, run_id_in_name
from importers.collate.pairs import pair_up
from importers.collate.times import choose_by_time, choose_by_time_and_host
from importers.model import Fragment, Kind, Problem, Reading, RunDraft, Severity, SourcedFact

LONGEST_NAME = 200
"""How many characters a run id, role, host or adapter may have."""

_CHOOSE = "Choose the run by hand, or put its run id into the file or its name."


@dataclass(slots=True)
class Collated:
    """The drafts, in the order of their first files, and the problems that belong to no draft."""

    drafts: list[RunDraft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def collate(fragments: Iterable[Fragment], pattern: RunIdPattern | None = None) -> Collated:
    """Put fragments together to runs; a run's identity is (run id, trial).

    Two client logs of one identity with different content make two drafts. A run id's pattern fills dimensions
    that the log lacks. Drafts may have snapshots only.
    """
    problems: list[Problem] = []
    compiled = compile_pattern(pattern, problems)
    usable = [fragment for fragment in fragments if _has_usable_names(fragment, problems)]
    known = {fragment.run_id.casefold(): fragment.run_id for fragment in usable if fragment.run_id}
    bench = _Bench(known, compiled, problems)
    ordered = bench.without_duplicates(usable)
    for kind in (_is_client, _is_peer, _is_evidence):
        for fragment in filter(kind, ordered):
            bench.place(fragment)
    bench.place_by_time()
    collated = Collated(problems=problems)
    position = {id(fragment): index for index, fragment in enumerate(ordered)}
    for seat in sorted(bench.seats, key=lambda seat: min(position[id(each)] for each in seat.members)):
        pair_up(seat.draft, [each for each in seat.members if each.kind is Kind.SNAPSHOT])
        if seat.draft.fragments:
            seat.draft.facts = _merged_facts(seat.draft)
            apply_pattern(compiled, pattern, seat.draft)
            collated.drafts.append(seat.draft)
        else:
            problems.extend(seat.draft.problems)
    return collated


def content_digest(fragment: Fragment) -> str:
    """A digest of what a fragment says, whatever its file is called, wherever in it the lines stand."""
    counted = {
        "format": fragment.format,
        "kind": fragment.kind,
        "run": [fragment.run_id, fragment.trial, fragment.role, fragment.phase, fragment.host],
        "time": [str(fragment.taken), str(fragment.ended), fragment.zone, fragment.status],
        "facts": sorted([fact.key, fact.text] for fact in fragment.facts),
        "readings": sorted(map(_content, fragment.readings)),
        "counters": sorted(map(_content, fragment.counters)),
        "listings": [[each.name, each.columns, each.rows] for each in fragment.listings],
    }
    text = json.dumps(counted, sort_keys=True, ensure_ascii=False)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _content(reading: Reading) -> list[str]:
    return [reading.role, reading.subject, reading.name, reading.text, reading.unit]


def _is_client(fragment: Fragment) -> bool:
    return fragment.kind is Kind.DRIVER and fragment.role != "server"


def _is_peer(fragment: Fragment) -> bool:
    return fragment.kind is Kind.DRIVER and fragment.role == "server"


def _is_evidence(fragment: Fragment) -> bool:
    return fragment.kind is not Kind.DRIVER


def _has_usable_names(fragment: Fragment, problems: list[Problem]) -> bool:
    """Whether run id, role, host and adapters are names; a longer text is none, and no database could index it."""
    names = (fragment.run_id, fragment.role, fragment.host, *(each.subject for each in fragment.counters))
    longest = max((name for name in names if name), key=len, default="")
    if len(longest) <= LONGEST_NAME:
        return True
    message = f"{longest[:20]}… has {len(longest)} characters; a run id or name has at most {LONGEST_NAME}."
    remedy = "Correct the file, or transfer it again."
    about = (fragment.file, fragment.first_line, (fragment.run_id or "")[:LONGEST_NAME] or None)
    problems.append(Problem(Severity.ERROR, "collate.long-name", message, remedy, *about))
    return False


def _duplicate(fragment: Fragment, known: Fragment) -> Problem:
    message = f"This says the same as {known.file}, line {known.first_line}; it was counted once."
    return _about(fragment, Severity.NOTE, "collate.duplicate", message)


def _about(fragment: Fragment, severity: Severity, code: str, message: str, remedy: str = "") -> Problem:
    return Problem(severity, code, message, remedy, fragment.file, fragment.first_line, fragment.run_id)


def _merged_facts(draft: RunDraft) -> list[SourcedFact]:
    """All facts of a draft's fragments, driver first; the same statement once."""
    facts: dict[tuple[str, str], SourcedFact] = {}
    for each in draft.fragments:
        for fact in each.facts:
            sourced = SourcedFact(fact.key, fact.text, each.file, fact.line, each.role)
            facts.setdefault((fact.key, fact.text), sourced)
    return list(facts.values())


@dataclass(slots=True)
class _Seat:
    """A draft in the making and the fragments placed there."""

    draft: RunDraft
    members: list[Fragment]


@dataclass(slots=True)
class _Bench:
    """Where drafts are put together: by run id at once, what has none by time when the others are placed."""

    known: dict[str, str]
    pattern: re.Pattern[str] | None
    problems: list[Problem]
    seats: list[_Seat] = field(default_factory=list)
    by_run: dict[str, list[_Seat]] = field(default_factory=dict)
    waiting: list[Fragment] = field(default_factory=list)

    def without_duplicates(self, fragments: Iterable[Fragment]) -> list[Fragment]:
        """The fragments, each content once for each run: files in the folders of two runs may well be equal."""
        first: dict[tuple[str, str | None], Fragment] = {}
        for fragment in fragments:
            known = first.setdefault((content_digest(fragment), self._run_id(fragment)), fragment)
            if known is not fragment:
                self.problems.append(_duplicate(fragment, known))
        return list(first.values())

    def _run_id(self, fragment: Fragment) -> str | None:
        return fragment.run_id or run_id_in_name(fragment, self.known, self.pattern)

    def place(self, fragment: Fragment) -> None:
        """Put a fragment to its run by the run id in its content or name, else keep it waiting."""
        run_id = self._run_id(fragment)
        if run_id is None:
            self.waiting.append(fragment)
            return
        if _is_client(fragment):
            seat = self._open(run_id, fragment)
        else:
            found = self._seat_of(run_id, fragment)
            if found is None:
                return
            seat = found
        self._take(seat, fragment)
        if fragment.run_id is None:
            message = f"The run id {run_id} was taken from the file's name."
            problem = _about(fragment, Severity.NOTE, "collate.run-id-from-name", message)
            seat.draft.problems.append(problem)

    def place_by_time(self) -> None:
        """Join what has no run id by time and host; each fragment placed may name hosts that place another."""
        progress = True
        while progress and self.waiting:
            placed = [fragment for fragment in self.waiting if self._join(fragment)]
            done = set(map(id, placed))
            self.waiting = [fragment for fragment in self.waiting if id(fragment) not in done]
            progress = bool(placed)
        for fragment in self.waiting:
            message = "Nothing tells which run this belongs to: no run id in it or its name, no run at its time."
            self.problems.append(_about(fragment, Severity.ERROR, "collate.no-run", message, _CHOOSE))

    def _open(self, run_id: str, fragment: Fragment) -> _Seat:
        seat = _Seat(RunDraft(run_id, fragment.trial), [])
        self.seats.append(seat)
        self.by_run.setdefault(run_id, []).append(seat)
        return seat

    def _take(self, seat: _Seat, fragment: Fragment) -> None:
        seat.members.append(fragment)
        if _is_client(fragment):
            seat.draft.driver = fragment
        elif _is_peer(fragment):
            seat.draft.peer = fragment
        elif fragment.kind is Kind.REPORT:
            seat.draft.reports.append(fragment)

    def _seat_of(self, run_id: str, fragment: Fragment) -> _Seat | None:
        """The one draft of this run id that a fragment belongs to; None after reporting that none can be told."""
        fitting = [seat for seat in self.by_run.get(run_id, ()) if _may_join(seat.draft, fragment)]
        if not fitting:
            return self._open(run_id, fragment)
        if len(fitting) == 1:
            return fitting[0]
        chosen = choose_by_time(fragment, [seat.draft for seat in fitting])
        if len(chosen) == 1:
            return next(seat for seat in fitting if seat.draft is chosen[0])
        trials = {seat.draft.trial for seat in fitting if not chosen or seat.draft in chosen}
        if len(trials) == 1 and chosen:
            first = next(seat for seat in fitting if seat.draft is chosen[0])
            message = f"Two logs of run {run_id} differ; this was put to {_log_name(first.draft)}."
            first.draft.problems.append(_about(fragment, Severity.WARNING, "collate.two-logs", message, _CHOOSE))
            return first
        message = f"Run {run_id} has {len(fitting)} logs, and the time does not tell which one this belongs to."
        self.problems.append(_about(fragment, Severity.ERROR, "collate.ambiguous", message, _CHOOSE))
        return None

    def _join(self, fragment: Fragment) -> bool:
        members = [seat.members for seat in self.seats]
        chosen = choose_by_time_and_host(fragment, [seat.draft for seat in self.seats], members)
        if len(chosen) != 1 or not _may_join(chosen[0], fragment):
            return False
        seat = next(seat for seat in self.seats if seat.draft is chosen[0])
        known = next((each for each in seat.members if content_digest(each) == content_digest(fragment)), None)
        if known is not None:
            seat.draft.problems.append(_duplicate(fragment, known))
            return True
        self._take(seat, fragment)
        message = f"This names no run; it was put to run {seat.draft.run_id} by its time and host."
        seat.draft.problems.append(_about(fragment, Severity.NOTE, "collate.joined-by-time", message))
        return True


def _may_join(draft: RunDraft, fragment: Fragment) -> bool:
    """Whether a draft has room for a fragment: the same trial, where one is said, and one log of each side."""
    if fragment.trial is not None and draft.trial is not None and fragment.trial != draft.trial:
        return False
    return not ((_is_client(fragment) and draft.driver is not None) or (_is_peer(fragment) and draft.peer is not None))


def _log_name(draft: RunDraft) -> str:
    return draft.driver.file if draft.driver else draft.run_id
