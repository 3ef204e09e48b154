"""Files of /proc and of control groups: CPU times, interrupts, packets and protocol counters."""

import re

from importers.key_values import is_count
from importers.linux_snapshot.evidence import TICKS, Evidence, Section, are_counts
from importers.model import Reading

_CPU_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_TOTALS = {"intr": "interrupts", "ctxt": "context_switches", "processes": "forks", "softirq": "softirqs"}
_TRAFFIC = ("bytes", "packets", "errors", "dropped", "fifo")
_COLUMNS = (
    *(f"rx_{name}" for name in (*_TRAFFIC, "frame", "compressed", "multicast")),
    *(f"tx_{name}" for name in (*_TRAFFIC, "collisions", "carrier", "compressed")),
)
_UNITS = tuple("bytes" if column.endswith("_bytes") else "count" for column in _COLUMNS)
_SOFTNET = ("processed", "dropped", "squeezed")
# A line of numbers of a processor.
_HEX = re.compile(r"\s*[0-9a-f]{1,8}(?:\s+[0-9a-f]{1,8})*\s*")
# What /proc/net/snmp and netstat print among their counters although it is a setting or a present number.
_LEVELS = frozenset(
    (
        *("Ip.Forwarding", "Ip.DefaultTTL", "Tcp.RtoAlgorithm", "Tcp.RtoMin", "Tcp.RtoMax"),
        *("Tcp.MaxConn", "Tcp.CurrEstab", "MPTcpExt.MPCurrEstab"),
    )
)
_CGROUP = re.compile(r"/sys/fs/cgroup/(?:[^/\s]+/)*?(?P<group>[^/\s]+)/(?:cpuacct\.usage|cpuacct\.stat|cpu\.stat)")
_CGROUP_V2 = {"usage_usec": "usage", "user_usec": "user", "system_usec": "system"}


def read_stat(section: Section, evidence: Evidence) -> None:
    """Read /proc/stat: CPU times by processor, and the kernel's counters."""
    processors = []
    for number, text in section.filled:
        name, *values = text.split()
        if name == "cpu":
            evidence.count_all("cpu", _CPU_TIMES, values, TICKS, number)
        elif name.startswith("cpu") and is_count(name[3:]):
            processors.append(number)
            evidence.count_all(f"processor/{name[3:]}", _CPU_TIMES, values, TICKS, number)
        elif name in _TOTALS and values:
            evidence.count("kernel", _TOTALS[name], values[0], "count", number)
        elif name == "btime" and values:
            evidence.count("kernel", "btime", values[0], "s", number)
    if processors:
        reading = Reading("processors", str(len(processors)), "processors", processors[0], evidence.role)
        evidence.readings.append(reading)


def read_uptime(section: Section, evidence: Evidence) -> None:
    """Read /proc/uptime: seconds since the start, and idle seconds of all processors."""
    for number, text in section.filled[:1]:
        evidence.count_all("uptime", ("uptime", "idle"), text.split(), "s", number)


def read_columns(section: Section, evidence: Evidence) -> None:
    """Read /proc/softirqs and /proc/interrupts: a column for each processor, named in the head line."""
    lines = section.filled
    if not lines:
        return
    kind = "softirq" if section.title.endswith("softirqs") else "interrupt"
    subjects = [f"{kind}/{word.removeprefix('CPU')}" for word in lines[0][1].split()]
    for number, text in lines[1:]:
        name, colon, rest = text.partition(":")
        words = rest.split()
        values = words[: len(subjects)]
        if not colon or not are_counts(values):
            continue
        if len(values) == 1 < len(subjects):
            # ERR and MIS are counted for all processors together.
            evidence.keep(kind, name.strip(), values[0], "count", number)
            continue
        what = " ".join((name.strip(), *words[len(subjects) :]))
        for subject, value in zip(subjects, values, strict=False):
            evidence.keep(subject, what, value, "count", number)


def read_net_dev(section: Section, evidence: Evidence) -> None:
    """Read /proc/net/dev by column; the name may touch the first number."""
    for number, text in section.filled:
        name, colon, rest = text.rpartition(":")
        values = rest.split()
        if colon and len(values) >= len(_COLUMNS):
            evidence.count_all(f"adapter/{name.strip()}", _COLUMNS, values, _UNITS, number)


def read_protocols(section: Section, evidence: Evidence) -> None:
    """Read /proc/net/snmp and netstat: pairs of lines of names and values."""
    subject = section.title.rpartition("/")[2]
    heads: dict[str, list[str]] = {}
    for number, text in section.filled:
        prefix, colon, rest = text.partition(":")
        words = rest.split()
        if not colon:
            continue
        if prefix not in heads:
            heads[prefix] = words
            continue
        for name, value in zip(heads.pop(prefix), words, strict=False):
            if f"{prefix}.{name}" not in _LEVELS:
                evidence.count(subject, f"{prefix}.{name}", value, "count", number)


def read_softnet(section: Section, evidence: Evidence) -> None:
    """Read /proc/net/softnet_stat: a line for each processor, converted from hexadecimal to decimal."""
    for processor, (number, text) in enumerate(section.filled):
        if _HEX.fullmatch(text):
            values = [str(int(word, 16)) for word in text.split()[: len(_SOFTNET)]]
            evidence.count_all(f"softnet/{processor}", _SOFTNET, values, "count", number)


def read_cgroup(section: Section, evidence: Evidence) -> None:
    """Read CPU time of a control group.

    Version 1 has nanoseconds and ticks, version 2 microseconds.
    """
    path = _CGROUP.fullmatch(section.title)
    if path is None:
        return
    subject = f"cgroup/{path['group']}"
    for number, text in section.filled:
        words = text.split()
        if section.title.endswith("cpuacct.usage"):
            evidence.count(subject, "usage", words[0], "ns", number)
        elif len(words) == 2 and words[0] in _CGROUP_V2:
            evidence.count(subject, _CGROUP_V2[words[0]], words[1], "us", number)
        elif len(words) == 2 and words[0] in {"user", "system"}:
            evidence.count(subject, words[0], words[1], TICKS, number)


def read_levels(section: Section, evidence: Evidence) -> None:
    """Keep /proc/net/sockstat and similar files as text: present numbers, without meaningful differences."""
    lines = section.filled
    if lines:
        evidence.fact(section.title.rpartition("/")[2], "\n".join(text for _, text in lines), lines[0][0])
