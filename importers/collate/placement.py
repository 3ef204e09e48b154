"""Where drafts are put together: by run id at once, what has none by time when the others are placed."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from importers.collate.client_processes import number_of_part
from importers.collate.companions import names_of_files
from importers.collate.digests import content_digest
from importers.collate.folders import distinct, folder_of, own_folder
from importers.collate.kinds import is_client, is_evidence, is_peer, is_setting
from importers.collate.run_ids import run_id_in_name
from importers.collate.time_matching import choose_by_time, choose_by_time_and_host, hosts_of, is_within
from importers.model import Fragment, Kind, Problem, RunDraft, Severity

CHOOSE = "Choose the run by hand, or put its run id into the file or its name."


def about(fragment: Fragment, severity: Severity, code: str, message: str, remedy: str = "") -> Problem:
    """A problem of one fragment."""
    return Problem(severity, code, message, remedy, fragment.file, fragment.first_line, fragment.run_id)


@dataclass(slots=True)
class Seat:
    """A draft in the making and the fragments placed there."""

    draft: RunDraft
    members: list[Fragment]

    def take(self, fragment: Fragment) -> None:
        """Put a fragment to the draft; a second log of the client is that of another process."""
        self.members.append(fragment)
        if is_client(fragment):
            if self.draft.driver is None:
                self.draft.driver = fragment
            else:
                self.draft.parts.append(fragment)
        elif is_peer(fragment):
            self.draft.peer = fragment
        elif fragment.kind is Kind.REPORT:
            self.draft.reports.append(fragment)


@dataclass(slots=True)
class Bench:
    """``known`` has the run ids that contents name, by their text in lower case; ``groups`` are logs of one run.

    ``beside`` has the client's logs beside which a fragment stands, ``copies`` the further outputs of a log's result,
    both by the ``id()`` of the fragment.
    """

    known: dict[str, str]
    pattern: re.Pattern[str] | None
    problems: list[Problem]
    beside: Mapping[int, Sequence[Fragment]] = field(default_factory=dict)
    copies: Mapping[int, Sequence[Fragment]] = field(default_factory=dict)
    seats: list[Seat] = field(default_factory=list)
    by_run: dict[str, list[Seat]] = field(default_factory=dict)
    waiting: list[Fragment] = field(default_factory=list)
    unnamed: list[Sequence[Fragment]] = field(default_factory=list)
    following: list[Fragment] = field(default_factory=list)
    furnished: set[str] = field(default_factory=set)
    _named: dict[int, str | None] = field(default_factory=dict)

    def run_id_of(self, fragment: Fragment) -> str | None:
        """The run id that content or name says. It is asked for again and again."""
        if fragment.run_id:
            return fragment.run_id
        if id(fragment) not in self._named:
            self._named[id(fragment)] = run_id_in_name(fragment, self.known, self.pattern)
        return self._named[id(fragment)]

    def without_duplicates(self, fragments: Iterable[Fragment]) -> list[Fragment]:
        """The fragments, each content once for each run: files in the folders of two runs may well be equal."""
        first: dict[tuple[object, ...], Fragment] = {}
        seen: Counter[object] = Counter()
        for fragment in fragments:
            run_id = self.run_id_of(fragment)
            place = folder_of(fragment, run_id) if fragment.run_id is None else None
            logs = " ".join(log.file for log in self.beside.get(id(fragment), ()))
            digest = content_digest(fragment)
            # Processes that wrote into one file may well have had the same figures.
            seen[fragment.file, digest] += is_client(fragment) and fragment.run_id is None
            key = (digest, run_id, place, number_of_part(fragment), logs, seen[fragment.file, digest])
            known = first.setdefault(key, fragment)
            if known is not fragment:
                self.problems.append(_duplicate(fragment, known))
        return list(first.values())

    def place_all(self, ordered: Sequence[Fragment], groups: Iterable[Sequence[Fragment]]) -> None:
        """Place the client's logs first, then the server's, then snapshots and reports."""
        self.furnished = {folder for each in ordered if is_evidence(each) and (folder := self._folder(each))}
        for group in groups:
            self._place_group(group)
        done = {id(fragment) for group in (*groups, *self.copies.values()) for fragment in group} | self.beside.keys()
        self.following = [fragment for fragment in ordered if id(fragment) in self.beside]
        for kind in (is_client, is_peer, is_evidence):
            for fragment in ordered:
                if kind(fragment) and id(fragment) not in done:
                    self._place(fragment)
        self._place_the_rest()

    def _folder(self, fragment: Fragment) -> str | None:
        """The folder that is named after the fragment's run, where nothing but the name says which run it is."""
        run_id = self.run_id_of(fragment) if fragment.run_id is None else None
        return folder_of(fragment, run_id)

    def _place_group(self, group: Sequence[Fragment]) -> None:
        """Make one draft of logs that are of one run."""
        run_id = self.run_id_of(group[0])
        if run_id is None:
            self.unnamed.append(group)
            return
        seat = self._open(run_id, group[0])
        for fragment in group:
            seat.take(fragment)
        self._say_run_id(seat, group[0])

    def _place(self, fragment: Fragment) -> None:
        """Put a fragment to its run by the run id in its content or name, else keep it waiting."""
        run_id = self.run_id_of(fragment)
        if run_id is None:
            self.waiting.append(fragment)
            return
        for seat in [self._open(run_id, fragment)] if is_client(fragment) else self._seats_of(run_id, fragment):
            seat.take(fragment)
            self._say_run_id(seat, fragment)

    def _say_run_id(self, seat: Seat, fragment: Fragment) -> None:
        """Once for the files of a folder that is named after the run, for any other file by itself."""
        folder = self._folder(fragment)
        if fragment.run_id is not None:
            return
        what = "folder's" if folder else "file's"
        message = f"The run id {seat.draft.run_id} was taken from the {what} name."
        known = [problem for problem in seat.draft.problems if problem.message == message]
        if not (folder and known):
            seat.draft.problems.append(about(fragment, Severity.NOTE, "collate.run-id-from-name", message))

    def _place_the_rest(self) -> None:
        """Join what has no run id by time and host, else by its folder; a log that nothing names goes by its file."""
        self._place_waiting(self._join_by_time)
        self.unnamed += [[fragment] for fragment in self.waiting if is_client(fragment)]
        self.waiting = [fragment for fragment in self.waiting if not is_client(fragment)]
        self._name_by_files()
        self._add_copies()
        self.waiting += [fragment for fragment in self.following if not self._follow(fragment)]
        self._place_waiting(self._join_by_folder)
        self._place_waiting(self._join_by_time)
        for fragment in self.waiting:
            message = "Nothing tells which run this belongs to: no run id in it or its name, no run at its time."
            self.problems.append(about(fragment, Severity.ERROR, "collate.no-run", message, CHOOSE))

    def _place_waiting(self, join: Callable[[Fragment], bool]) -> None:
        """Join while there is progress: each fragment placed may name hosts that place another."""
        progress = True
        while progress and self.waiting:
            done = {id(fragment) for fragment in self.waiting if join(fragment)}
            self.waiting = [fragment for fragment in self.waiting if id(fragment) not in done]
            progress = bool(done)

    def _name_by_files(self) -> None:
        """Call each run as its log's file, or as the folder that holds its log and its evidence, and no other log."""
        logs = Counter(own_folder(group[0], None) for group in self.unnamed)
        furnished = {own_folder(fragment, None) for fragment in self.waiting} - {None}
        files = names_of_files(dict.fromkeys(group[0].file for group in self.unnamed))
        paths = []
        for group in self.unnamed:
            folder = own_folder(group[0], None)
            alone = folder is not None and logs[folder] == 1 and (folder in furnished or len(group) > 1)
            paths.append(folder if alone and folder else files[group[0].file])
        names = distinct(paths)
        for group, path in zip(self.unnamed, paths, strict=True):
            seat = self._open(names[path], group[0])
            for fragment in group:
                seat.take(fragment)
            what = "file" if path == files[group[0].file] else "folder"
            message = f"Nothing names this run; it is called {seat.draft.run_id}, as the {what}."
            problem = about(group[0], Severity.NOTE, "collate.run-id-from-file", message)
            seat.draft.problems.append(problem)

    def _add_copies(self) -> None:
        """Put further outputs of a result to the run that has it."""
        for seat in self.seats:
            for log in seat.draft.logs:
                for copy in self.copies.get(id(log), ()):
                    seat.members.append(copy)
                    seat.draft.copies.append(copy)
                    message = f"This prints the same result as {log.file}; it was counted once."
                    seat.draft.problems.append(about(copy, Severity.NOTE, "collate.same-result", message))

    def _follow(self, fragment: Fragment) -> bool:
        """Put a fragment to the run of the log beside which it stands; settings to those of all such logs."""
        logs = {id(log) for log in self.beside[id(fragment)]}
        fitting = [
            seat
            for seat in self.seats
            if any(id(each) in logs for each in seat.members) and may_join(seat.draft, fragment)
        ]
        if len(fitting) > 1 and not is_setting(fragment):
            chosen = choose_by_time(fragment, [seat.draft for seat in fitting])
            fitting = [seat for seat in fitting if any(seat.draft is draft for draft in chosen)]
            if len(fitting) > 1:
                return False
        for seat in fitting:
            seat.take(fragment)
            message = f"This names no run; it was put to run {seat.draft.run_id}, beside whose log it stands."
            seat.draft.problems.append(about(fragment, Severity.NOTE, "collate.beside-log", message))
        return bool(fitting)

    def _join_by_folder(self, fragment: Fragment) -> bool:
        """Put evidence to the only run whose log lies in the same folder and is named by nothing else either."""
        folder = own_folder(fragment, None)
        logs = [group[0] for group in self.unnamed if own_folder(group[0], None) == folder]
        if folder is None or len(logs) != 1:
            return False
        seat = next(seat for seat in self.seats if seat.draft.driver is logs[0])
        if not may_join(seat.draft, fragment):
            return False
        seat.take(fragment)
        return True

    def _join_all_within(self, report: Fragment) -> bool:
        """Put a host's rates over a long time to every run of that host that lies in it."""
        hosts = hosts_of([report])
        seats = [seat for seat in self.seats if hosts & hosts_of(seat.members) and is_within(seat.draft, report)]
        for seat in seats:
            seat.take(report)
        return bool(seats)

    def _open(self, run_id: str, fragment: Fragment) -> Seat:
        seat = Seat(RunDraft(run_id, fragment.trial), [])
        self.seats.append(seat)
        self.by_run.setdefault(run_id, []).append(seat)
        return seat

    def _seats_of(self, run_id: str, fragment: Fragment) -> list[Seat]:
        """The drafts of this run id that a fragment belongs to: of its trials one, and all where it has no time."""
        fitting = [seat for seat in self.by_run.get(run_id, ()) if may_join(seat.draft, fragment)]
        fitting = self._of_folder(fitting, fragment)
        if is_setting(fragment) and fitting:
            return fitting
        seat = self._one_of(fitting, run_id, fragment)
        return [] if seat is None else [seat]

    def _one_of(self, fitting: Sequence[Seat], run_id: str, fragment: Fragment) -> Seat | None:
        """The one of these drafts that a fragment belongs to; None after reporting that none can be told."""
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
            first.draft.problems.append(about(fragment, Severity.WARNING, "collate.two-logs", message, CHOOSE))
            return first
        message = f"Run {run_id} has {len(fitting)} logs, and the time does not tell which one this belongs to."
        self.problems.append(about(fragment, Severity.ERROR, "collate.ambiguous", message, CHOOSE))
        return None

    def _of_folder(self, fitting: Sequence[Seat], fragment: Fragment) -> list[Seat]:
        """The drafts whose files lie in the fragment's folder, else those that no folder of their own furnishes.

        Tools may have used the same run ids, each below a folder of its own.
        """
        folder = self._folder(fragment)
        if folder is None:
            return list(fitting)
        folders = {id(seat): {self._folder(each) for each in seat.members} for seat in fitting}
        here = [seat for seat in fitting if folder in folders[id(seat)]]
        return here or [seat for seat in fitting if not folders[id(seat)] & self.furnished]

    def _join_by_time(self, fragment: Fragment) -> bool:
        if fragment.kind is Kind.REPORT and fragment.role == "":
            return self._join_all_within(fragment)
        members = [seat.members for seat in self.seats]
        chosen = choose_by_time_and_host(fragment, [seat.draft for seat in self.seats], members)
        if len(chosen) != 1 or not may_join(chosen[0], fragment):
            return False
        seat = next(seat for seat in self.seats if seat.draft is chosen[0])
        known = next((each for each in seat.members if content_digest(each) == content_digest(fragment)), None)
        if known is not None:
            seat.draft.problems.append(_duplicate(fragment, known))
            return True
        seat.take(fragment)
        message = f"This names no run; it was put to run {seat.draft.run_id} by its time and host."
        seat.draft.problems.append(about(fragment, Severity.NOTE, "collate.joined-by-time", message))
        return True


def _duplicate(fragment: Fragment, known: Fragment) -> Problem:
    message = f"This says the same as {known.file}, line {known.first_line}; it was counted once."
    return about(fragment, Severity.NOTE, "collate.duplicate", message)


def may_join(draft: RunDraft, fragment: Fragment) -> bool:
    """Whether a draft has room for a fragment: the same trial, where one is said, and one log of each side."""
    if fragment.trial is not None and draft.trial is not None and fragment.trial != draft.trial:
        return False
    return not ((is_client(fragment) and draft.driver is not None) or (is_peer(fragment) and draft.peer is not None))


def _log_name(draft: RunDraft) -> str:
    return draft.driver.file if draft.driver else draft.run_id
