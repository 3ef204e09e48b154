"""Structured output of sysstat: JSON, XML (sadf -x), and tables (sadf -d, -p)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import groupby
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from importers.files import json_documents
from importers.files.json_documents import Node
from importers.fragment_builder import from_epoch
from importers.model import ProblemLog, Text
from importers.sysstat.samples import CPU, Cells, HostSamples, When, read_cells, read_day, read_head

_LISTS = {"net-dev": "iface", "net-edev": "iface"}
_SINGLE = ("net-tcp", "net-etcp")
_PARTS = ("timestamp", "cpu-load", "avg-cpu", "network")
_DOCTYPE = re.compile(r"<!DOCTYPE sysstat\b")
_XML_KEYS = ("number", "iface")
_UTC = "+00:00"


def is_json(text: Text) -> bool:
    """Return whether the head is a JSON document of sysstat."""
    documents = json_documents.head(text)
    return bool(documents) and documents[0].root.get("sysstat", "hosts") is not None


def is_xml(text: Text) -> bool:
    """Return whether one of the first lines declares sysstat's XML."""
    return any(_DOCTYPE.match(line) for line in text.lines[:5])


def read_json(text: Text, found: ProblemLog) -> Iterator[HostSamples]:
    """Yield every host of a document, as far as it goes."""
    for document in json_documents.documents(text):
        hosts = document.root.get("sysstat", "hosts")
        if hosts is None:
            continue
        if not document.whole:
            message = "The document is cut off: its last interval may be missing."
            found.warn("sysstat.cut-off", message, "End the tool with Ctrl-C, not with kill -9.", document.problem_line)
        for node in hosts.values():
            yield _host(node, found, None if document.whole else text)


def _host(node: Node, found: ProblemLog, cut: Text | None) -> HostSamples:
    """Return a host's samples, of a ``cut`` document without an incomplete interval."""
    host = HostSamples(found, line=node.line)
    texts = node.texts()
    host.host, host.release = texts.get("nodename"), texts.get("release", "")
    host.machine, host.processors = texts.get("machine", ""), texts.get("number-of-cpus", "")
    host.day = read_day(texts.get("date", ""), found, node.line, american=False)
    statistics = node.get("statistics")
    listed = list(statistics.values()) if statistics else []
    if cut is not None and listed and not _is_closed(listed[-1], cut):
        listed.pop()
    # iostat's first report covers the time since the host was started.
    since_start = bool(listed) and listed[0].get("avg-cpu") is not None
    for each in listed[since_start:]:
        _statistic(each, host)
    return host


def _is_closed(node: Node, text: Text) -> bool:
    """Return whether the last line closes this object: a bracket indented alike."""
    last = next((line for line in reversed(text.lines) if line.strip()), "")
    opened = text.lines[node.line - 1]
    return last.strip() in {"}", "},"} and len(last) - len(last.lstrip()) == len(opened) - len(opened.lstrip())


def _statistic(node: Node, host: HostSamples) -> None:
    stamp, *loads, network = map(node.get, _PARTS)
    when = When("")
    if stamp is not None:
        when = When(stamp.text) if stamp.is_string else _read_when(stamp.texts(), stamp.line, host)
    for load in loads:
        if load is not None:
            for each in load.values() if load.is_array else (load,):
                _add_node(each, CPU, when, host)
    if network is None:
        return
    for name, key in _LISTS.items():
        for each in interfaces.values() if (interfaces := network.get(name)) is not None else ():
            _add_node(each, key, when, host)
    for found in filter(None, map(network.get, _SINGLE)):
        _add_node(found, "", when, host)


def _read_when(texts: Mapping[str, str], line: int, host: HostSamples) -> When:
    """Return the time by the members of a time stamp, and keep the zone."""
    if texts.get("utc") == "1":
        host.zone = _UTC
    day = read_day(texts.get("date", ""), host.found, line, american=False)
    return When(texts.get("time", ""), day, texts.get("interval", ""))


def _add_node(node: Node, key: str, when: When, host: HostSamples) -> None:
    texts = node.texts()
    owner = texts.pop(key, "all" if key == CPU else "")
    host.add(owner, when, node.line, read_cells(texts, texts.values()))


class _Target:
    """XML target that adds samples to the host at once."""

    def __init__(self, found: ProblemLog) -> None:
        self.host = HostSamples(found)
        self._text: list[str] = []
        self._when = When("")
        self.parser: DefusedXMLParser

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag, self._text = tag.rpartition("}")[2], []
        line = self.parser.parser.CurrentLineNumber
        if tag == "host":
            self.host.host, self.host.line = attributes.get("nodename"), line
        elif tag == "timestamp":
            self._when = _read_when(attributes, line, self.host)
        elif self._when.end and tag in {"cpu", *_LISTS, *_SINGLE}:
            key = next((attributes[name] for name in _XML_KEYS if name in attributes), "")
            cells = {name: text for name, text in attributes.items() if name not in _XML_KEYS}
            self.host.add(key, self._when, line, read_cells(cells, cells.values()))

    def end(self, tag: str) -> None:
        text = "".join(self._text).strip()
        name = {"release": "release", "machine": "machine", "number-of-cpus": "processors"}.get(tag.rpartition("}")[2])
        if name and text:
            setattr(self.host, name, text)
        self._text = []

    def data(self, data: str) -> None:
        self._text.append(data)


