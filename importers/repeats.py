"""Telling apart the results of one file: those of the same configuration are its trials."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from importers.model import Fragment

_CONFIGURATION = frozenset({"workload", "users", "request_bytes", "response_bytes", "message_bytes", "mtu", "device"})


def number_trials(fragments: Iterable[Fragment]) -> list[Fragment]:
    """The fragments of one file, numbered 1, 2, 3 ... where several have the same run id, role and configuration."""
    listed = list(fragments)
    repeated = Counter(map(_configuration, listed))
    seen: Counter[object] = Counter()
    numbered = []
    for fragment in listed:
        configuration = _configuration(fragment)
        seen[configuration] += 1
        is_trial = fragment.trial is None and repeated[configuration] > 1
        numbered.append(replace(fragment, trial=seen[configuration]) if is_trial else fragment)
    return numbered


def _configuration(fragment: Fragment) -> object:
    facts = {(each.key, each.text) for each in fragment.facts if each.key in _CONFIGURATION or "factor." in each.key}
    return fragment.run_id, fragment.role, frozenset(facts)
