"""Linux counters and settings (``docs/importers/linux_snapshot.md``).

A file, captured before or after a run, is one snapshot: sections under the heads of ``tail -n +1`` or under the
commands typed, or the text of a single file of /proc or a single command, known by name or first lines.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from importers.file_names import PHASES
from importers.linux_snapshot import counters, evidence
from importers.linux_snapshot.counters import is_link_json
from importers.linux_snapshot.evidence import Evidence, Reader, Section
from importers.model import Fact, Fragment, Kind, ProblemLog, Text

NAME = "linux_snapshot"
TITLE = "Linux snapshot"
VERSION = 3

# How the text of a single file or command begins: distinctive enough to need no name.
_BEGINNINGS = (
    (re.compile(r"cpu  ?\d+ \d+ \d+ \d+"), "/proc/stat"),
    (re.compile(r"Inter-\|\s+Receive"), "/proc/net/dev"),
    (re.compile(r"Ip: Forwarding "), "/proc/net/snmp"),
    (re.compile(r"TcpExt: SyncookiesSent "), "/proc/net/netstat"),
    (re.compile(r"sockets: used \d+"), "/proc/net/sockstat"),
    (re.compile(r"#kernel\s*$|\{\s*\"kernel\":\s*\{"), "nstat -as"),
    (re.compile(r"Ip:\s*$"), "netstat -s"),
    (re.compile(r"/sys/class/net/[^/]+/statistics/\w+:\d+"), "/sys/class/net"),
    (re.compile(r"NIC statistics:"), "ethtool -S"),
    (re.compile(r"Features for (\S+):"), "ethtool -k"),
    (re.compile(r"\d+: \S+: <[A-Z0-9_,-]+> mtu \d+"), "ip -s -s link"),
)
_COLUMNS = re.compile(r"\s+CPU0(\s+CPU\d+)*\s*")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{1,9}[+-]\d\d:?\d\d")
_UPTIME = re.compile(r"\d+\.\d\d \d+\.\d\d")
_SOFTNET = re.compile(r"[0-9a-f]{8}(?: [0-9a-f]{8}){8,14}")
_FORMS = {
    **{"date": _ISO_DATE, "/proc/uptime": _UPTIME, "/proc/net/softnet_stat": _SOFTNET},
    **{"/proc/softirqs": _COLUMNS, "/proc/interrupts": _COLUMNS},
}
"""First lines of files that are known by name only."""
_ROLES = ("client", "server")
_ENDINGS = frozenset({"txt", "log", "json", "out"})
_BARE = (
    (re.compile(r"proc_net_(dev|snmp|netstat|sockstat|softnet_stat)"), r"/proc/net/\1"),
    (re.compile(r"proc_(stat|softirqs|interrupts|uptime|cpuinfo|meminfo)"), r"/proc/\1"),
    (re.compile(r"net_(dev|snmp|netstat)"), r"/proc/net/\1"),
    (re.compile(r"netstat(?:_s)?"), "netstat -s"),
    (re.compile(r"nstat\w*"), "nstat -as"),
    (re.compile(r"(?:sysfs|sys_class_net)\w*"), "/sys/class/net"),
    (re.compile(r"(softnet_stat|sockstat)"), r"/proc/net/\1"),
    (re.compile(r"(softirqs|interrupts|cpuinfo|meminfo)"), r"/proc/\1"),
    (re.compile(r"ethtool_([Ski])_(\S+)"), r"ethtool -\1 \2"),
    (re.compile(r"ip_s_link_?(\S*)|ip_link_?(\S*)"), r"ip -s -s link show dev \1\2"),
    (re.compile(r"uname(?:_a)?"), "uname -a"),
    (re.compile(r"date"), "date"),
)
_LINK = r"(?:\S*/)?ip\b(?=.*\s(?:l|li|lin|link|a|ad|add|addr|address)\b)"
_JSON = r"(?=.*\s-(?:j|json|[sd]*j[sd]*)\b)"
_ETHTOOL = r"(?:sudo )?(?:\S*/)?ethtool"


def _keep_text(section: Section, found: Evidence) -> None:
    if section.filled:
        found.fact(f"section.{section.title}", "\n".join(text for _, text in section.filled), section.line)


_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"/proc/stat", counters.read_stat),
        (r"/proc/uptime", counters.read_uptime),
        (r"/proc/(?:softirqs|interrupts)", counters.read_columns),
        (r"/proc/(?:self/)?net/dev", counters.read_net_dev),
        (r"/proc/(?:self/)?net/(?:snmp|netstat)", counters.read_protocols),
        (r"/proc/(?:self/)?net/softnet_stat", counters.read_softnet),
        (r"(?:sudo )?nstat\b.*", counters.read_nstat),
        (r"(?:sudo )?netstat -\w*s\w*", counters.read_netstat),
        (r"(?:(?:grep|head|tail)\b.* )?/sys/class/net\b.*", counters.read_sysfs),
        (r"/proc/(?:self/)?net/sockstat6?|/proc/loadavg", counters.read_levels),
        (r"/sys/fs/cgroup/.*(?:cpuacct\.(?:usage|stat)|cpu\.stat)", counters.read_cgroup),
        (r"date\b.*", evidence.read_date),
        (r"/proc/cpuinfo|lscpu", evidence.read_cpuinfo),
        (rf"/proc/meminfo|{_ETHTOOL} -i .*", evidence.read_named),
        (r"/proc/sys/.*|sysctl .*", evidence.read_setting),
        (r"uname\b.*", evidence.read_uname),
        (r"hostname|/etc/hostname", evidence.read_hostname),
        (r"uptime|free\b.*|nproc", _keep_text),
        (rf"{_LINK}{_JSON}.*", counters.read_link_json),
        (rf"{_LINK}.*", counters.read_link),
        (rf"{_ETHTOOL} -S .*", counters.read_statistics),
        (rf"{_ETHTOOL} -k .*", counters.read_features),
    )
)
# Commands that people also type beside load tools.
_COMMON = re.compile(r"date\b.*|uptime|free\b.*|nproc|uname\b.*|hostname|lscpu")

_HEAD = re.compile(r"==> (.+) <==")
# ``# cat /proc/stat``, ``$ ethtool -S eth0``, ``root@linuxa:~# date``, ``[perf@linuxa ~]$ date``
_PROMPT = re.compile(r"(?:[\w.-]+@[\w.-]+\S*\s?|\[[^\]]+\]\s?)?[#$]\s+(\S.*)")
_SIGNS = ("==> ", "#", "$")
_CAT = re.compile(r"(?:sudo\s+)?(?:cat|head|tail -n \+1)\s+(?=/)")
_OPENING = 3  # Lines of a JSON document.
_PROBED = 400  # Lines in which the first head must occur.


@dataclass(frozen=True, slots=True)
class Named:
    """The parts of a snapshot file's name; ``title``: of a bare file's section."""

    phase: str | None
    role: str | None
    host: str | None
    title: str


def recognise(text: Text) -> bool:
    """Return whether the file has sections of a snapshot, or is one."""
    return _has_sections(text) or bool(_bare_title(text, read_name(text.name)))


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Read a snapshot; a last line that may have lost characters is left out."""
    named = read_name(text.name)
    lines = _whole_lines(text, found)
    title = "" if _has_sections(text) else _bare_title(text, named)
    cut = [Section(title, 1, lines)] if title else _split_sections(lines)
    if named.phase is None and not title:
        message = "Nothing says whether this snapshot was taken before or after its run."
        found.warn("linux_snapshot.no-phase", message, "Name the file HOST.before.txt or HOST.after.txt.")
    read = Evidence(named.role or "", found)
    for section in cut:
        (_reader(section.title) or _keep_text)(section, read)
    if not title and read.moment is None:
        message = "The snapshot has no date that can be read: the time between before and after cannot be told."
        found.warn("linux_snapshot.no-date", message, "Capture date --iso-8601=ns too.")
    if not (read.counters or read.facts or read.moment):
        return []
    return [_fragment(text, named, read)]


