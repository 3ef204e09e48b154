"""Counters of /proc, control groups and adapters, and the adapters' settings."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from importers.files import json_documents
from importers.key_values import is_count
from importers.linux_snapshot.evidence import TICKS, Evidence, Section, are_counts
from importers.model import Reading, Text

_CPU_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_TOTALS = {"intr": "interrupts", "ctxt": "context_switches", "processes": "forks", "softirq": "softirqs"}
_TRAFFIC = ("bytes", "packets", "errors", "dropped", "fifo")
_COLUMNS = (
    *(f"rx_{name}" for name in (*_TRAFFIC, "frame", "compressed", "multicast")),
    *(f"tx_{name}" for name in (*_TRAFFIC, "collisions", "carrier", "compressed")),
)
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
_ABSOLUTE = re.compile(r"\s-(?:\w*a|-ignore\b)")
_NSTAT = re.compile(
    r"(?:^|\")(MPTcpExt|TcpExt|IpExt|IcmpMsg|Icmp6|Icmp|Ip6|UdpLite6|UdpLite|Udp6|Udp|Ip|Tcp)"
    r"(\w+)(?:\"\s*:)?\s*(\d+)"
)
_PROTOCOL = re.compile(r"([A-Z]\w+):\s*")
_SPOKEN = re.compile(r"\s+(?:(?P<count>\d+) (?P<words>\D+)|(?P<name>[A-Z]\w+): (?P<value>\d+))\s*")
# What ``netstat -s`` prints in words, in its older spellings too.
_SPOKEN_NAMES = {
    **{"active connection openings": "ActiveOpens", "passive connection openings": "PassiveOpens"},
    **{"failed connection attempts": "AttemptFails", "connection resets received": "EstabResets"},
    **{"segments received": "InSegs", "bad segments received": "InErrs", "resets sent": "OutRsts"},
    **dict.fromkeys(("segments sent out", "segments send out"), "OutSegs"),
    **dict.fromkeys(("segments retransmitted", "segments retransmited"), "RetransSegs"),
    **{"total packets received": "InReceives", "packets received": "InDatagrams", "packets sent": "OutDatagrams"},
    **{"packet receive errors": "InErrors"},
    **{"receive buffer errors": "RcvbufErrors", "send buffer errors": "SndbufErrors"},
}
_SYSFS = re.compile(r"/sys/class/net/(?P<adapter>[^/]+)/statistics(?:/|:)(?P<name>\w+)[:=]\s*(?P<value>\d+)$")
_CGROUP = re.compile(r"/sys/fs/cgroup/(?:[^/\s]+/)*?(?P<group>[^/\s]+)/(?:cpuacct\.usage|cpuacct\.stat|cpu\.stat)")
_CGROUP_TIMES = {
    **{"user": ("user", TICKS), "system": ("system", TICKS)},
    **{f"{name}_usec": (name, "us") for name in ("usage", "user", "system")},
}


def _unit_of(name: str) -> str:
    """Return the unit of an adapter's counter."""
    return "bytes" if name.endswith("bytes") else "count"


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
    """Read /proc/softirqs and /proc/interrupts: a column for each processor of the head line."""
    lines = section.filled
    kind = "softirq" if section.title.endswith("softirqs") else "interrupt"
    subjects = [f"{kind}/{word.removeprefix('CPU')}" for _, head in lines[:1] for word in head.split()]
    for number, text in lines[1:]:
        name, colon, rest = text.partition(":")
        words = rest.split()
        values = words[: len(subjects)]
        if not colon or not are_counts(values):
            continue
        what = " ".join((name.strip(), *words[len(subjects) :]))
        # ERR and MIS are counted for all processors together.
        for subject, value in zip([kind] if len(values) == 1 < len(subjects) else subjects, values, strict=False):
            evidence.keep(subject, what, value, "count", number)


def read_net_dev(section: Section, evidence: Evidence) -> None:
    """Read /proc/net/dev by column; the name may touch the first number."""
    for number, text in section.filled:
        name, colon, rest = text.rpartition(":")
        values = rest.split()
        if colon and len(values) >= len(_COLUMNS):
            evidence.count_all(f"adapter/{name.strip()}", _COLUMNS, values, map(_unit_of, _COLUMNS), number)


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


