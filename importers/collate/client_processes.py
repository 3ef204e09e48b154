"""Processes of the client that were started together: each wrote a log of its own, and what they moved adds up.

Results that stand in one file and that its importer did not number as trials are theirs. Else such logs lie in one
folder, are numbered (``netperf.01.txt``, ``netperf.02.txt``) and say the same of the run. So do the logs of trials that
somebody took one after the other. Which it is, the logs' times tell; where they print none, the number of users that a
manifest states, or snapshots in the folder, which are of one run.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from importers.collate.folders import own_folder
from importers.collate.kinds import is_client, is_evidence
from importers.key_values import whole
from importers.model import Fragment

_NUMBERED = re.compile(r"(?P<name>.*?)[._-]?(?P<number>\d{1,4})")
# What makes an experiment; logs that differ in one of these are of different runs.
_CONFIGURATION = frozenset(
    {"workload", "request_bytes", "response_bytes", "message_bytes", "mtu", "users", "device", "layer", "level"}
)


def number_of_part(fragment: Fragment) -> str | None:
    """The number in a client log's name by which it may be told from another with the very same figures."""
    if not is_client(fragment) or fragment.run_id is not None or fragment.taken is not None:
        return None
    match = _NUMBERED.fullmatch(PurePosixPath(fragment.file).stem)
    return match["number"] if match else None


def groups_of_parts(
    fragments: Sequence[Fragment], run_ids: Mapping[int, str | None], stated: Mapping[str, Sequence[Fragment]]
) -> list[list[Fragment]]:
    """The client's logs that are of one run each, in the order of their numbers.

    ``run_ids`` has the run of each fragment by its ``id()``, ``stated`` the manifests' rows by run id.
    """
    beside: dict[tuple[object, ...], list[Fragment]] = {}
    siblings: dict[tuple[object, ...], list[Fragment]] = {}
    furnished = {own_folder(each, run_ids[id(each)]) for each in fragments if is_evidence(each)}
    for fragment in filter(is_client, fragments):
        if fragment.run_id is None and fragment.trial is None:
            beside.setdefault((fragment.file, _configuration(fragment)), []).append(fragment)
    in_one_file = [group for group in beside.values() if len(group) > 1]
    placed = {id(fragment) for group in in_one_file for fragment in group}
    for fragment in (each for each in fragments if is_client(each) and id(each) not in placed):
        key = _key(fragment, run_ids[id(fragment)])
        if key is not None:
            siblings.setdefault(key, []).append(fragment)
    groups = [sorted(group, key=_number) for group in siblings.values() if len(group) > 1]
    together = [group for group in groups if _together(group, run_ids[id(group[0])] or "", stated, furnished)]
    return in_one_file + together


def _key(fragment: Fragment, run_id: str | None) -> tuple[object, ...] | None:
    """What logs of one run have in common; None for a log that names its own run or is not numbered."""
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
    group: Sequence[Fragment], run_id: str, stated: Mapping[str, Sequence[Fragment]], furnished: set[str | None]
) -> bool:
    """Whether the processes ran at the same time."""
    times = [(each.taken, each.ended) for each in group]
    if any(taken is not None for taken, _ in times):
        return _overlap(times)
    users = {fact.text for row in stated.get(run_id.casefold(), ()) for fact in row.facts if fact.key == "users"}
    if users:
        return str(_users(group)) in users
    return own_folder(group[0], run_id) in furnished


def _users(group: Iterable[Fragment]) -> int:
    """How many users all processes have; a process that does not say has one."""
    texts = (next((fact.text for fact in each.facts if fact.key == "users"), "1") for each in group)
    return sum(whole(text) if text.isdecimal() else 1 for text in texts)


def _overlap(times: Iterable[tuple[datetime | None, datetime | None]]) -> bool:
    known = [(taken, ended) for taken, ended in times if taken is not None and ended is not None]
    return len(known) > 1 and max(taken for taken, _ in known) < min(ended for _, ended in known)