def read_xml(text: Text, found: ProblemLog) -> list[HostSamples]:
    """Read sadf -x up to the place where it breaks."""
    target = _Target(found)
    target.parser = DefusedXMLParser(target=target)
    try:
        target.parser.feed("\n".join(text.lines))
        target.parser.close()
    except (ExpatError, DefusedXmlException, SyntaxError) as error:
        message = f"This XML cannot be read to its end ({error}): its last interval may be missing."
        found.warn("sysstat.cut-off", message, "Make the file again.", getattr(error, "position", (None,))[0])
    return [target.host]


_CSV_HEAD = "# hostname;interval;timestamp"
_HORIZONTAL = "[...]"
_FIRST = 3  # Behind host, interval and time.
_STAMP = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d)(?: (?P<zone>[-+:\w]+))?|(?P<epoch>\d{9,11})")
_WHEN = r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: [-+:\w]+)?|\d{9,11})"
_PAIR = re.compile(rf"[^\t]+\t-?\d+\t{_WHEN}\t[^\t]+\t[^\t]+\t[-\d.,]+")
_EVENT = re.compile(rf"[^\t;]+[\t;]-1[\t;]{_WHEN}[\t;](?:LINUX-RESTART|COM)\b.*")


def is_csv(text: Text) -> bool:
    """Return whether the first line is a head of sadf -d."""
    return bool(text.lines) and text.lines[0].startswith(_CSV_HEAD)


def is_pairs(text: Text) -> bool:
    """Return whether the first line is a value of sadf -p."""
    return bool(text.lines) and any(form.fullmatch(text.lines[0]) for form in (_PAIR, _EVENT))


def read_csv(text: Text, found: ProblemLog) -> list[HostSamples]:
    """Read sadf -d: a head line before each activity."""
    host = HostSamples(found)
    head = read_head(())
    for number, line in text.numbered():
        cells = line.split(";")
        if line[:1] == "#":
            head = read_head(line.lstrip("# ").split(";"), _FIRST)
            if _HORIZONTAL in line:
                message = "Each line has all activities beside each other (sadf -h): where one ends is not printed."
                found.warn("sysstat.horizontal", message, "Use sadf -d without -h, or sadf -j.", number)
                return [host]
        elif _EVENT.fullmatch(line):
            continue
        elif len(cells) != head.width or len(cells) <= _FIRST:
            host.misfits.append(number)
        else:
            key, found_cells = head.split(cells)
            _add(host, (*cells[:_FIRST], key), number, found_cells)
    return [host]


def read_pairs(text: Text, found: ProblemLog) -> list[HostSamples]:
    """Read sadf -p: successive lines make a sample."""
    host = HostSamples(found)
    for (name, length, stamp, key), lines in groupby(_pairs(text, host), key=lambda each: each[1][:4]):
        block = list(lines)
        cells = read_cells([each[4] for _, each in block], [each[5] for _, each in block])
        _add(host, (name, length, stamp, "" if key == "-" else key), block[0][0], cells)
    return [host]


def _pairs(text: Text, host: HostSamples) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in text.numbered():
        if _PAIR.fullmatch(line):
            yield number, tuple(line.split("\t"))
        elif not _EVENT.fullmatch(line):
            host.misfits.append(number)


def _add(host: HostSamples, place: Sequence[str], line: int, cells: Cells) -> None:
    """Add a sample; ``place`` has host, length, time stamp, and processor or interface."""
    name, length, printed, key = place
    stamp = _read_stamp(printed)
    if stamp is None:
        host.misfits.append(line)
        return
    day, clock, zone = stamp
    host.host = host.host or name
    host.zone = host.zone or zone
    host.add(key, When(clock, day, length), line, cells)


@lru_cache(64)
def _read_stamp(printed: str) -> tuple[date | None, str, str] | None:
    """Return day, time and zone of a time stamp; None for other texts."""
    stamp = _STAMP.fullmatch(printed)
    moment = from_epoch(printed) if stamp and stamp["epoch"] else None
    if moment is not None:
        return moment.date(), f"{moment:%H:%M:%S}", _UTC
    if stamp is None:
        return None
    # A day of this form leaves nothing to be said.
    day = read_day(stamp["day"], ProblemLog(""), 0, american=False)
    return day, stamp["time"], _UTC if stamp["zone"] == "UTC" else stamp["zone"] or ""
