"""Pairs of snapshots before and after a run, and the roles of their hosts.

Whether a pair can be used is checked later.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from importers.file_names import PHASES, phase_and_role_in
from importers.model import Fragment, Pair, Problem, RunDraft, Severity, SourcedFact

CLIENT, SERVER = "client", "server"
UNNAMED = "host"  # Role of snapshots without a host.


def pair_snapshots(draft: RunDraft, snapshots: Sequence[Fragment]) -> None:
    """Fill ``draft.pairs`` in order; report snapshots that fit no pair.

    A snapshot with an empty role is paired by its host, which gets a role later.
    """
    usable = []
    for snapshot in snapshots:
        if snapshot.phase in PHASES and snapshot.role is not None:
            usable.append(snapshot)
        else:
            message = "This snapshot was left out: nothing says before or after which run, or whose it is."
            draft.problems.append(_left_out(draft, snapshot, "collate.unplaced", message))
    for role, host in dict.fromkeys((each.role, _host_key(each, usable)) for each in usable):
        own = [each for each in usable if each.role == role and _host_key(each, usable) == host]
        name = next((each.host for each in own if each.host), None)
        for parts in _by_contents(own):
            halves = [_half(draft, [each for each in parts if each.phase == phase]) for phase in PHASES]
            if any(halves):
                draft.pairs.append(Pair(role or "", name, *halves))


def _host_key(snapshot: Fragment, snapshots: Sequence[Fragment]) -> str | None:
    """Return the host in lower case, by default its role's only one."""
    if snapshot.host:
        return snapshot.host.casefold()
    hosts = {each.host.casefold() for each in snapshots if each.host and each.role == snapshot.role}
    return hosts.pop() if len(hosts) == 1 else None


def _by_contents(snapshots: Sequence[Fragment]) -> Iterator[list[Fragment]]:
    """Yield a host's snapshots together, or by kind of counters in own files."""
    if all(sum(each.phase == phase for each in snapshots) <= 1 for phase in PHASES):
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
    """Return the only snapshot of a phase; report and drop several that differ."""
    if len(candidates) < 2:
        return next(iter(candidates), None)
    files = ", ".join(each.file for each in candidates)
    for each in candidates:
        message = f"{len(candidates)} different snapshots were taken {each.phase} the run ({files}); none is used."
        draft.problems.append(_left_out(draft, each, "collate.two-snapshots", message))
    return None


def _left_out(draft: RunDraft, snapshot: Fragment, code: str, message: str) -> Problem:
    remedy = "Import only the one that belongs to the run, marked with run id, phase and role."
    return Problem(Severity.WARNING, code, message, remedy, snapshot.file, snapshot.first_line, draft.run_id)


def name_roles(draft: RunDraft, given: Mapping[str, str]) -> None:
    """Set the role of every pair, and the keys of hosts' facts.

    Logs and manifests name the client, else a person does (``client`` and ``server`` of ``given``), else the names of
    files (``client.sar.txt``). One undecided host of two gets the role that is left, others the own name.
    """
    known = _known_roles(draft, given)
    captured: list[Pair | Fragment] = [*draft.pairs, *draft.reports]
    hosts = {_lower_host(each): each.host or UNNAMED for each in captured if each.role == ""}
    if len(hosts) > 1:
        hosts.pop("", None)
    undecided = [host for host in hosts if host not in known]
    taken = {known[host] for host in hosts if host in known} | {pair.role for pair in draft.pairs if pair.role}
    free = {CLIENT, SERVER} - taken
    if len(undecided) == 1 and len(free) == 1 and len(hosts) > 1:
        known[undecided[0]] = free.pop()
    elif undecided:
        names = " and ".join(hosts[host] for host in undecided)
        message = f"Nothing says whether {names} was the client or the server of run {draft.run_id}."
        remedy = "Its figures go by the host's name. Give client and server with the upload, or in a manifest."
        file = next((each.file for each in draft.fragments if each.role == ""), "")
        draft.problems.append(Problem(Severity.WARNING, "collate.roles", message, remedy, file, None, draft.run_id))
    draft.pairs = [replace(each, role=each.role or _role_of(each, known)) for each in draft.pairs]
    draft.roles = _role_by_file(draft, known)
    draft.facts = _of_run(draft)


def _known_roles(draft: RunDraft, given: Mapping[str, str]) -> dict[str, str]:
    """Return the role of each named host, by its name in lower case."""
    logs = ((CLIENT, draft.driver), (SERVER, draft.peer))
    stated = [(role, log.host) for role, log in logs if log is not None and log.host]
    facts = [(fact.key, fact.text) for fact in draft.facts if not fact.of_host]
    captured = {each.host.casefold() for each in draft.fragments if each.host}
    own = [each for each in draft.fragments if each.role == ""]
    files = [(phase_and_role_in(each.file)[1], each.host or "") for each in own]
    named: dict[str, str] = {}
    for role, host in (*stated, *facts, *given.items(), *files):
        name = host.strip().casefold()
        # A log may name the host by its address, and then another word counts; each role is played once.
        if role in {CLIENT, SERVER} and name in captured and role not in named.values():
            named.setdefault(name, role)
    return named


def _role_of(each: Pair | Fragment, known: Mapping[str, str]) -> str:
    """Return the known role of a host, else its name."""
    return known.get(_lower_host(each), each.host or UNNAMED)


def _lower_host(each: Pair | Fragment) -> str:
    """Return the host in lower case."""
    return (each.host or "").casefold()


def _role_by_file(draft: RunDraft, known: Mapping[str, str]) -> dict[str, str]:
    """Return the role of each file about its own host."""
    halves = ((half, pair.role) for pair in draft.pairs for half in (pair.before, pair.after))
    roles = {half.file: role for half, role in halves if half is not None}
    for report in draft.reports:
        if report.role is not None:
            roles.setdefault(report.file, report.role or _role_of(report, known))
    return roles


def _of_run(draft: RunDraft) -> list[SourcedFact]:
    """Return the facts without repetitions, keyed by role for hosts other than the client."""
    placed: dict[tuple[str, str], SourcedFact] = {}
    for fact in draft.facts:
        role = draft.roles.get(fact.file, "") if fact.of_host else ""
        one = fact
        if fact.of_host or fact.role == "":
            key = fact.key if role in {"", CLIENT} else f"{role}.{fact.key}"
            one = fact._replace(key=key, role=fact.role or role or None, of_host=False)
        placed.setdefault((one.key, one.text), one)
    return list(placed.values())
