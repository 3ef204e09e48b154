"""Files of one run: logs of several processes, the other end, and copies.

Such files name no run. Marks of a test (cookie, ports of both ends, start) decide, else the files' names:
``x.send.txt`` and ``x.recv.txt`` are of one measurement, with ``x`` as the common name without the words for parts.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TypeVar

from importers.collate.run_ids import own_folder, strip_ending
from importers.file_names import PHASES
from importers.key_values import whole
from importers.model import Fragment, Kind, makes_experiment
from importers.time_zones import to_utc

_PARTS = frozenset(
    (
        *("client", "server", "sender", "receiver", "send", "recv", "local", "remote", "before", "after"),
        *("zcs", "zcc", "nfs", "cyclesoak", "profile", "history", "stdout"),
    )
)
_LAST_WORD = re.compile(r"(?P<name>.+?)[._-]+(?P<word>[A-Za-z]+)")
_SAME_BOTH_WAYS = frozenset({"workload", "users", "factor.test", "factor.protocol", "factor.server_number", "server"})
_HEADLINES = ("transactions", "trans_per_s", "mb_per_s", "response_ms")
_FEWEST_FIGURES = 3
"""Numbers of equal digits in two outputs that are no coincidence."""

COOKIE, PORTS = "cookie", "ports"
_CLOCKS = timedelta(seconds=60)  # Difference of two machines' clocks.
_STAMPS = timedelta(seconds=1)  # Time between two stamps of one start on one machine.

_Key = TypeVar("_Key")


def has_marks(log: Fragment) -> bool:
    """Return whether a log prints a mark, which no other test repeats."""
    return log.taken is not None or any(fact.key in {COOKIE, PORTS} for fact in log.facts)


def is_same_test(one: Fragment, other: Fragment) -> bool | None:
    """Return whether two logs are of one test by their marks, None if no mark tells.

    A cookie decides alone; then ports that differ, starts that differ, and equal ports.
    """
    cookies = [log.fact_text(COOKIE) for log in (one, other)]
    if all(cookies):
        return cookies[0] == cookies[1]
    ports = [set((log.fact_text(PORTS) or "").split()) for log in (one, other)]
    if all(ports) and ports[0].isdisjoint(ports[1]):
        return False
    starts = _have_one_start(one, other)
    return starts if starts is False or not all(ports) else True


def may_be_ends(client: Fragment, server: Fragment) -> bool:
    """Return whether a server's log may be of a client's test: marks, else the number of streams."""
    same = is_same_test(client, server)
    users = {log.fact_text("users") for log in (client, server)} - {None}
    return len(users) < 2 if same is None else same


def _have_one_start(one: Fragment, other: Fragment) -> bool | None:
    """Return whether two starts agree; None if one is missing or their zones cannot be compared."""
    if one.taken is None or other.taken is None:
        return None
    first, second = to_utc(one.taken, one.zone), to_utc(other.taken, other.zone)
    if first is None or second is None:
        if one.zone != other.zone:
            return None
        first, second = one.taken, other.taken
    return abs(first - second) < (_STAMPS if one.is_client == other.is_client else _CLOCKS)


@lru_cache(maxsize=4096)
def base_name(file: str, kept: Collection[str] = ()) -> str:
    """Return a file's path without ending and words for parts, but those ``kept``."""
    path = PurePosixPath(strip_ending(file))
    name = path.name
    while (match := _LAST_WORD.fullmatch(name)) and match["word"].lower() in _PARTS.difference(kept):
        name = match["name"]
    return str(path.with_name(name))


def names_of_files(files: Iterable[str]) -> dict[str, str]:
    """Return a short distinct path for each log, to name its run. A load tool's log is not from before or after one."""
    files = list(files)
    names = {file: base_name(file, PHASES) for file in files}
    bases = Counter(names[file] for file in files)
    plain = Counter(map(strip_ending, files))
    for file in files:
        if bases[names[file]] > 1:
            names[file] = strip_ending(file) if plain[strip_ending(file)] == 1 else file
    return names