def _count_protocol(prefix: str, name: str, value: str, line: int, evidence: Evidence) -> None:
    """Count by the subjects and names of /proc/net/snmp and netstat."""
    if f"{prefix}.{name}" not in _LEVELS:
        evidence.count("netstat" if prefix.endswith("Ext") else "snmp", f"{prefix}.{name}", value, "count", line)


def read_nstat(section: Section, evidence: Evidence) -> None:
    """Read ``nstat -as``, as text or JSON; without -a it prints increases since its last call."""
    if not _ABSOLUTE.search(section.title):
        message = f"{section.title!r} prints increases since its last call, no counters: they were left out."
        evidence.found.warn("linux_snapshot.increases", message, "Capture nstat -asz.", section.line)
        return
    for number, text in section.filled:
        for prefix, name, value in _NSTAT.findall(text):
            _count_protocol(prefix, name, value, number, evidence)


def read_netstat(section: Section, evidence: Evidence) -> None:
    """Read ``netstat -s``: a head for each protocol, then counts in front of words or behind names."""
    prefix = ""
    for number, text in section.filled:
        if head := _PROTOCOL.fullmatch(text):
            prefix = head[1]
        elif prefix and (match := _SPOKEN.fullmatch(text)):
            name = match["name"] or _SPOKEN_NAMES.get(match["words"].replace("connections open", "connection open"))
            if name is not None:
                _count_protocol(prefix, name, match["value"] or match["count"], number, evidence)


def read_sysfs(section: Section, evidence: Evidence) -> None:
    """Read /sys/class/net/NAME/statistics: a file for each counter, or lines of ``grep . FILES``."""
    for number, text in section.filled:
        printed = text.strip() if "/statistics" in text else f"{section.title.rstrip('/*')}:{text.strip()}"
        if match := _SYSFS.search(printed):
            name = match["name"].removesuffix("_errors") if match["name"].count("_") > 1 else match["name"]
            name = {"multicast": "rx_multicast", "collisions": "tx_collisions"}.get(name, name)
            evidence.count(f"adapter/{match['adapter']}", name, match["value"], _unit_of(name), number)


def read_softnet(section: Section, evidence: Evidence) -> None:
    """Read /proc/net/softnet_stat: a line for each processor, converted from hexadecimal to decimal."""
    for processor, (number, text) in enumerate(section.filled):
        if _HEX.fullmatch(text):
            values = [str(int(word, 16)) for word in text.split()[: len(_SOFTNET)]]
            evidence.count_all(f"softnet/{processor}", _SOFTNET, values, "count", number)


def read_cgroup(section: Section, evidence: Evidence) -> None:
    """Read CPU time of a control group: ns and ticks, in version 2 us."""
    path = _CGROUP.fullmatch(section.title)
    if path is None:
        return
    subject = f"cgroup/{path['group']}"
    for number, text in section.filled:
        words = text.split()
        if section.title.endswith("cpuacct.usage"):
            evidence.count(subject, "usage", words[0], "ns", number)
        elif len(words) == 2 and words[0] in _CGROUP_TIMES:
            name, unit = _CGROUP_TIMES[words[0]]
            evidence.count(subject, name, words[1], unit, number)


def read_levels(section: Section, evidence: Evidence) -> None:
    """Keep /proc/net/sockstat and similar files as text: present numbers, without meaningful differences."""
    lines = section.filled
    if lines:
        evidence.fact(section.title.rpartition("/")[2], "\n".join(text for _, text in lines), lines[0][0])


_LINK = re.compile(r"\d+:\s+(?P<name>[^:@\s]+)(?:@\S+)?:\s+<[^>]*>(?P<rest>.*)")
_COUNTED = re.compile(r"\s*(?P<direction>RX|TX)(?P<errors> errors)?:\s+(?P<names>\S.*)")
_Settings = defaultdict[str, list[tuple[str, str, int]]]
"""Key, text and line of settings by adapter."""
_SETTINGS = ("mtu", "qdisc")
_LOOPBACK = "lo"
_PRETTY_HEAD = 8
# What ip calls otherwise than /proc/net/dev.
_SPELLED = {"mcast": "multicast", "collsns": "collisions", "missed": "missed", "overrun": "over"}
_OFFLOADS = {
    **{"tcp-segmentation-offload": "tso", "generic-segmentation-offload": "gso", "udp-fragmentation-offload": "ufo"},
    **{"generic-receive-offload": "gro", "large-receive-offload": "lro"},
    **{"scatter-gather": "sg", "rx-checksumming": "rx", "tx-checksumming": "tx"},
}
_STATISTIC = re.compile(r"\s+(?P<name>\S.*?):\s+(?P<value>\d+)\s*")
_DRIVERS = {"peer_ifindex": "veth"}  # A statistic that only this driver has tells it, where nobody asked ethtool -i.
_FEATURE = re.compile(r"(?P<name>[a-z-]+):\s+(?P<state>on|off)\b.*")


