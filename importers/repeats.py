"""Telling apart the results of one file: those of the same configuration are its trials."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from importers.model import Fact, Fragment

_CONFIGURATION = frozenset({"workload", "users", "request_bytes", "response_bytes", "message_bytes", "mtu", "device"})
_SERVER = "server"


def number_trials(fragments: Iterable[Fragment]) -> list[Fragment]:
    """The fragments of one file, numbered 1, 2, 3 ... where several have the same run id, role and configuration.

    Results of several servers are no trials of each other: they get the server as ``factor.server``.
    """
    listed = _apart_by_server(list(fragments))
    configurations = [_configuration(fragment) for fragment in listed]
    repeated = Counter(configurations)
    seen: Counter[object] = Counter()
    numbered = []
    for fragment, configuration in zip(listed, configurations, strict=True):
        seen[configuration] += 1
        is_trial = fragment.trial is None and repeated[configuration] > 1
        numbered.append(replace(fragment, trial=seen[configuration]) if is_trial else fragment)
    return numbered


def _apart_by_server(fragments: list[Fragment]) -> list[Fragment]:
    named = {fact.text for fragment in fragments for fact in _server(fragment)}
    if len(named) < 2:
        return fragments
    servers: dict[object, set[str]] = {}
    for fragment in fragments:
        servers.setdefault(_configuration(fragment), set()).update(fact.text for fact in _server(fragment))
    return [_with_factor(each) if len(servers[_configuration(each)]) > 1 else each for each in fragments]


def _server(fragment: Fragment) -> list[Fact]:
    return [fact for fact in fragment.facts if fact.key == _SERVER][:1]


def _with_factor(fragment: Fragment) -> Fragment:
    factors = tuple(replace(fact, key=f"factor.{_SERVER}") for fact in _server(fragment))
    return replace(fragment, facts=(*fragment.facts, *factors))


def _configuration(fragment: Fragment) -> object:
    facts = {(each.key, each.text) for each in fragment.facts if each.key in _CONFIGURATION or "factor." in each.key}
    return fragment.run_id, fragment.role, frozenset(facts)
