"""Client processes started together, whose logs add up.

Results in one file without trial numbers are of such processes. Else such logs are in one folder, are numbered
(``netperf.01.txt``, ``netperf.02.txt``) and have the same configuration. So have the logs of successive trials: times
in the logs decide, else the number of users in a manifest, or snapshots in the folder, which are of one run.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from importers.collate.run_ids import own_folder
from importers.key_values import whole
from importers.model import Fragment

_NUMBERED = re.compile(r"(?P<name>.*?)[._-]?(?P<number>\d{1,4})")
# What makes an experiment; logs that differ in one of these are of different runs.
_CONFIGURATION = frozenset(
    {"workload", "request_bytes", "response_bytes", "message_bytes", "mtu", "users", "device", "layer", "level"}
)


def process_number(fragment: Fragment) -> str | None:
    """Return the number that distinguishes a client log's name."""
    if not fragment.is_client or fragment.run_id is not None or fragment.taken is not None:
        return None
    match = _NUMBERED.fullmatch(PurePosixPath(fragment.file).stem)
    return match["number"] if match else None


def group_processes(
    fragments: Sequence[Fragment], run_ids: Mapping[int, str | None], stated: Mapping[str, Sequence[Fragment]]
) -> list[list[Fragment]]:
    """Return groups of client logs of one run each, in order.

    ``run_ids`` has the run of each fragment by ``id()``, ``stated`` the rows of manifests by run ID.
    """
    beside: dict[tuple[object, ...], list[Fragment]] = {}
    siblings: dict[tuple[object, ...], list[Fragment]] = {}
    evidence_folders = {own_folder(each, run_ids[id(each)]) for each in fragments if each.is_evidence}
    for fragment in (each for each in fragments if each.is_client):
        if fragment.run_id is None and fragment.trial is None:
            beside.setdefault((fragment.file, _configuration(fragment)), []).append(fragment)
    in_one_file = [group for group in beside.values() if len(group) > 1]
    placed = {id(fragment) for group in in_one_file for fragment in group}
    for fragment in (each for each in fragments if each.is_client and id(each) not in placed):
        key = _key(fragment, run_ids[id(fragment)])
        if key is not None:
            siblings.setdefault(key, []).append(fragment)
    groups = [sorted(group, key=_number) for group in siblings.values() if len(group) > 1]
    together = [group for group in groups if _together(group, run_ids[id(group[0])] or "", stated, evidence_folders)]
    return in_one_file + together


def _key(fragment: Fragment, run_id: str | None) -> tuple[object, ...] | None:
    """Return the common key of a run's logs, or None."""
    folder = own_folder(fragment, run_id)
    match = _NUMBERED.fullmatch(PurePosixPath(fragment.file).stem)
    if fragment.run_id is not None or folder is None or match is None:
        return None
    return folder, fragment.format, fragment.trial, match["name"], _configuration(fragment)


def _configuration(fragment: Fragment) -> frozenset[tuple[str, str]]:
    return frozenset(
        (each.key, each.text) for each in fragment.facts if each.key in _CONFIGURATION or "factor." in each.key
    )


def _number(fragment: Fragment) -> int:
    match = _NUMBERED.fullmatch(PurePosixPath(fragment.file).stem)
    return whole(match["number"]) if match else 0


def _together(
    group: Sequence[Fragment], run_id: str, stated: Mapping[str, Sequence[Fragment]], evidence_folders: set[str | None]
) -> bool:
    """Whether the processes ran at the same time."""
    times = [(each.taken, each.ended) for each in group]
    if any(taken is not None for taken, _ in times):
        return _overlap(times)
    users = {fact.text for row in stated.get(run_id.casefold(), ()) for fact in row.facts if fact.key == "users"}
    if users:
        return str(_users(group)) in users
    return own_folder(group[0], run_id) in evidence_folders


def _users(group: Iterable[Fragment]) -> int:
    """Return the users of all processes; a process without this fact has one."""
    texts = (next((fact.text for fact in each.facts if fact.key == "users"), "1") for each in group)
    return sum(whole(text) if text.isdecimal() else 1 for text in texts)


def _overlap(times: Iterable[tuple[datetime | None, datetime | None]]) -> bool:
    known = [(taken, ended) for taken, ended in times if taken is not None and ended is not None]
    return len(known) > 1 and max(taken for taken, _ in known) < min(ended for _, ended in known)