def find_companions(fragments: Sequence[Fragment], run_ids: Mapping[int, str | None]) -> dict[int, list[Fragment]]:
    """Return the client logs that each fragment accompanies, by ``id()``.

    A fragment whose name already gives the run of all these logs is left out. ``run_ids`` has the runs by ``id()``.
    """
    unnamed = [each for each in fragments if each.run_id is None and each.kind is not Kind.CIRCUMSTANCES]
    others = [each for each in unnamed if not each.is_client]
    logs = [each for each in fragments if each.is_client] if others else []
    by_mark: dict[str, list[Fragment]] = {}
    for log in logs:
        for mark in _ends(log):
            by_mark.setdefault(mark, []).append(log)
    by_base = grouped(logs, lambda log: base_name(log.file))
    by_profile = grouped(logs, _profile) if any(map(_profile, others)) else {}
    by_place = grouped(logs, _place) if by_profile else {}
    runs = {run_ids[id(log)] for log in logs}
    beside: dict[int, list[Fragment]] = {}
    for fragment in others:
        marked = [log for mark in _ends(fragment) for log in by_mark.get(mark, ())]
        found = [*{id(log): log for log in marked}.values()] or by_base.get(base_name(fragment.file), [])
        if fragment.is_setting and (profile := _profile(fragment)):
            same = by_profile.get(profile, [])
            found = [log for log in same if _place(log) == _place(fragment)] or same or found
            near = by_place.get(_place(fragment), [])
            if not found and len(near) == 1 and run_ids[id(fragment)] not in runs:
                found = near
        if fragment.is_peer:
            found = [log for log in found if may_be_ends(log, fragment)]
        named = run_ids[id(fragment)]
        if found and (named is None or {run_ids[id(log)] for log in found} != {named}):
            beside[id(fragment)] = found
    return beside | _settings_of_folders(fragments, run_ids, beside)


def _profile(fragment: Fragment) -> tuple[str, str] | None:
    """Return the format and the name of the profile that a log ran, or that a file of settings has."""
    name = fragment.fact_text("profile")
    return (fragment.format, name) if name else None


def _ends(log: Fragment) -> list[str]:
    """Return the cookie and the ports that both ends of a test print."""
    facts = log.facts if log.kind is Kind.DRIVER else ()
    return [text for fact in facts if fact.key in {COOKIE, PORTS} for text in fact.text.split()]


def _settings_of_folders(
    fragments: Iterable[Fragment], run_ids: Mapping[int, str | None], placed: Mapping[int, object]
) -> dict[int, list[Fragment]]:
    """Assign stray settings to all logs of the same tool and folder, unless contradictory."""
    stray = [each for each in fragments if each.is_setting and run_ids[id(each)] is None and id(each) not in placed]
    logs = grouped((each for each in fragments if each.is_client), _place) if stray else {}
    beside: dict[int, list[Fragment]] = {}
    for place, settings in grouped(stray, _place).items():
        facts = {(fact.key, fact.text) for each in settings for fact in each.facts}
        if place in logs and len(facts) == len({key for key, _ in facts}):
            beside |= {id(each): logs[place] for each in settings}
    return beside


def _place(fragment: Fragment) -> tuple[str, str]:
    return _folder_and_name(fragment.file)[0], fragment.format


@lru_cache(maxsize=4096)
def _folder_and_name(file: str) -> tuple[str, str]:
    path = PurePosixPath(file)
    return str(path.parent), path.name


def find_copies(fragments: Iterable[Fragment]) -> dict[int, list[Fragment]]:
    """Return the copies of each result by ``id()`` of the fullest one."""
    copies: dict[int, list[Fragment]] = {}
    forms: set[object] = set()
    logs = [each for each in fragments if each.is_client]
    if len({log.file for log in logs}) < 2:
        return copies
    # By mark and file: a file does not print a result twice, and may have very many.
    known: dict[object, dict[str, list[Fragment]]] = {}
    # The more complete logs first.
    logs.sort(key=lambda log: (log.fact_text("data_file") is None, len(log.readings) + len(log.facts)), reverse=True)
    for log in logs:
        marks = [*_marks(log)]
        others = (own for mark in marks for file, own in known.get(mark, {}).items() if file != log.file)
        alike = chain.from_iterable(others)
        # One test has one file of each form; the one of the same name goes first.
        fitting = [each for each in alike if (id(each), _form(log)) not in forms and _is_copy(log, each)]
        original = min(fitting, key=lambda each: base_name(each.file) != base_name(log.file), default=None)
        if original is not None:
            forms.add((id(original), _form(log)))
            copies.setdefault(id(original), []).append(log)
            continue
        for mark in marks:
            known.setdefault(mark, {}).setdefault(log.file, []).append(log)
    return copies


def _marks(log: Fragment) -> Iterator[object]:
    """Yield keys that two outputs of one result share."""
    place = _place(log)
    yield place, log.fact_text("data_file") or _folder_and_name(log.file)[1]
    for name in _HEADLINES:
        yield from ((place, each.name, each.unit, each.text) for each in log.readings if each.name == name)


def _is_copy(one: Fragment, other: Fragment) -> bool:
    """Return whether two files print one result."""
    if one.file == other.file or one.trial != other.trial or len({one.run_id, other.run_id} - {None}) > 1:
        return False
    said = [{fact.key: fact.text for fact in log.facts if fact.key in _SAME_BOTH_WAYS} for log in (one, other)]
    if not _agree(said[0], said[1]):
        return False
    names = {_folder_and_name(each.file)[1] for each in (one, other)}
    if {one.fact_text("data_file"), other.fact_text("data_file")} & names:
        return True
    same = is_same_test(one, other)
    if same is False or _form(one) == _form(other) or not _share_rows(one, other):
        return False
    mine, others = ({(each.name, each.role, each.unit): each.text for each in log.readings} for log in (one, other))
    return len(mine.keys() & others.keys()) >= _FEWEST_FIGURES and _agree(mine, others)


