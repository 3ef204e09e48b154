"""Linux counters and settings, captured before and after a run (``docs/importers/linux_snapshot.md``).

A file is one snapshot: several sections, each under the head that ``tail -n +1`` prints or under the command that
was typed, or the text of a single file of /proc or a single command, which its name or its first lines tell.
"""

import re
from collections.abc import Sequence

from importers.linux_snapshot import section_heads, sections
from importers.linux_snapshot.adapters import is_link_json
from importers.linux_snapshot.evidence import Evidence, Section
from importers.linux_snapshot.host_facts import Moment, read_date
from importers.linux_snapshot.snapshot_names import Named, read_name
from importers.model import Fact, Fragment, Kind, Parsed, Text
from importers.problem_log import ProblemLog

NAME = "linux_snapshot"
TITLE = "Linux snapshot"
VERSION = 2

# How the text of a single file or command begins: distinctive enough to need no name.
_BEGINNINGS = (
    (re.compile(r"cpu  ?\d+ \d+ \d+ \d+"), "/proc/stat"),
    (re.compile(r"Inter-\|\s+Receive"), "/proc/net/dev"),
    (re.compile(r"Ip: Forwarding "), "/proc/net/snmp"),
    (re.compile(r"TcpExt: SyncookiesSent "), "/proc/net/netstat"),
    (re.compile(r"sockets: used \d+"), "/proc/net/sockstat"),
    (re.compile(r"NIC statistics:"), "ethtool -S"),
    (re.compile(r"Features for (\S+):"), "ethtool -k"),
    (re.compile(r"\d+: \S+: <[A-Z0-9_,-]+> mtu \d+"), "ip -s -s link"),
)
_COLUMNS = re.compile(r"\s+CPU0(\s+CPU\d+)*\s*")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{1,9}[+-]\d\d:?\d\d")
_UPTIME = re.compile(r"\d+\.\d\d \d+\.\d\d")
_SOFTNET = re.compile(r"[0-9a-f]{8}(?: [0-9a-f]{8}){8,14}")
_FIRST = re.compile(
    "|".join(form.pattern for form in (*(form for form, _ in _BEGINNINGS), _COLUMNS, _DATE, _UPTIME, _SOFTNET))
)


def recognise(text: Text) -> bool:
    """Whether the file has a section of a snapshot, or is one by itself."""
    if section_heads.has_sections(text):
        return True
    return _may_be_bare(text) and bool(_bare_title(text, read_name(text.name)))


def parse(text: Text) -> Parsed:
    """Read a snapshot; a last line that may have lost characters is left out."""
    found = ProblemLog(text.name)
    named = read_name(text.name)
    lines = _whole_lines(text, found)
    title = "" if section_heads.has_sections(text) else _bare_title(text, named)
    cut = [Section(title, 1, lines)] if title else list(section_heads.split(lines))
    if named.phase is None and not title:
        message = "Nothing says whether this snapshot was taken before or after its run."
        found.warn("linux_snapshot.no-phase", message, "Name the file HOST.before.txt or HOST.after.txt.")
    evidence = Evidence(named.role or "", found)
    for section in cut:
        sections.read(section, evidence)
    moment = next((moment for each in cut if sections.is_date(each.title) and (moment := read_date(each))), None)
    if not title and moment is None:
        message = "The snapshot has no date that can be read: the time between before and after cannot be told."
        found.warn("linux_snapshot.no-date", message, "Capture date --iso-8601=ns too.")
    if not evidence.counters and not evidence.facts and moment is None:
        return Parsed(problems=found.problems)
    return Parsed([_fragment(text, named, moment, evidence)], found.problems)


def _whole_lines(text: Text, found: ProblemLog) -> list[tuple[int, str]]:
    lines = list(text.numbered())
    if text.ends_whole or not lines or not lines[-1][1].strip():
        return lines
    number, last = lines[-1]
    message = f"The file ends without a line end, in {last.strip()[-40:]!r}: it may be cut off; the line was left out."
    found.warn("linux_snapshot.cut-off", message, "Transfer the file again if more should be there.", number)
    return lines[:-1]


def _fragment(text: Text, named: Named, moment: Moment | None, evidence: Evidence) -> Fragment:
    """A snapshot; settings without a counter are a report, which needs no second half."""
    facts = list(evidence.facts.values())
    if moment is not None:
        facts.insert(0, Fact("snapshot_time", text.lines[moment.line - 1].strip(), moment.line, of_host=True))
    node = evidence.facts.get("node")
    host = named.host or (node.text if node else None)
    settings = named.phase is None and not evidence.counters
    return Fragment(
        file=text.name,
        format=NAME,
        format_version=VERSION,
        kind=Kind.REPORT if settings else Kind.SNAPSHOT,
        first_line=1,
        last_line=len(text.lines),
        # Settings that name no host are the run's.
        role=None if settings and not (evidence.role or host) else evidence.role,
        phase=named.phase,
        host=host,
        taken=moment.taken if moment else None,
        zone=moment.zone if moment else "",
        facts=tuple(facts),
        readings=tuple(evidence.readings),
        counters=tuple(evidence.counters.values()),
    )


def _may_be_bare(text: Text) -> bool:
    """Whether the first line is one of those that such a file has; only then its name need be read."""
    first = next((line for line in text.lines if line.strip()), "")
    return _FIRST.match(first) is not None or is_link_json(text.lines)


def _bare_title(text: Text, named: Named) -> str:
    """The title that a single file's text would stand under; empty when this is none.

    What begins distinctively needs no name; for the rest, name and text must fit.
    """
    first = next((line for line in text.lines if line.strip()), "")
    if is_link_json(text.lines):
        return "ip -j -s link"
    for beginning, title in _BEGINNINGS:
        if match := beginning.match(first):
            return _with_device(title, named, match.groups())
    fits = {
        "date": _DATE,
        "/proc/uptime": _UPTIME,
        "/proc/net/softnet_stat": _SOFTNET,
        "/proc/softirqs": _COLUMNS,
        "/proc/interrupts": _COLUMNS,
    }.get(named.title)
    if _COLUMNS.fullmatch(first) and any(line.lstrip().startswith("NET_RX:") for line in text.lines[:20]):
        return "/proc/softirqs"
    return named.title if fits is not None and fits.fullmatch(first.strip("\n")) else ""


def _with_device(title: str, named: Named, said: Sequence[str | None]) -> str:
    """``ethtool -S eth0``: the adapter as the text names it, else the file's name."""
    if said and said[0]:
        return f"{title} {said[0]}"
    return named.title if named.title.startswith(title) else title
