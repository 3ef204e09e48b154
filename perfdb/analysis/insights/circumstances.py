"""What else differs: the circumstances in which two sets of runs are not equal, beside what is compared.

A difference in per cent explains nothing while the processors, the level or the bytes of a transaction differ too.
Circumstances are facts as printed; each key has a weight, declared here, that says how far it can explain a result.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from perfdb.analysis.units import read_number

Facts = Mapping[str, str]

# How far two numbers of seconds may lie apart before it matters, relative to the longer.
_TOLERANCE = 0.1
# A list of values longer than this is cut; "and 12 more" says the rest.
_MOST_VALUES = 4


class Weight(StrEnum):
    """How much a differing circumstance may mean, the heaviest first."""

    OTHER_WORK = "not the same work"
    EXPLAINS = "could explain it"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Circumstance:
    """A rule: facts whose key matches ``pattern`` weigh ``weight``, because of ``why``.

    ``tolerant`` compares numbers and lets small differences pass.
    """

    pattern: str
    weight: Weight
    why: str
    tolerant: bool = False


# The first rule that matches a key counts.
CIRCUMSTANCES: tuple[Circumstance, ...] = (
    Circumstance(
        r"request_bytes|response_bytes|workload|message_bytes|factor\.protocol",
        Weight.OTHER_WORK,
        "another number of bytes a transaction is another workload",
    ),
    Circumstance(r"think_ms|factor\.think_ms", Weight.OTHER_WORK, "users that pause ask for less"),
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
    Circumstance(r".*", Weight.MINOR, "may or may not matter"),
)

# What belongs to one execution and is different every time.
_OF_ONE_RUN = re.compile(
    r"(.*[._])?(time|started|ended|start|end|date|run_id|trial|pid|port|cookie|uptime|load|sockstat6?|indicate\w*)"
    r"([._ ].*)?"
)
# What was measured is what is to be explained; a tool's own word for it explains nothing.
_RATE = re.compile(r".*_per_s(econd)?([._ ].*)?")
# What one end says of a dimension is that dimension.
_OF_AN_END = re.compile(r"(client|server)\.")
# A fact that several files of a run say is told apart by role and file; the file is another one in each run.
_FROM_FILE = re.compile(r"(?P<key>.*) \((?P<role>[^,()]*), .*\)")
# From so many runs of a side that all say something else it is a reading, and no circumstance.
_FEWEST_READINGS = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """A circumstance that is not equal on both sides: its key, what either side says, and what it may mean.

    An empty tuple of values: that side does not say.
    """

    key: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    weight: Weight
    why: str

    @property
    def sentence(self) -> str:
        """In words: ``level: z/VM 4.3 → z/VM 4.4 (could explain it: other software)``."""
        return f"{self.key}: {values_text(self.old)} → {values_text(self.new)} ({self.weight}: {self.why})"


def values_text(values: Sequence[str]) -> str:
    """The values of one side in a few words."""
    if not values:
        return "not known"
    shown = ", ".join(values[:_MOST_VALUES])
    return shown if len(values) <= _MOST_VALUES else f"{shown} and {len(values) - _MOST_VALUES} more"


def differing_circumstances(
    old: Iterable[Facts], new: Iterable[Facts], compared: Iterable[str] = ()
) -> list[Difference]:
    """The circumstances in which the runs of both sides differ, the heaviest first; ``compared`` are left out.

    Sides are compared as wholes: a value that is as frequent on both sides is no difference, whatever run has it.
    """
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
    """The facts of a run by key and role, whatever file they are from; several values become one text."""
    found: dict[str, list[str]] = {}
    for key, text in facts.items():
        told = _FROM_FILE.fullmatch(key)
        name = key if told is None else f"{told['key']} ({told['role']})" if told["role"] else told["key"]
        found.setdefault(name, []).append(text)
    return {name: " / ".join(dict.fromkeys(texts)) for name, texts in found.items()}


def _is_reading(key: str, side: Sequence[Facts]) -> bool:
    """Whether no two runs of a side say the same."""
    said = [facts[key] for facts in side if key in facts]
    return len(said) >= _FEWEST_READINGS and len(set(said)) == len(said)


def _difference(key: str, old: Sequence[Facts], new: Sequence[Facts]) -> list[Difference]:
    left, right = _shares(key, old), _shares(key, new)
    if left == right or (_is_reading(key, old) and _is_reading(key, new)):
        return []
    rule = next(each for each in CIRCUMSTANCES if re.fullmatch(each.pattern, key.partition(" (")[0]))
    if rule.tolerant and _near(left, right):
        return []
    if {None} in (left.keys(), right.keys()):
        # One side says nothing at all: that is not known to be a difference.
        return [Difference(key, _values(left), _values(right), Weight.MINOR, "only one side says it")]
    if _values(left) == _values(right):
        return [Difference(key, _values(left), _values(right), Weight.MINOR, "in other shares")]
    return [Difference(key, _values(left), _values(right), rule.weight, rule.why)]


def _shares(key: str, side: Sequence[Facts]) -> dict[str | None, float]:
    """How large a part of the runs has each value; None stands for runs that do not say."""
    counted = Counter(facts.get(key) for facts in side)
    return {value: number / len(side) for value, number in counted.items()}


def _values(shares: Mapping[str | None, float]) -> tuple[str, ...]:
    return tuple(sorted(value for value in shares if value is not None))


def _near(old: Mapping[str | None, float], new: Mapping[str | None, float]) -> bool:
    """Whether the smallest and the largest number of both sides lie close to each other."""
    try:
        left, right = ([read_number(value) for value in _values(side)] for side in (old, new))
    except ValueError:
        return False
    if not left or not right:
        return False
    ends = ((min(left), min(right)), (max(left), max(right)))
    return all(abs(a - b) <= _TOLERANCE * max(abs(a), abs(b)) for a, b in ends)
