"""Whose snapshots and reports are the client's, whose the server's: by the hosts that the run's evidence names."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from importers.model import Fragment, Pair, Problem, RunDraft, Severity, SourcedFact

CLIENT, SERVER = "client", "server"
UNNAMED = "host"
"""The role of snapshots that do not even say on which host they were taken."""


def name_roles(draft: RunDraft, given: Mapping[str, str]) -> None:
    """Give every pair of snapshots a role, and each host's own facts the place that they have in the run.

    Logs and manifests tell who the client is, else what a person gave (``client`` and ``server``). A host of which
    nothing is said plays the role that is left when there are two; else its own name is its role.
    """
    known = _known_roles(draft, given)
    captured: list[Pair | Fragment] = [*draft.pairs, *draft.reports]
    hosts = {_key(each): each.host or UNNAMED for each in captured if each.role == ""}
    if len(hosts) > 1:
        hosts.pop("", None)
    undecided = [host for host in hosts if host not in known]
    taken = {known[host] for host in hosts if host in known} | {pair.role for pair in draft.pairs if pair.role}
    free = {CLIENT, SERVER} - taken
    if len(undecided) == 1 and len(free) == 1 and len(hosts) > 1:
        known[undecided[0]] = free.pop()
    elif undecided:
        draft.problems.append(_unknown(draft, [hosts[host] for host in undecided]))
    draft.pairs = [_with_role(pair, known) for pair in draft.pairs]
    draft.roles = _role_by_file(draft, known)
    draft.facts = _of_run(draft)


def _known_roles(draft: RunDraft, given: Mapping[str, str]) -> dict[str, str]:
    """The role of each host that something names, by its name in lower case."""
    logs = ((CLIENT, draft.driver), (SERVER, draft.peer))
    stated = [(role, log.host) for role, log in logs if log is not None and log.host]
    facts = [(fact.key, fact.text) for fact in draft.facts if fact.key in {CLIENT, SERVER} and not fact.of_host]
    persons = [(role, text) for role, text in given.items() if role in {CLIENT, SERVER}]
    captured = {each.host.casefold() for each in draft.fragments if each.host}
    named: dict[str, str] = {}
    for role, host in (*stated, *facts, *persons):
        name = host.strip().casefold()
        # A log may name the host by its address, and then another word counts; each role is played once.
        if name in captured and role not in named.values():
            named.setdefault(name, role)
    return named


def _with_role(pair: Pair, known: Mapping[str, str]) -> Pair:
    return pair if pair.role else replace(pair, role=known.get(_key(pair), pair.host or UNNAMED))


def _key(each: Pair | Fragment) -> str:
    """The host without regard to capitals."""
    return (each.host or "").casefold()


def _role_by_file(draft: RunDraft, known: Mapping[str, str]) -> dict[str, str]:
    """The role of each file that speaks of its own host."""
    halves = ((half, pair.role) for pair in draft.pairs for half in (pair.before, pair.after))
    roles = {half.file: role for half, role in halves if half is not None}
    for report in draft.reports:
        role = report.role or known.get(_key(report), report.host or UNNAMED)
        if report.role is not None:
            roles.setdefault(report.file, role)
    return roles


def _of_run(draft: RunDraft) -> list[SourcedFact]:
    """The facts, those of another host than the client under its role; the same statement once."""
    placed: dict[tuple[str, str], SourcedFact] = {}
    for fact in draft.facts:
        role = draft.roles.get(fact.file, "") if fact.of_host else ""
        foreign = role not in {"", CLIENT}
        key = f"{role}.{fact.key}" if foreign else fact.key
        one = fact._replace(key=key, role=fact.role or role or None, of_host=False)
        placed.setdefault((one.key, one.text), one)
    return list(placed.values())


def _unknown(draft: RunDraft, hosts: Iterable[str]) -> Problem:
    names = " and ".join(hosts)
    message = f"Nothing says whether {names} was the client or the server of run {draft.run_id}."
    remedy = "Its figures go by the host's name. Give client and server with the upload, or in a manifest."
    files = [each.file for each in draft.fragments if each.role == ""]
    return Problem(Severity.WARNING, "collate.roles", message, remedy, files[0] if files else "", None, draft.run_id)