def _form(log: Fragment) -> tuple[object, ...]:
    """Return the kinds of figures, facts and rows, and the file's ending: trials of a series have one form."""
    listed = [(each.name, each.columns) for each in log.listings]
    figures = {each.name for each in log.readings}
    return PurePosixPath(log.file).suffix, *listed, frozenset(figures | {fact.key for fact in log.facts})


def _share_rows(one: Fragment, other: Fragment) -> bool:
    """Return whether rows that both print are equal, and the files differ in ending or rows."""
    mine, others = ({each.name: each.cells for each in log.listings} for log in (one, other))
    differ = mine.keys() != others.keys() or PurePosixPath(one.file).suffix != PurePosixPath(other.file).suffix
    return differ and _agree(mine, others)


def _agree(one: Mapping[_Key, object], other: Mapping[_Key, object]) -> bool:
    """Return whether the values of all common keys are equal."""
    return all(one[key] == other[key] for key in one.keys() & other.keys())


def grouped(fragments: Iterable[Fragment], key: Callable[[Fragment], _Key]) -> dict[_Key, list[Fragment]]:
    """Return the fragments of each key, in order."""
    groups: dict[_Key, list[Fragment]] = {}
    for fragment in fragments:
        groups.setdefault(key(fragment), []).append(fragment)
    return groups


_NUMBERED = re.compile(r"(?P<name>.*?)[._-]?(?P<number>\d{1,4})")


def _numbered(fragment: Fragment) -> re.Match[str] | None:
    return _NUMBERED.fullmatch(PurePosixPath(fragment.file).stem)


def process_number(fragment: Fragment) -> str | None:
    """Return the number in a client log's name, without run ID and time."""
    if not fragment.is_client or fragment.run_id is not None or fragment.taken is not None:
        return None
    match = _numbered(fragment)
    return match["number"] if match else None


def group_processes(
    fragments: Sequence[Fragment], run_ids: Mapping[int, str | None], stated: Mapping[str, Sequence[Fragment]]
) -> list[list[Fragment]]:
    """Return groups of client logs of one run each, in order.

    Processes started together write a log each, whose data add up: results in one file without trial numbers, or
    numbered logs of one folder (``netperf.01.txt``) with the same configuration. Logs of successive trials may look the
    same: times in the logs decide, else the number of users in a manifest, or snapshots in the folder. ``run_ids`` has
    the run of each fragment by ``id()``, ``stated`` the rows of manifests by run ID.
    """
    evidence_folders = {own_folder(each, run_ids[id(each)]) for each in fragments if each.is_evidence}
    logs = [each for each in fragments if each.is_client and each.run_id is None]
    beside = grouped((each for each in logs if each.trial is None), lambda log: (log.file, _configuration(log)))
    in_one_file = [group for group in beside.values() if len(group) > 1]
    placed = {id(fragment) for group in in_one_file for fragment in group}
    siblings: dict[tuple[object, ...], list[tuple[int, Fragment]]] = {}
    for log in (each for each in logs if id(each) not in placed):
        folder, match = own_folder(log, run_ids[id(log)]), _numbered(log)
        if folder is not None and match is not None:
            key = folder, log.format, log.trial, match["name"], _configuration(log)
            siblings.setdefault(key, []).append((whole(match["number"]), log))
    groups = [[log for _, log in sorted(group, key=itemgetter(0))] for group in siblings.values() if len(group) > 1]
    together = [group for group in groups if _together(group, run_ids[id(group[0])] or "", stated, evidence_folders)]
    return in_one_file + together


def _configuration(fragment: Fragment) -> frozenset[tuple[str, str]]:
    return frozenset((each.key, each.text) for each in fragment.facts if makes_experiment(each.key))


def _together(
    group: Sequence[Fragment], run_id: str, stated: Mapping[str, Sequence[Fragment]], evidence_folders: set[str | None]
) -> bool:
    """Return whether the processes ran at the same time."""
    if any(each.taken is not None for each in group):
        known = [(each.taken, each.ended) for each in group if each.taken is not None and each.ended is not None]
        return len(known) > 1 and max(taken for taken, _ in known) < min(ended for _, ended in known)
    users = {fact.text for row in stated.get(run_id.casefold(), ()) for fact in row.facts if fact.key == "users"}
    if users:
        # A process without this fact has one.
        own = [each.fact_text("users") or "1" for each in group]
        return str(sum(whole(text) if text.isdecimal() else 1 for text in own)) in users
    return own_folder(group[0], run_id) in evidence_folders