def read_link(section: Section, evidence: Evidence) -> None:
    """Read ``ip -s -s link``: settings, then pairs of lines of names and values."""
    settings = _Settings(list)
    subject, prefix, names = "", "", list[str]()
    for number, text in section.filled:
        if link := _LINK.match(text):
            subject, names = f"link/{link['name']}", []
            words = link["rest"].split()
            for key, value in pairwise(words):
                if key in _SETTINGS:
                    settings[link["name"]].append((key, value, number))
        elif subject and (head := _COUNTED.fullmatch(text)):
            prefix, names = head["direction"].lower() + ("_error_" if head["errors"] else "_"), head["names"].split()
        elif names:
            for name, value in zip(names, text.split(), strict=False):
                evidence.count(subject, prefix + _SPELLED.get(name, name), value, _unit_of(name), number)
            names = []
    _keep_settings(settings, evidence)


def _keep_settings(settings: _Settings, evidence: Evidence) -> None:
    """Add ``mtu`` and ``qdisc`` of the only real adapter, of several under adapter names."""
    adapters = [name for name in settings if name != _LOOPBACK]
    for name in adapters:
        for key, value, line in settings[name]:
            evidence.fact(key if len(adapters) == 1 else f"{key}.{name}", value, line)


def read_link_json(section: Section, evidence: Evidence) -> None:
    """Read ``ip -j -s link``: settings and counters as JSON."""
    settings = _Settings(list)
    first = section.line + 1 if section.lines and section.lines[0][0] > section.line else section.line
    lines = [text for _, text in section.lines]
    for document in json_documents.documents(Text(evidence.found.file, lines, "")):
        for link in document.root.values():
            name = link.string("ifname")
            if name is None:
                continue
            for key in _SETTINGS:
                if (value := link.get(key)) is not None:
                    settings[name.text].append((key, value.text, first + value.line - 1))
            for direction in ("rx", "tx"):
                _count_members(f"link/{name.text}", direction, link, first, evidence)
    _keep_settings(settings, evidence)


def _count_members(subject: str, direction: str, link: json_documents.Node, first: int, evidence: Evidence) -> None:
    counted = link.get("stats64", direction) or link.get("stats", direction)
    for key, member in counted.items() if counted and counted.is_object else ():
        text, line = member.printed() or ("", link.line)
        # As in ip's text output.
        head, _, error = key.rpartition("_errors")
        name = f"{direction}_error_{head}" if head and not error else f"{direction}_{key}"
        evidence.count(subject, name, text, "bytes" if key == "bytes" else "count", first + line - 1)


def read_statistics(section: Section, evidence: Evidence) -> None:
    """Read ``ethtool -S ADAPTER``, by the driver's own names."""
    words = [word for word in section.title.split()[1:] if not word.startswith("-")]
    subject = f"ethtool/{words[-1] if words else 'adapter'}"
    for number, text in section.lines:
        if match := _STATISTIC.fullmatch(text):
            evidence.count(subject, match["name"], match["value"], _unit_of(match["name"]), number)
            if driver := _DRIVERS.get(match["name"]):
                evidence.fact("driver", driver, number)


def read_features(section: Section, evidence: Evidence) -> None:
    """Read ``ethtool -k``: offloads, which change the MTU's meaning, as facts such as ``offload.tso``."""
    for number, text in section.lines:
        match = _FEATURE.fullmatch(text)
        if match and match["name"] in _OFFLOADS:
            evidence.fact(f"offload.{_OFFLOADS[match['name']]}", match["state"], number)


def is_link_json(lines: Sequence[str]) -> bool:
    """Return whether text is JSON of ``ip -j link``."""
    first = "".join(lines[:_PRETTY_HEAD])[:400].lstrip()
    return first.startswith("[") and '"ifname"' in first
