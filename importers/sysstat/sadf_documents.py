"""Reader of sadf -j, mpstat -o JSON, iostat -o JSON, and sadf -x: samples below hosts."""

import re
from collections.abc import Iterator
from datetime import date
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from importers.files import json_documents
from importers.files.json_documents import Node
from importers.model import Text
from importers.problem_log import ProblemLog
from importers.sysstat.samples import CPU, HostSamples, figures, number, plain_columns, read_day

_LISTS = {"net-dev": "iface", "net-edev": "iface"}
_SINGLE = ("net-tcp", "net-etcp")
_PARTS = ("timestamp", "cpu-load", "avg-cpu", "network")
_DOCTYPE = re.compile(r"<!DOCTYPE sysstat\b")
_XML_KEYS = ("number", "iface")


def is_json(text: Text) -> bool:
    """Return whether the head is a JSON document of sysstat."""
    documents = json_documents.head(text)
    return bool(documents) and documents[0].root.get("sysstat", "hosts") is not None


def is_xml(text: Text) -> bool:
    """Whether one of the first lines declares sysstat's XML."""
    return any(_DOCTYPE.match(line) for line in text.lines[:5])


def read_json(text: Text, found: ProblemLog) -> Iterator[HostSamples]:
    """Every host of a document; one that was cut off is read as far as it goes."""
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
    """One host's samples; of a document that was ``cut`` off without an interval that is not whole."""
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
    """Whether the last line closes this object: the tools indent a bracket as the one that it closes."""
    last = next((line for line in reversed(text.lines) if line.strip()), "")
    opened = text.lines[node.line - 1]
    return last.strip() in {"}", "},"} and _indent(last) == _indent(opened)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _statistic(node: Node, host: HostSamples) -> None:
    stamp, *loads, network = map(node.get, _PARTS)
    end, day = _stamp(stamp, host) if stamp is not None else ("", None)
    for load in loads:
        if load is not None:
            for each in load.values() if load.is_array else (load,):
                _add(each, CPU, end, day, host)
    if network is None:
        return
    for key, interfaces in zip(_LISTS.values(), map(network.get, _LISTS), strict=True):
        for each in interfaces.values() if interfaces is not None else ():
            _add(each, key, end, day, host)
    for found in map(network.get, _SINGLE):
        if found is not None:
            _add(found, "", end, day, host)


def _stamp(stamp: Node, host: HostSamples) -> tuple[str, date | None]:
    """mpstat prints a time of day, sadf an object with date and clock."""
    if stamp.is_string:
        return stamp.text, None
    texts = stamp.texts()
    if texts.get("utc") == "1":
        host.zone = "+00:00"
    return texts.get("time", ""), read_day(texts.get("date", ""), host.found, stamp.line, american=False)


def _add(node: Node, key: str, end: str, day: date | None, host: HostSamples) -> None:
    texts = node.texts()
    owner = texts.pop(key, "all" if key == CPU else "")
    host.add(owner, end, node.line, figures(plain_columns(tuple(texts)), texts.values()), day)


class _Target:
    """Receives elements from the parser; the samples go to the host at once, so that memory stays small."""

    def __init__(self, found: ProblemLog) -> None:
        self.host = HostSamples(found)
        self._text: list[str] = []
        self._stamp: tuple[str, date | None] = ("", None)
        self.parser: DefusedXMLParser

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag, self._text = tag.rpartition("}")[2], []
        line = self.parser.parser.CurrentLineNumber
        if tag == "host":
            self.host.host, self.host.line = attributes.get("nodename"), line
        elif tag == "timestamp":
            if attributes.get("utc") == "1":
                self.host.zone = "+00:00"
            day = read_day(attributes.get("date", ""), self.host.found, line, american=False)
            self._stamp = attributes.get("time", ""), day
        elif self._stamp[0] and tag in {"cpu", *_LISTS, *_SINGLE}:
            key = next((attributes[name] for name in _XML_KEYS if name in attributes), "")
            cells = {name: text for name, text in attributes.items() if name not in _XML_KEYS and number(text)}
            found = figures(plain_columns(tuple(cells)), cells.values())
            self.host.add(key, self._stamp[0], line, found, self._stamp[1])

    def end(self, tag: str) -> None:
        text = "".join(self._text).strip()
        name = {"release": "release", "machine": "machine", "number-of-cpus": "processors"}.get(tag.rpartition("}")[2])
        if name and text:
            setattr(self.host, name, text)
        self._text = []

    def data(self, data: str) -> None:
        self._text.append(data)

    def close(self) -> HostSamples:
        return self.host


def read_xml(text: Text, found: ProblemLog) -> HostSamples:
    """sadf -x; what stands before the place where it breaks is read."""
    target = _Target(found)
    target.parser = DefusedXMLParser(target=target)
    try:
        target.parser.feed("\n".join(text.lines))
        target.parser.close()
    except (ExpatError, DefusedXmlException, SyntaxError) as error:
        message = f"This XML cannot be read to its end ({error}): its last interval may be missing."
        found.warn("sysstat.cut-off", message, "Make the file again.", getattr(error, "position", (None,))[0])
    return target.host
