"""Placement of fragments: by run ID first, then time and folder."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from importers.collate.companions import base_name, has_marks, is_same_test, may_be_ends, names_of_files, process_number
from importers.collate.run_ids import (
    distinct_names,
    folder_of,
    is_date,
    match_run_id,
    own_folder,
    strip_ending,
    undated,
)
from importers.collate.time_matching import OpenDraft, about, choose_by_time, hosts_of, is_within
from importers.model import Fragment, Kind, Problem, RunDraft, Severity, content_digest

CHOOSE = "Choose the run by hand, or put its run id into the file or its name."


@dataclass(slots=True)
class Placement:
    """The open drafts of a collation, and the fragments that wait for a draft.

    ``known`` has the run IDs in contents by their lower case, ``run_ids`` that of each fragment, ``beside``
    the client logs that a fragment accompanies, ``copies`` the further outputs of a log's result, all by the ``id()``
    of the fragment. ``unnamed`` are logs of one run each without run ID.
    """

    known: Mapping[str, str]
    pattern: re.Pattern[str] | None
    problems: list[Problem]
    run_ids: Mapping[int, str | None]
    beside: Mapping[int, Sequence[Fragment]] = field(default_factory=dict)
    copies: Mapping[int, Sequence[Fragment]] = field(default_factory=dict)
    open_drafts: list[OpenDraft] = field(default_factory=list)
    by_run: dict[str, list[OpenDraft]] = field(default_factory=dict)
    waiting: list[Fragment] = field(default_factory=list)
    unnamed: list[Sequence[Fragment]] = field(default_factory=list)
    evidence_folders: set[str] = field(default_factory=set)

    def drop_duplicates(self, fragments: Iterable[Fragment]) -> list[Fragment]:
        """Return the fragments, each content once a run."""
        first: dict[tuple[object, ...], Fragment] = {}
        seen: Counter[object] = Counter()
        for fragment in fragments:
            run_id = self.run_ids[id(fragment)]
            place = folder_of(fragment, run_id) if fragment.run_id is None else None
            logs = " ".join(log.file for log in self.beside.get(id(fragment), ()))
            digest = content_digest(fragment)
            # Processes that wrote into one file may well have had the same figures.
            seen[fragment.file, digest] += fragment.is_client and fragment.run_id is None
            # Equal figures alone do not make two files one result.
            source = "" if has_marks(fragment) else fragment.file_digest
            key = (digest, source, run_id, place, process_number(fragment), logs, seen[fragment.file, digest])
            known = first.setdefault(key, fragment)
            if known is not fragment:
                self.problems.append(_duplicate(fragment, known))
        return list(first.values())

    def place_all(self, ordered: Sequence[Fragment], groups: Iterable[Sequence[Fragment]]) -> None:
        """Place client's logs (``groups`` of one run), then server's, then snapshots and reports."""
        self.evidence_folders = {folder for each in ordered if each.is_evidence and (folder := self._folder(each))}
        for group in groups:
            self._place(group)
        done = {id(fragment) for group in (*groups, *self.copies.values()) for fragment in group} | self.beside.keys()
        rest = [each for each in ordered if id(each) not in done and each.kind is not Kind.CIRCUMSTANCES]
        for fragment in sorted(rest, key=lambda each: (not each.is_client, not each.is_peer)):
            self._place([fragment])
        self._place_the_rest([fragment for fragment in ordered if id(fragment) in self.beside])

    def _folder(self, fragment: Fragment) -> str | None:
        """Return the folder named after the run, unless the content names the run."""
        return folder_of(fragment, self.run_ids[id(fragment)] if fragment.run_id is None else None)

    def _place(self, group: Sequence[Fragment]) -> None:
        """Place a fragment, or several logs of one run, or queue the group."""
        first, run_id = group[0], self.run_ids[id(group[0])]
        if run_id is not None:
            for opened in [self._open(run_id, first)] if first.is_client else self._open_drafts_of(run_id, first):
                opened.take(*group)
                self._say_run_id(opened, first)
        elif len(group) > 1:
            self.unnamed.append(group)
        else:
            self.waiting.append(first)

    def _say_run_id(self, opened: OpenDraft, fragment: Fragment) -> None:
        """Report a run ID from a name, once for a run's folder."""
        if fragment.run_id is not None:
            return
        folder, run_id = self._folder(fragment), opened.draft.run_id
        is_stated = run_id.casefold() in self.known or (self.pattern and match_run_id(self.pattern, run_id))
        if fragment.kind is Kind.DRIVER:
            opened.draft.is_named = bool(folder or is_stated)
        message = f"The run id {run_id} was taken from the {'folder' if folder else 'file'}'s name."
        if not (folder and any(problem.message == message for problem in opened.draft.problems)):
            opened.note(fragment, "collate.run-id-from-name", message)

    def _place_the_rest(self, following: Iterable[Fragment]) -> None:
        """Join fragments without run ID by time and host, else by folder."""
        self._place_waiting(self._join_by_time)
        self.unnamed += [[fragment] for fragment in self.waiting if fragment.is_client]
        self.waiting = [fragment for fragment in self.waiting if not fragment.is_client]
        self._name_by_files(self.unnamed)
        self._add_copies()
        self.waiting += [fragment for fragment in following if not self._follow(fragment)]
        self._place_waiting(self._join_by_folder)
        self._place_waiting(self._join_by_time)
        # Each server's log that fits no client's is a run.
        peers = [[fragment] for fragment in self.waiting if fragment.is_peer]
        self.waiting = [fragment for fragment in self.waiting if not fragment.is_peer]
        self._name_by_files(peers)
        self.unnamed += peers
        for join in (self._join_by_folder, self._join_by_time, self._join_the_only):
            self._place_waiting(join)
        self.problems += map(self._no_run, self.waiting)

    def _no_run(self, fragment: Fragment) -> Problem:
        """Report a fragment that no run could be found for."""
        fitting = choose_by_time(fragment, self.open_drafts)
        why = "and no run at its time"
        if fragment.taken is None:
            why = "and no time"
        elif fitting:
            names = ", ".join(opened.draft.run_id for opened in fitting)
            why = f"and nothing else tells that run {names} at its time was on {fragment.host or 'its host'}"
        message = f"Nothing tells which run this belongs to: no run id in it or its name, {why}."
        return about(fragment, Severity.ERROR, "collate.no-run", message, CHOOSE)

    def _place_waiting(self, join: Callable[[Fragment], bool]) -> None:
        """Join fragments until there is no progress."""
        while done := {id(fragment) for fragment in self.waiting if join(fragment)}:
            self.waiting = [fragment for fragment in self.waiting if id(fragment) not in done]

    def _name_by_files(self, groups: Sequence[Sequence[Fragment]]) -> None:
        """Open the run of each group of logs, named after file or folder."""
        logs = Counter(own_folder(group[0], None) for group in groups)
        evidence_folders = {own_folder(fragment, None) for fragment in self.waiting} - {None}
        files = names_of_files(dict.fromkeys(group[0].file for group in groups))
        paths = []
        for group in groups:
            folder = own_folder(group[0], None)
            alone = logs[folder] == 1 and (folder in evidence_folders or len(group) > 1) and not is_date(folder)
            paths.append(folder if alone and folder else files[group[0].file])
        dated = [undated(path) for path in paths]
        names = distinct_names(dated)
        for group, path, name in zip(groups, paths, map(names.__getitem__, dated), strict=True):
            taken = name in self.by_run and group[0].is_peer and path == base_name(group[0].file)
            opened = self._open(PurePosixPath(strip_ending(group[0].file)).name if taken else name, group[0])
            opened.draft.is_named = False
            opened.take(*group)
            what = "file" if path == files[group[0].file] else "folder"
            message = f"Nothing names this run; it is called {opened.draft.run_id}, as the {what}."
            opened.note(group[0], "collate.run-id-from-file", message)

    def _add_copies(self) -> None:
        """Add further outputs of a result to the run of that result."""
        for opened in self.open_drafts:
            for log in opened.draft.logs:
                for copy in self.copies.get(id(log), ()):
                    opened.members.append(copy)
                    opened.draft.copies.append(copy)
                    message = f"This prints the same result as {log.file}; it was counted once."
                    opened.note(copy, "collate.same-result", message)

    def _follow(self, fragment: Fragment) -> bool:
        """Add a fragment to the run of its log, settings to all runs."""
        logs = {id(log) for log in self.beside[id(fragment)]}
        beside = [opened for opened in self.open_drafts if any(id(each) in logs for each in opened.members)]
        fitting = [opened for opened in beside if may_join(opened.draft, fragment)]
        if len(fitting) > 1 and not fragment.is_setting:
            fitting = choose_by_time(fragment, fitting)
            if len(fitting) > 1:
                return False
        for opened in fitting:
            opened.take(fragment)
            message = f"This names no run; it was put to run {opened.draft.run_id}, beside whose log it stands."
            opened.note(fragment, "collate.beside-log", message)
        return bool(fitting)

    def _join_by_folder(self, fragment: Fragment) -> bool:
        """Add evidence to the only unnamed run whose log is in the same folder."""
        folder = own_folder(fragment, None)
        logs = [group[0] for group in self.unnamed if own_folder(group[0], None) == folder]
        if folder is None or len(logs) != 1:
            return False
        opened = next(opened for opened in self.open_drafts if any(each is logs[0] for each in opened.members))
        if not may_join(opened.draft, fragment):
            return False
        peers = [each for each in self.waiting if each.is_peer and own_folder(each, None) == folder]
        if fragment.is_peer and sum(may_join(opened.draft, each) for each in peers) > 1:
            return False
        opened.take(fragment)
        return True

    def _join_the_only(self, report: Fragment) -> bool:
        """Join the only host's report to the only run within its time."""
        others = [each for each in self.waiting if each.kind is Kind.REPORT and each.role == "" and each.taken]
        within = [opened for opened in self.open_drafts if is_within(opened.draft, report)]
        if report not in others or len(within) != 1 or len(hosts_of(others)) > len(hosts_of([report])):
            return False
        within[0].take(report)
        message = f"This names no run; it was put to run {within[0].draft.run_id}, the only one within its time."
        within[0].note(report, "collate.joined-by-time", message)
        return True

    def _open(self, run_id: str, fragment: Fragment) -> OpenDraft:
        opened = OpenDraft(RunDraft(run_id, fragment.trial), [])
        self.open_drafts.append(opened)
        self.by_run.setdefault(run_id, []).append(opened)
        return opened

    def _open_drafts_of(self, run_id: str, fragment: Fragment) -> list[OpenDraft]:
        """Return the draft (of settings all) of a run; open one if none fits."""
        of_run = [opened for opened in self.by_run.get(run_id, ()) if may_join(opened.draft, fragment)]
        fitting = self._of_folder(of_run, fragment)
        if fragment.is_setting and fitting:
            return fitting
        opened = self._one_of(fitting, run_id, fragment)
        return [] if opened is None else [opened]

    def _one_of(self, fitting: Sequence[OpenDraft], run_id: str, fragment: Fragment) -> OpenDraft | None:
        """Return the draft that fits by time, a new one, or None if ambiguous."""
        if not fitting and fragment.is_peer and any(opened.draft.driver for opened in self.by_run.get(run_id, ())):
            message = f"This test of the server fits no client's log of run {run_id}; it was left out."
            remedy = "Upload the client's log of this test under another run id if it counts."
            self.problems.append(about(fragment, Severity.NOTE, "collate.left-over", message, remedy))
            return None
        if not fitting:
            return self._open(run_id, fragment)
        if len(fitting) == 1:
            return fitting[0]
        chosen = choose_by_time(fragment, fitting)
        if len(chosen) == 1:
            return chosen[0]
        if len({opened.draft.trial for opened in chosen}) == 1:
            first = chosen[0].draft
            log = first.driver.file if first.driver else run_id
            message = f"Two logs of run {run_id} differ; this was put to {log}."
            first.problems.append(about(fragment, Severity.WARNING, "collate.two-logs", message, CHOOSE))
            return chosen[0]
        message = f"Run {run_id} has {len(fitting)} logs, and the time does not tell which one this belongs to."
        self.problems.append(about(fragment, Severity.ERROR, "collate.ambiguous", message, CHOOSE))
        return None

    def _of_folder(self, fitting: Sequence[OpenDraft], fragment: Fragment) -> list[OpenDraft]:
        """Return the drafts with files in the fragment's folder, else drafts without such folders."""
        folder = self._folder(fragment)
        if folder is None:
            return list(fitting)
        folders = {id(opened): {self._folder(each) for each in opened.members} for opened in fitting}
        here = [opened for opened in fitting if folder in folders[id(opened)]]
        return here or [opened for opened in fitting if not folders[id(opened)] & self.evidence_folders]

    def _join_by_time(self, fragment: Fragment) -> bool:
        """Join a fragment to a run by time and host, long reports to several."""
        hosts = hosts_of([fragment])
        sharing = [opened for opened in self.open_drafts if hosts & hosts_of(opened.members)]
        if fragment.kind is Kind.REPORT and fragment.role == "":
            within = [opened for opened in sharing if is_within(opened.draft, fragment)]
            for opened in within:
                opened.take(fragment)
            return bool(within)
        chosen = choose_by_time(fragment, sharing)
        if len(chosen) != 1 or not may_join(chosen[0].draft, fragment):
            return False
        opened = chosen[0]
        known = next((each for each in opened.members if content_digest(each) == content_digest(fragment)), None)
        if known is not None:
            opened.draft.problems.append(_duplicate(fragment, known))
            return True
        opened.take(fragment)
        message = f"This names no run; it was put to run {opened.draft.run_id} by its time and host."
        opened.note(fragment, "collate.joined-by-time", message)
        return True


def _duplicate(fragment: Fragment, known: Fragment) -> Problem:
    message = f"This says the same as {known.file}, line {known.first_line}; it was counted once."
    return about(fragment, Severity.NOTE, "collate.duplicate", message)


def may_join(draft: RunDraft, fragment: Fragment) -> bool:
    """Return whether trial, sides and marks of a draft leave room for a fragment."""
    client, server = (draft.driver, fragment) if fragment.is_peer else (fragment, draft.peer)
    is_same = None
    if client is not None and client.is_client and server is not None:
        if not may_be_ends(client, server):
            return False
        is_same = is_same_test(client, server)
    if len({fragment.trial, draft.trial} - {None}) > 1 and not is_same:
        return False
    return not ((fragment.is_client and draft.driver is not None) or (fragment.is_peer and draft.peer is not None))
