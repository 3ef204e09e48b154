"""Telling apart the results of one file: those of the same configuration are its trials."""

from collections import Counter
from collections.abc import Iterable

from importers.model import Fact, Fragment

_CONFIGURATION = frozenset({"workload", "users", "request_bytes", "response_bytes", "message_bytes", "mtu", "device"})
_SERVER = "server"


def number_trials(fragments: Iterable[Fragment]) -> list[Fragment]:
    """The fragments of one file, numbered 1, 2, 3 ... where several have the same run id, role and configuration.

    Results of several servers are no trials of each other: they get the server as ``factor.server``.
    """
    listed = list(fragments)
    if len(listed) < 2:
        return listed
    configurations = [_configuration(fragment) for fragment in listed]
    _tell_servers_apart(listed, configurations)
    repeated = Counter(configurations)
    seen: Counter[object] = Counter()
    for fragment, configuration in zip(listed, configurations, strict=True):
        if repeated[configuration] > 1:
            seen[configuration] += 1
            if fragment.trial is None:
                fragment.trial = seen[configuration]
    return listed


def _tell_servers_apart(fragments: list[Fragment], configurations: list[object]) -> None:
    servers = [_server(fragment) for fragment in fragments]
    if len({fact.text for fact in servers if fact}) < 2:
        return
    of_configuration: dict[object, set[str]] = {}
    for fact, configuration in zip(servers, configurations, strict=True):
        of_configuration.setdefault(configuration, set()).update({fact.text} if fact else ())
    for at, fact in enumerate(servers):
        if fact and len(of_configuration[configurations[at]]) > 1:
            fragments[at].facts += (fact._replace(key=f"factor.{_SERVER}"),)
            configurations[at] = configurations[at], fact.text


def _server(fragment: Fragment) -> Fact | None:
    return next((fact for fact in fragment.facts if fact.key == _SERVER), None)


def _configuration(fragment: Fragment) -> object:
    facts = {fact[:2] for fact in fragment.facts if fact.key in _CONFIGURATION or "factor." in fact.key}
    return fragment.run_id, fragment.role, frozenset(facts)
