"""Snapshots to pairs: before and after of the same role and host. Whether a pair may be used is checked later."""

from collections.abc import Iterator, Sequence

from importers.model import Fragment, Pair, Problem, RunDraft, Severity

_PHASES = ("before", "after")


def pair_up(draft: RunDraft, snapshots: Sequence[Fragment]) -> None:
    """Fill ``draft.pairs``, in the order of their first snapshots; what fits no place in a pair is reported.

    A snapshot with an empty role is paired by its host, which decides about the role later.
    """
    usable = []
    for snapshot in snapshots:
        if snapshot.phase in _PHASES and snapshot.role is not None:
            usable.append(snapshot)
        else:
            message = "This snapshot was left out: nothing says before or after which run, or whose it is."
            draft.problems.append(_left_out(draft, snapshot, "collate.unplaced", message))
    for role, host in dict.fromkeys((each.role, _host_key(each, usable)) for each in usable):
        own = [each for each in usable if each.role == role and _host_key(each, usable) == host]
        name = next((each.host for each in own if each.host), None)
        for parts in _by_contents(own):
            halves = [_half(draft, [each for each in parts if each.phase == phase]) for phase in _PHASES]
            if any(halves):
                draft.pairs.append(Pair(role or "", name, *halves))


def _host_key(snapshot: Fragment, snapshots: Sequence[Fragment]) -> str | None:
    """The host without regard to capitals; a snapshot that names none is of its role's only host."""
    if snapshot.host:
        return snapshot.host.casefold()
    hosts = {each.host.casefold() for each in snapshots if each.host and each.role == snapshot.role}
    return hosts.pop() if len(hosts) == 1 else None


def _by_contents(snapshots: Sequence[Fragment]) -> Iterator[list[Fragment]]:
    """All of a host's snapshots; where it wrote a file for each kind of counters, those of one kind at a time."""
    if all(sum(each.phase == phase for each in snapshots) <= 1 for phase in _PHASES):
        yield list(snapshots)
        return
    kinds: dict[frozenset[str], list[Fragment]] = {}
    for each in snapshots:
        # Of processor/0 and adapter/eth0 the kind is processor and adapter.
        kind = frozenset(counter.subject.partition("/")[0] for counter in each.counters)
        kinds.setdefault(kind, []).append(each)
    apart = sum(map(len, kinds)) == len(frozenset().union(*kinds))
    yield from kinds.values() if apart else [list(snapshots)]


def _half(draft: RunDraft, candidates: Sequence[Fragment]) -> Fragment | None:
    """The only snapshot of a phase; of several that differ none is used, for nothing tells which is right."""
    if len(candidates) > 1:
        files = ", ".join(each.file for each in candidates)
        for each in candidates:
            message = f"{len(candidates)} different snapshots were taken {each.phase} the run ({files}); none is used."
            draft.problems.append(_left_out(draft, each, "collate.two-snapshots", message))
        return None
    return candidates[0] if candidates else None


def _left_out(draft: RunDraft, snapshot: Fragment, code: str, message: str) -> Problem:
    remedy = "Import only the one that belongs to the run, marked with run id, phase and role."
    return Problem(Severity.WARNING, code, message, remedy, snapshot.file, snapshot.first_line, draft.run_id)
