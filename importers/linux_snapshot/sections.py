"""Sections of a snapshot, under heads of ``tail`` or echoed commands."""

import re
from collections.abc import Iterable, Iterator

from importers.linux_snapshot import counters, host_facts
from importers.linux_snapshot.evidence import Evidence, Section
from importers.model import Text

_LINK = r"(?:\S*/)?ip\b(?=.*\s(?:l|li|lin|link|a|ad|add|addr|address)\b)"
_JSON = r"(?=.*\s-(?:j|json|[sd]*j[sd]*)\b)"
_ETHTOOL = r"(?:sudo )?(?:\S*/)?ethtool"

_READERS: tuple[tuple[re.Pattern[str], host_facts.Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"/proc/stat", counters.read_stat),
        (r"/proc/uptime", counters.read_uptime),
        (r"/proc/(?:softirqs|interrupts)", counters.read_columns),
        (r"/proc/(?:self/)?net/dev", counters.read_net_dev),
        (r"/proc/(?:self/)?net/(?:snmp|netstat)", counters.read_protocols),
        (r"/proc/(?:self/)?net/softnet_stat", counters.read_softnet),
        (r"/proc/(?:self/)?net/sockstat6?|/proc/loadavg", counters.read_levels),
        (r"/sys/fs/cgroup/.*(?:cpuacct\.(?:usage|stat)|cpu\.stat)", counters.read_cgroup),
        (r"/proc/cpuinfo|lscpu", host_facts.read_cpuinfo),
        (r"/proc/meminfo", host_facts.read_meminfo),
        (r"/proc/sys/.*|sysctl .*", host_facts.read_setting),
        (r"uname\b.*", host_facts.read_uname),
        (r"hostname|/etc/hostname", host_facts.read_hostname),
        (rf"{_LINK}{_JSON}.*", counters.read_link_json),
        (rf"{_LINK}.*", counters.read_link),
        (rf"{_ETHTOOL} -S .*", counters.read_statistics),
        (rf"{_ETHTOOL} -k .*", counters.read_features),
        (rf"{_ETHTOOL} -i .*", counters.read_driver),
    )
)
_DATE = re.compile(r"date\b.*")
_SILENT = re.compile(r"uptime|free\b.*|nproc")
_COMMON = re.compile(r"date\b.*|uptime|free\b.*|nproc|uname\b.*|hostname|lscpu")


def is_date(title: str) -> bool:
    """Return whether a section has the time of the snapshot."""
    return _DATE.fullmatch(title) is not None


def is_common_command(title: str) -> bool:
    """Return whether people also type this command beside load tools."""
    return _COMMON.fullmatch(title) is not None


def is_known(title: str) -> bool:
    """Return whether a title is of a snapshot's sections."""
    return is_date(title) or _SILENT.fullmatch(title) is not None or _reader(title) is not None


def read_section(section: Section, evidence: Evidence) -> None:
    """Read one section; an unknown one is kept as text."""
    reader = _reader(section.title)
    if reader is not None:
        reader(section, evidence)
    elif not is_date(section.title) and section.filled:
        evidence.fact(f"section.{section.title}", "\n".join(text for _, text in section.filled), section.line)


def _reader(title: str) -> host_facts.Reader | None:
    return next((reader for pattern, reader in _READERS if pattern.fullmatch(title)), None)


_HEAD = re.compile(r"==> (.+) <==")
# ``# cat /proc/stat``, ``$ ethtool -S eth0``, ``root@linuxa:~# date``, ``[perf@linuxa ~]$ date``
_PROMPT = re.compile(r"(?:[\w.-]+@[\w.-]+\S*\s?|\[[^\]]+\]\s?)?[#$]\s+(\S.*)")
_SIGNS = ("==> ", "#", "$")
_CAT = re.compile(r"(?:sudo\s+)?(?:cat|head|tail -n \+1)\s+(?=/)")
_PROBED = 400
"""Lines in which the first head must occur."""


def title_of(line: str) -> str | None:
    """Return the file or command of a head line; None for other lines."""
    # The same as ``any`` of the signs, which every line of a snapshot would wait for.
    if "$" not in line and "#" not in line and "==> " not in line:
        return None
    head = _HEAD.fullmatch(line.strip())
    if head:
        return head[1].strip()
    prompt = _PROMPT.fullmatch(line.strip())
    if prompt is None:
        return None
    title = _CAT.sub("", prompt[1].strip())
    return title if is_known(title) else None


def has_sections(text: Text) -> bool:
    """Return whether the first lines announce a section that only snapshots have.

    People type ``date`` before and after a load tool too: behind a prompt such a command does not count.
    """
    for line in text.lines[:_PROBED] if text.mentions(_SIGNS, _PROBED) else ():
        title = title_of(line)
        if title is not None and is_known(title) and (_HEAD.fullmatch(line.strip()) or not is_common_command(title)):
            return True
    return False


def split_sections(lines: Iterable[tuple[int, str]]) -> Iterator[Section]:
    """Yield the sections, in order; lines before the first head belong to none."""
    section: Section | None = None
    for number, line in lines:
        title = title_of(line)
        if title is not None:
            if section is not None:
                yield section
            section = Section(title, number)
        elif section is not None:
            section.lines.append((number, line))
    if section is not None:
        yield section