def _whole_lines(text: Text, found: ProblemLog) -> list[tuple[int, str]]:
    last = text.lines[-1].strip() if text.lines and not text.ends_whole else ""
    if last:
        message = f"The file ends without a line end, in {last[-40:]!r}: it may be cut off; the line was left out."
        found.warn(
            "linux_snapshot.cut-off", message, "Transfer the file again if more should be there.", len(text.lines)
        )
    return list(text.whole())


def _fragment(text: Text, named: Named, read: Evidence) -> Fragment:
    """Return a snapshot; settings without counters are a report."""
    moment, facts = read.moment, list(read.facts.values())
    if moment is not None:
        facts.insert(0, Fact("snapshot_time", text.lines[moment.line - 1].strip(), moment.line, of_host=True))
    node = read.facts.get("node")
    host = named.host or (node.text if node else None)
    settings = named.phase is None and not read.counters
    kind = Kind.REPORT if settings else Kind.SNAPSHOT
    return Fragment(
        *(text.name, NAME, VERSION, kind, 1, len(text.lines)),
        # Settings that name no host are the run's.
        role=None if settings and not (read.role or host) else read.role,
        phase=named.phase,
        host=host,
        taken=moment.taken if moment else None,
        zone=moment.zone if moment else "",
        facts=tuple(facts),
        readings=tuple(read.readings),
        counters=tuple(read.counters.values()),
    )


