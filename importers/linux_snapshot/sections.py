"""Which section is read how: by the command or file in its title."""

import re

from importers.linux_snapshot import adapters, host_facts, proc_files
from importers.linux_snapshot.evidence import Evidence, Section

_LINK = r"(?:\S*/)?ip\b(?=.*\s(?:l|li|lin|link|a|ad|add|addr|address)\b)"
_JSON = r"(?=.*\s-(?:j|json|[sd]*j[sd]*)\b)"
_ETHTOOL = r"(?:sudo )?(?:\S*/)?ethtool"

_READERS: tuple[tuple[re.Pattern[str], host_facts.Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"/proc/stat", proc_files.read_stat),
        (r"/proc/uptime", proc_files.read_uptime),
        (r"/proc/(?:softirqs|interrupts)", proc_files.read_columns),
        (r"/proc/(?:self/)?net/dev", proc_files.read_net_dev),
        (r"/proc/(?:self/)?net/(?:snmp|netstat)", proc_files.read_protocols),
        (r"/proc/(?:self/)?net/softnet_stat", proc_files.read_softnet),
        (r"/proc/(?:self/)?net/sockstat6?|/proc/loadavg", proc_files.read_levels),
        (r"/sys/fs/cgroup/.*(?:cpuacct\.(?:usage|stat)|cpu\.stat)", proc_files.read_cgroup),
        (r"/proc/cpuinfo|lscpu", host_facts.read_cpuinfo),
        (r"/proc/meminfo", host_facts.read_meminfo),
        (r"/proc/sys/.*|sysctl .*", host_facts.read_setting),
        (r"uname\b.*", host_facts.read_uname),
        (r"hostname|/etc/hostname", host_facts.read_hostname),
        (rf"{_LINK}{_JSON}.*", adapters.read_link_json),
        (rf"{_LINK}.*", adapters.read_link),
        (rf"{_ETHTOOL} -S .*", adapters.read_statistics),
        (rf"{_ETHTOOL} -k .*", adapters.read_features),
        (rf"{_ETHTOOL} -i .*", adapters.read_driver),
    )
)
_DATE = re.compile(r"date\b.*")
_SILENT = re.compile(r"uptime|free\b.*|nproc")
_TYPED_ANYWHERE = re.compile(r"date\b.*|uptime|free\b.*|nproc|uname\b.*|hostname|lscpu")


def is_date(title: str) -> bool:
    """Whether a section says when the snapshot was taken."""
    return _DATE.fullmatch(title) is not None


def is_typed_anywhere(title: str) -> bool:
    """Whether it is a command that people type beside load tools as well."""
    return _TYPED_ANYWHERE.fullmatch(title) is not None


def is_known(title: str) -> bool:
    """Whether a title is of a snapshot's sections."""
    return is_date(title) or _SILENT.fullmatch(title) is not None or _reader(title) is not None


def read(section: Section, evidence: Evidence) -> None:
    """Read one section; what perfdb does not know is kept as text."""
    reader = _reader(section.title)
    if reader is not None:
        reader(section, evidence)
    elif not is_date(section.title) and section.filled:
        evidence.fact(f"section.{section.title}", "\n".join(text for _, text in section.filled), section.line)


def _reader(title: str) -> host_facts.Reader | None:
    return next((reader for pattern, reader in _READERS if pattern.fullmatch(title)), None)
