"""Circumstances in which two sets of runs differ, beside the compared dimension.

Circumstances are facts as printed. Each key has a declared weight: how far it can explain a result.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isclose

from perfdb.analysis.dimensions import OPTIONS
from perfdb.analysis.units import read_number

Facts = Mapping[str, str]

# Relative difference of seconds that does not matter.
_TOLERANCE = 0.1
# Longer lists of values are shortened: "and 12 more".
_MOST_VALUES = 4


class Weight(StrEnum):
    """The weight of a differing circumstance, heaviest first."""

    OTHER_WORK = "different workload"
    EXPLAINS = "can explain it"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Circumstance:
    """A fact's weight and reason by ``pattern``; ``tolerant`` ignores small differences."""

    pattern: str
    weight: Weight
    why: str
    tolerant: bool = False


# The first matching rule counts.
CIRCUMSTANCES: tuple[Circumstance, ...] = (
    Circumstance(
        r"request_bytes|response_bytes|workload|(factor\.)?message_bytes|factor\.protocol",
        Weight.OTHER_WORK,
        "another number of bytes a transaction is another workload",
    ),
    Circumstance(r"(factor\.)?think_ms", Weight.OTHER_WORK, "users that pause ask for less"),
    Circumstance(rf"(factor\.)?({'|'.join(sorted(OPTIONS))})", Weight.OTHER_WORK, "other options ask for other work"),
    Circumstance(r"mtu|mss", Weight.EXPLAINS, "fewer, larger packets cost less CPU"),
    Circumstance(r"offload\..*", Weight.EXPLAINS, "offloads move work to the adapter and change what the MTU means"),
    Circumstance(r"machine|processors|memory|cpu_model|node|system", Weight.EXPLAINS, "another system"),
    Circumstance(r"level|campaign|kernel|cp\.level|.*_level", Weight.EXPLAINS, "other software"),
    Circumstance(r"driver|driver_version|firmware|speed|qdisc|congestion_control", Weight.EXPLAINS, "another path"),
    Circumstance(r"factor\..*", Weight.EXPLAINS, "a factor of the study"),
    Circumstance(r"device|users|layer|study", Weight.EXPLAINS, "another configuration"),
    Circumstance(
        r"driver_s|asked_duration_s|duration_s|asked_seconds|elapsed_s",
        Weight.EXPLAINS,
        "a short run is mostly start and end",
        tolerant=True,
    ),
    Circumstance(r"tool|tool_version|mb_bytes|.*version", Weight.MINOR, "tools count differently between versions"),
    Circumstance(r".*", Weight.MINOR, "effect unknown"),
)

# Facts of a single execution.
_OF_ONE_RUN = re.compile(
    r"(.*[._])?(time|started|ended|start|end|date|run_id|trial|pid|port|cookie|uptime|load|sockstat6?|indicate\w*)"
    r"([._ ].*)?"
)
# Measured rates are to be explained, not explanations.
_RATE = re.compile(r".*_per_s(econd)?([._ ].*)?")
# Prefix of a dimension reported by one end.
_OF_AN_END = re.compile(r"(client|server)\.")
# A fact of several files carries role and file; the file differs in each run.
_FROM_FILE = re.compile(r"(?P<key>.*) \((?P<role>[^,()]*), .*\)")
# A fact that differs in at least this many runs of a side is a reading, no circumstance.
_FEWEST_READINGS = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """A differing circumstance; an empty tuple of values if one side has none."""

    key: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    weight: Weight
    why: str

    @property
    def sentence(self) -> str:
        """Return the sentence ``level: z/VM 4.3 → z/VM 4.4 (can explain it: other software)``."""
        return f"{self.key}: {values_text(self.old)} → {values_text(self.new)} ({self.weight}: {self.why})"


def values_text(values: Sequence[str]) -> str:
    """Join the values of one side, shortened."""
    if not values:
        return "not known"
    shown = ", ".join(values[:_MOST_VALUES])
    return shown if len(values) <= _MOST_VALUES else f"{shown} and {len(values) - _MOST_VALUES} more"


def differing_circumstances(
    old: Iterable[Facts], new: Iterable[Facts], compared: Iterable[str] = ()
) -> list[Difference]:
    """Return circumstances in which both sides as wholes differ, heaviest first, without ``compared``."""
    left, right = [_merged(facts) for facts in old], [_merged(facts) for facts in new]
    if not left or not right:
        return []
    leave_out = set(compared)
    keys = dict.fromkeys(key for facts in (*left, *right) for key in facts)
    found = [
        difference
        for key in keys
        if _OF_AN_END.sub("", key) not in leave_out and not any(own.fullmatch(key) for own in (_OF_ONE_RUN, _RATE))
        for difference in _difference(key, left, right)
    ]
    order = list(Weight)
    return sorted(found, key=lambda each: (order.index(each.weight), each.key))


def _merged(facts: Facts) -> Facts:
    """Return a run's facts by key and role, values of several files joined."""
    found: dict[str, list[str]] = {}
    for key, text in facts.items():
        told = _FROM_FILE.fullmatch(key)
        name = key if told is None else f"{told['key']} ({told['role']})" if told["role"] else told["key"]
        found.setdefault(name, []).append(text)
    return {name: " / ".join(dict.fromkeys(texts)) for name, texts in found.items()}


def _is_reading(key: str, side: Sequence[Facts]) -> bool:
    """Return whether at least three runs of a side have values, all different."""
    said = [facts[key] for facts in side if key in facts]
    return len(said) >= _FEWEST_READINGS and len(set(said)) == len(said)


def _difference(key: str, old: Sequence[Facts], new: Sequence[Facts]) -> list[Difference]:
    left, right = _shares(key, old), _shares(key, new)
    if left == right or (_is_reading(key, old) and _is_reading(key, new)):
        return []
    rule = next(each for each in CIRCUMSTANCES if re.fullmatch(each.pattern, key.partition(" (")[0]))
    if rule.tolerant and _near(left, right):
        return []
    weight, why = rule.weight, rule.why
    if {None} in (left.keys(), right.keys()):
        # Without values on one side a difference is not known.
        weight, why = Weight.MINOR, "recorded on one side only"
    elif _values(left) == _values(right):
        weight, why = Weight.MINOR, "in other shares"
    return [Difference(key, _values(left), _values(right), weight, why)]


def _shares(key: str, side: Sequence[Facts]) -> dict[str | None, float]:
    """Return the share of runs per value; None counts runs without value."""
    return {value: number / len(side) for value, number in Counter(facts.get(key) for facts in side).items()}


def _values(shares: Mapping[str | None, float]) -> tuple[str, ...]:
    return tuple(sorted(value for value in shares if value is not None))


def _near(old: Mapping[str | None, float], new: Mapping[str | None, float]) -> bool:
    """Return whether the smallest numbers, and the largest, differ by at most 10%."""
    try:
        left, right = ([read_number(value) for value in _values(side)] for side in (old, new))
    except ValueError:
        return False
    if not left or not right:
        return False
    return all(isclose(end(left), end(right), rel_tol=_TOLERANCE) for end in (min, max))