def _bare_title(text: Text, named: Named) -> str:
    """Return a single section's title, by beginning or name; empty for other files."""
    first = next((line for line in text.lines if line.strip()), "")
    if is_link_json(text.lines):
        return "ip -j -s link"
    opening = "".join(text.lines[:_OPENING]) if first.strip() == "{" else first
    for beginning, title in _BEGINNINGS:
        if match := beginning.match(opening):
            # ethtool -S eth0: the adapter by the text, else by the file's name.
            by_name = named.title if named.title.startswith(title) else title
            return f"{title} {match[1]}" if match.lastindex else by_name
    if _COLUMNS.fullmatch(first) and any(line.lstrip().startswith("NET_RX:") for line in text.lines[:20]):
        return "/proc/softirqs"
    form = _FORMS.get(named.title)
    return named.title if form is not None and form.fullmatch(first.strip("\n")) else ""


def read_name(name: str) -> Named:
    """Read a path such as ``linuxa.before.txt``, ``client/proc_stat.after`` or ``ethtool_S_eth0.before``.

    Folders may name phase and role too; the host is in the file's own name.
    """
    path = PurePosixPath(name)
    words = [word for word in path.name.split(".") if word.lower() not in _ENDINGS]
    folders = [word.lower() for part in path.parts[:-1] for word in re.split(r"[._\-\s]+", part)]
    own = [part for word in words for part in re.split(r"[_\-\s]+", word.lower())]
    phase, role = (_only(own, known) or _only(folders, known) for known in (PHASES, _ROLES))
    titles = [_bare(re.sub(r"[_-](?:before|after)$", "", word)) for word in words]
    hosts = [
        word for word, title in zip(words, titles, strict=True) if not title and word.lower() not in (*PHASES, *_ROLES)
    ]
    title = next(filter(None, titles), "")
    lower = [word.lower() for word in words]
    # The host is the word in front of the phase.
    at = lower.index(phase) if phase in lower else 0
    host = words[at - 1] if at and words[at - 1] in hosts else (hosts[-1] if hosts and title else None)
    return Named(phase, role, host, title)


def _only(words: Sequence[str], known: Sequence[str]) -> str | None:
    found = {word for word in words if word in known}
    return found.pop() if len(found) == 1 else None


def _bare(word: str) -> str:
    return next((pattern.sub(title, word).strip() for pattern, title in _BARE if pattern.fullmatch(word)), "")


def _reader(title: str) -> Reader | None:
    return next((reader for pattern, reader in _READERS if pattern.fullmatch(title)), None)


def _title_of(line: str) -> str | None:
    """Return the file or command of a head line; None for other lines."""
    # The same as ``any`` of the signs, which every line of a snapshot would wait for.
    if "$" not in line and "#" not in line and "==> " not in line:
        return None
    if head := _HEAD.fullmatch(line.strip()):
        return head[1].strip()
    prompt = _PROMPT.fullmatch(line.strip())
    title = _CAT.sub("", prompt[1].strip()) if prompt else ""
    return title if _reader(title) else None


def _has_sections(text: Text) -> bool:
    """Return whether the first lines announce a section that only snapshots have."""
    lines = text.lines[:_PROBED] if text.mentions(_SIGNS, _PROBED) else ()
    titled = ((line, title) for line in lines if (title := _title_of(line)) and _reader(title))
    return any(_HEAD.fullmatch(line.strip()) or not _COMMON.fullmatch(title) for line, title in titled)


def _split_sections(lines: Iterable[tuple[int, str]]) -> list[Section]:
    """Return the sections, in order; lines before the first head belong to none."""
    sections: list[Section] = []
    for number, line in lines:
        title = _title_of(line)
        if title is not None:
            sections.append(Section(title, number))
        elif sections:
            sections[-1].lines.append((number, line))
    return sections
