"""Collation of fragments to run drafts.

Fragments are joined by the run ID in the content, else by a run ID in the file or folder name, else by overlapping time
on the same hosts. Ambiguous fragments are left out with a problem, never guessed.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from importers.collate.circumstances import UnusedRows, add_circumstances, assumed_keys, drop_assumed, unused_rows
from importers.collate.companions import base_name, find_companions, find_copies, group_processes, grouped
from importers.collate.placement import Placement
from importers.collate.run_ids import RunIdPattern, apply_pattern, compile_pattern, run_id_in_name
from importers.collate.snapshot_pairs import pair_snapshots
from importers.model import Fragment, Kind, Problem, RunDraft, Severity, SourcedFact

LONGEST_NAME = 200  # Characters that a run ID, role, host or adapter may have.


@dataclass(slots=True)
class Collated:
    """The drafts in file order, problems of no draft, and unused ``rows`` of manifests."""

    drafts: list[RunDraft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    rows: list[Fragment] = field(default_factory=list)


def collate(fragments: Iterable[Fragment], pattern: RunIdPattern | None = None) -> Collated:
    """Collate fragments to runs; a run's identity is (run ID, trial).

    Two client logs of one identity with different content make two drafts, unless of processes started together.
    Manifests, and then the run-ID pattern, fill dimensions that the logs lack. Drafts may have snapshots only.
    """
    problems: list[Problem] = []
    compiled = compile_pattern(pattern, problems)
    usable = [fragment for fragment in fragments if _is_usable(fragment, problems)]
    known = {fragment.run_id.casefold(): fragment.run_id for fragment in usable if fragment.run_id}
    run_ids = {id(each): each.run_id or run_id_in_name(each, known, compiled) for each in usable}
    placement = Placement(known, compiled, problems, run_ids, find_companions(usable, run_ids))
    ordered = placement.drop_duplicates(usable)
    placement.copies = find_copies(ordered)
    manifests = (fragment for fragment in ordered if fragment.kind is Kind.CIRCUMSTANCES)
    rows = grouped(manifests, lambda row: (row.run_id or "").casefold())
    placement.place_all(ordered, group_processes(ordered, run_ids, rows))
    collated = Collated(problems=problems)
    position = {id(fragment): index for index, fragment in enumerate(ordered)}
    for opened in sorted(placement.open_drafts, key=lambda opened: min(position[id(each)] for each in opened.members)):
        pair_snapshots(opened.draft, [each for each in opened.members if each.kind is Kind.SNAPSHOT])
        fragments = opened.draft.fragments
        if not fragments:
            problems.extend(opened.draft.problems)
        elif all(each.is_setting for each in fragments):
            problems.extend(map(_settings_alone, fragments))
        else:
            opened.draft.facts = _merged_facts(fragments)
            add_circumstances(opened.draft, rows)
            apply_pattern(compiled, pattern, opened.draft)
            collated.drafts.append(opened.draft)
    collated.rows = unused_rows(rows, collated.drafts)
    problems.extend(UnusedRows(collated.rows).problems)
    return collated


def _settings_alone(fragment: Fragment) -> Problem:
    message = "No log in this upload was made with these settings: they make no run."
    remedy = "Upload the file together with the log that it belongs to."
    return Problem(Severity.WARNING, "collate.settings-alone", message, remedy, fragment.file, fragment.first_line)


def has_usable_names(fragment: Fragment) -> bool:
    """Return whether run ID, role, host and adapters are short enough."""
    return len(_longest_name(fragment)) <= LONGEST_NAME


def _longest_name(fragment: Fragment) -> str:
    names = (fragment.run_id, fragment.role, fragment.host, *[each.subject for each in fragment.counters])
    return max(filter(None, names), key=len, default="")


def _is_usable(fragment: Fragment, problems: list[Problem]) -> bool:
    longest = _longest_name(fragment)
    if len(longest) <= LONGEST_NAME:
        return True
    message = f"{longest[:20]}… has {len(longest)} characters; a run id or name has at most {LONGEST_NAME}."
    remedy = "Correct the file, or transfer it again."
    about = (fragment.file, fragment.first_line, (fragment.run_id or "")[:LONGEST_NAME] or None)
    problems.append(Problem(Severity.ERROR, "collate.long-name", message, remedy, *about))
    return False


def _merged_facts(fragments: Sequence[Fragment]) -> list[SourcedFact]:
    """Return the distinct facts, those about hosts for each host, driver first."""
    facts: dict[tuple[str, str, str | None], SourcedFact] = {}
    stated = {key for each in fragments for key in {fact.key for fact in each.facts} - assumed_keys(each.facts)}
    for each in fragments:
        for fact in drop_assumed(each.facts, stated):
            sourced = SourcedFact(fact.key, fact.text, each.file, fact.line, each.role, fact.of_host)
            host = each.host or each.file if fact.of_host else None
            facts.setdefault((fact.key, fact.text, host), sourced)
    return list(facts.values())


class FragmentGroups:
    """Groups of numbered fragments by run, to collate a large upload in parts.

    A group gives the same drafts alone as among all fragments. That holds for fragments whose content names a run, and
    for snapshots and reports whose file or folder does, unless beside the log of another run.
    """

    def __init__(self) -> None:
        self._runs: dict[str, array[int]] = {}
        self._rows: dict[str, array[int]] = {}
        self._unnamed = array("I")
        # The run of the client logs with this file name, None for several runs.
        self._run_of_base: dict[str, str | None] = {}
        self._last_file, self._last_base = "", ""
        self._all_usable = True
        self._all_evidence = True

    def add(self, fragment: Fragment, number: int) -> None:
        """Add a fragment with a number greater than all before."""
        self._all_usable = self._all_usable and has_usable_names(fragment)
        run_id = fragment.run_id
        if not run_id:
            self._all_evidence = self._all_evidence and fragment.is_evidence
            self._unnamed.append(number)
            return
        kept = self._rows if fragment.kind is Kind.CIRCUMSTANCES else self._runs
        kept.setdefault(run_id, array("I")).append(number)
        if fragment.is_client:
            if fragment.file != self._last_file:
                self._last_file, self._last_base = fragment.file, base_name(fragment.file)
            base = self._last_base
            self._run_of_base[base] = run_id if self._run_of_base.get(base, run_id) == run_id else None

    def groups(self, pattern: RunIdPattern | None, fragment_at: Callable[[int], Fragment]) -> list[list[int]] | None:
        """Return the indexes of each run's fragments, last of other rows; None if inseparable."""
        named = self._named_by_file(pattern, fragment_at) if self._all_evidence else None
        if named is None:
            return None
        runs = _by_lower_case((*self._runs.items(), *named.items()))
        rows = _by_lower_case(self._rows.items())
        ordered = sorted(runs.items(), key=lambda run: min(run[1]))
        found = [sorted((*own, *rows.pop(run_id, ()))) for run_id, own in ordered]
        rest = sorted(chain.from_iterable(rows.values()))
        return [*found, rest] if rest else found

    def _named_by_file(
        self, pattern: RunIdPattern | None, fragment_at: Callable[[int], Fragment]
    ) -> dict[str, list[int]] | None:
        """Return the fragments that only names of files assign, by run; None if impossible."""
        if not self._unnamed:
            return {}
        if not self._all_usable:
            return None
        # The run IDs in contents by their lower case; the last spelling counts.
        last = sorted((numbers[-1], run_id) for kept in (self._runs, self._rows) for run_id, numbers in kept.items())
        known = {run_id.casefold(): run_id for _, run_id in last}
        compiled = compile_pattern(pattern, [])
        named: dict[str, list[int]] = {}
        for number in self._unnamed:
            fragment = fragment_at(number)
            run_id = run_id_in_name(fragment, known, compiled)
            if run_id is None or self._run_of_base.get(base_name(fragment.file), run_id) != run_id:
                return None
            named.setdefault(run_id, []).append(number)
        return named


def _by_lower_case(runs: Iterable[tuple[str, Iterable[int]]]) -> dict[str, list[int]]:
    """Return the numbers of each run ID, without regard to capitals."""
    found: dict[str, list[int]] = {}
    for run_id, numbers in runs:
        found.setdefault(run_id.casefold(), []).extend(numbers)
    return found
