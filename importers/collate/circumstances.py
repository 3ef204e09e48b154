"""Circumstances of a run: rows of manifests, and facts that importers assume.

Contradictions between manifests and logs are reported; assumed facts give way to stated ones.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from importers.collate.run_ids import same_value
from importers.collate.time_matching import about
from importers.model import Fact, Fragment, Problem, RunDraft, Severity, SourcedFact

UNUSED_ROWS = "collate.rows-left-over"
"""Code of the problem that rows name runs without logs."""

_SHOWN = 5


def add_circumstances(draft: RunDraft, rows: Mapping[str, Sequence[Fragment]]) -> None:
    """Add the rows that fit a draft, without contradictory ones."""
    stated = {fact.key: fact.text for fact in draft.facts if not fact.of_host}
    own = rows.get(draft.run_id.casefold(), ())
    fitting = [row for row in own if _fits(row, draft, stated)]
    fitting = [row for row in fitting if not _contradictions(row, draft)] or fitting
    if not _agree(fitting):
        message = f"{len(fitting)} rows of manifests fit run {draft.run_id}; none of them was used."
        remedy = "Add a column that tells them apart, such as tool or trial."
        draft.problems.append(about(fitting[0], Severity.WARNING, "collate.two-rows", message, remedy))
        return
    for row in fitting:
        draft.circumstances.append(row)
        draft.trial = draft.trial or row.trial
        draft.problems.extend(_contradictions(row, draft))
        draft.problems.extend(_failure(row, draft))
        draft.facts = drop_assumed(draft.facts, [fact.key for fact in row.facts])
        known = {fact.key for fact in draft.facts}
        draft.facts += [SourcedFact(f.key, f.text, row.file, f.line) for f in row.facts if f.key not in known]


def unused_rows(rows: Mapping[str, Sequence[Fragment]], drafts: Iterable[RunDraft]) -> list[Fragment]:
    """Return the rows that belong to no draft."""
    used = {id(row) for draft in drafts for row in draft.circumstances}
    return [row for own in rows.values() for row in own if id(row) not in used]


class UnusedRows:
    """Rows of runs without logs: number by manifest, and examples."""

    def __init__(self, rows: Iterable[Fragment] = ()) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, list[tuple[int, str]]] = {}
        self.add(rows)

    def add(self, rows: Iterable[Fragment]) -> None:
        """Count rows, and keep the first of each manifest as examples."""
        for row in rows:
            first = self._first.setdefault(row.file, [])
            self._counts[row.file] += 1
            if len(first) < _SHOWN:
                first.append((row.first_line, str(row.run_id)))

    @property
    def problems(self) -> list[Problem]:
        """Return one problem for each manifest."""
        found = []
        for file, first in self._first.items():
            count = self._counts[file]
            names = ", ".join(run_id for _, run_id in first)
            more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
            were = f"{count} rows were" if count > 1 else "One row was"
            message = f"{were} not used, for no log of such a run is among these files: {names}{more}."
            remedy = "Upload the manifest together with the logs, or after them."
            found.append(Problem(Severity.NOTE, UNUSED_ROWS, message, remedy, file, first[0][0]))
        return found


def _fits(row: Fragment, draft: RunDraft, stated: Mapping[str, str]) -> bool:
    """Return whether a row is about this run: trial and factors do not differ."""
    if row.trial is not None and draft.trial is not None and row.trial != draft.trial:
        return False
    factors = (fact for fact in row.facts if fact.key.startswith("factor."))
    return all(same_value(fact.text, stated.get(fact.key, fact.text)) for fact in factors)


def _agree(rows: Sequence[Fragment]) -> bool:
    """Return whether all rows, also of different manifests, agree in common keys."""
    said: dict[str, str] = {}
    for row in rows:
        facts = {fact.key: fact.text for fact in row.facts}
        values = {"trial": row.trial, "start": row.taken, "end": row.ended, **facts}
        texts = {key: str(value) for key, value in values.items() if value is not None}
        if not all(same_value(text, said.setdefault(key, text)) for key, text in texts.items()):
            return False
    return True


def _failure(row: Fragment, draft: RunDraft) -> list[Problem]:
    """Report an exit status of the run's command other than 0."""
    status = next((fact for fact in row.facts if fact.key == "exit_status"), None)
    if status is None or not status.text.strip("0"):
        return []
    message = f"The command of run {draft.run_id} ended with exit status {status.text}."
    remedy = "See in its log what failed and whether the figures are whole."
    return [Problem(Severity.WARNING, "collate.exit-status", message, remedy, row.file, status.line, draft.run_id)]


def _contradictions(row: Fragment, draft: RunDraft) -> list[Problem]:
    """Report values (not users of several processes) other than the logs', which win."""
    certain = drop_assumed(draft.facts, [fact.key for fact in row.facts])
    found = []
    for fact in row.facts:
        said = next((each for each in certain if each.key == fact.key), None)
        if said is None or same_value(fact.text, said.text) or (draft.parts and fact.key == "users"):
            continue
        message = f"The manifest says {fact.key} {fact.text} of run {draft.run_id}, but {said.file} says {said.text}."
        problem = about(row, Severity.WARNING, "collate.manifest", message, "Correct the manifest; the log counts.")
        found.append(problem._replace(run_id=draft.run_id))
    return found


ASSUMED = "assumed"
"""Key of a fact that lists assumed keys and the reason: ``workload, message_bytes: from the profile's name``."""


_F = TypeVar("_F", Fact, SourcedFact)


def listed_keys(text: str) -> frozenset[str]:
    """Return the keys that the text of a fact ``assumed`` lists."""
    return frozenset(key.strip() for key in text.partition(":")[0].split(","))


def assumed_keys(facts: Iterable[Fact | SourcedFact]) -> frozenset[str]:
    """Return the keys of the assumed facts."""
    return frozenset(key for fact in facts if fact.key == ASSUMED for key in listed_keys(fact.text))


def drop_assumed(facts: Collection[_F], stated: Collection[str]) -> list[_F]:
    """Return the facts, without the assumed ones if any assumed key is stated."""
    assumed: frozenset[str] = assumed_keys(facts)
    dropped: frozenset[str] = assumed | {ASSUMED} if assumed.intersection(stated) else frozenset()
    return [fact for fact in facts if fact.key not in dropped]
