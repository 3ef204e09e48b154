"""What a snapshot file's name says: ``linuxa.before.txt``, ``client/proc_stat.after``, ``ethtool_S_eth0.before``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_PHASES = ("before", "after")
_ROLES = ("client", "server")
_ENDINGS = frozenset({"txt", "log", "json", "out"})
_BARE = (
    (re.compile(r"proc_net_(dev|snmp|netstat|sockstat|softnet_stat)"), r"/proc/net/\1"),
    (re.compile(r"proc_(stat|softirqs|interrupts|uptime|cpuinfo|meminfo)"), r"/proc/\1"),
    (re.compile(r"net_(dev|snmp|netstat)"), r"/proc/net/\1"),
    (re.compile(r"(softnet_stat|sockstat)"), r"/proc/net/\1"),
    (re.compile(r"(softirqs|interrupts|cpuinfo|meminfo)"), r"/proc/\1"),
    (re.compile(r"ethtool_([Ski])_(\S+)"), r"ethtool -\1 \2"),
    (re.compile(r"ip_s_link_?(\S*)|ip_link_?(\S*)"), r"ip -s -s link show dev \1\2"),
    (re.compile(r"uname(?:_a)?"), "uname -a"),
    (re.compile(r"date"), "date"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """``title``: what a bare file holds, empty when the name does not say it."""

    phase: str | None
    role: str | None
    host: str | None
    title: str


def read_name(name: str) -> Named:
    """Read a path; folders may name phase and role too, the host stands in the file's own name."""
    path = PurePosixPath(name)
    words = [word for word in path.name.split(".") if word.lower() not in _ENDINGS]
    folders = [word.lower() for part in path.parts[:-1] for word in re.split(r"[._\-\s]+", part)]
    phase = _only(_split(words), _PHASES) or _only(folders, _PHASES)
    role = _only(_split(words), _ROLES) or _only(folders, _ROLES)
    titles = [title for word in words if (title := _bare(_without_phase(word)))]
    hosts = [word for word in words if not _bare(_without_phase(word)) and word.lower() not in (*_PHASES, *_ROLES)]
    before_phase = _before(words, phase)
    host = before_phase if before_phase in hosts else (hosts[-1] if hosts and titles else None)
    return Named(phase, role, host, titles[0] if titles else "")


def _split(words: Sequence[str]) -> list[str]:
    return [part for word in words for part in re.split(r"[_\-\s]+", word.lower())]


def _only(words: Sequence[str], known: Sequence[str]) -> str | None:
    found = {word for word in words if word in known}
    return found.pop() if len(found) == 1 else None


def _without_phase(word: str) -> str:
    return re.sub(r"[_-](?:before|after)$", "", word)


def _bare(word: str) -> str:
    return next((pattern.sub(title, word).strip() for pattern, title in _BARE if pattern.fullmatch(word)), "")


def _before(words: Sequence[str], phase: str | None) -> str | None:
    """The word in front of the phase, which is whose snapshot it is."""
    lower = [word.lower() for word in words]
    at = lower.index(phase) if phase in lower else 0
    return words[at - 1] if at else None
