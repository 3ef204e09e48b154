"""mtr: response times and losses on the way to a host, as report, CSV or JSON."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from importers.files import json_documents
from importers.files.json_documents import Document, find_results
from importers.files.typed_commands import find_command
from importers.fragment_builder import Column, FragmentBuilder, Printed, build_listing
from importers.model import Fragment, ProblemLog, Status, Text
from importers.time_zones import parse_start
from importers.trial_numbers import number_trials

NAME = "mtr"
TITLE = "mtr report"
VERSION = 1

_WORDS = ("HOST:", "Mtr_Version,", "mtr: ")
_LATENCIES = {"Best": "latency_min_ms", "Avg": "latency_mean_ms", "Wrst": "latency_max_ms", "StDev": "latency_sd_ms"}
_COUNTS = {"Drop": ("lost", ""), "Rcv": ("received", ""), "Snt": ("packets_sent", ""), "Loss%": ("loss_percent", "%")}
_TIMES = {name: (f"{name.lower()}_ms", "ms") for name in ("Last", "Gmean", "Jttr", "Javg", "Jmax", "Jint")}
_TIMES |= {name: (metric, "ms") for name, metric in _LATENCIES.items()}
_COLUMNS: dict[str, Column] = {"Hop": ("hop", ""), "Ip": ("host", ""), **_COUNTS, **_TIMES}
_NAMES = "|".join([*_COUNTS, *_TIMES])
_OF_ROW = {"server": "Host", "start": "Start_Time"}  # In CSV.
_HEAD = re.compile(
    rf"Start: (?P<start>.*\S)\s*|HOST: (?P<client>\S+)(?P<names>(?: +(?:{_NAMES}))+)\s*|Mtr_Version,(?P<cells>.*)"
    r"|(?:\S*/)?mtr: (?P<error>[A-Za-z].*\S)\s*"
)
_HOP = re.compile(r"\s*(?P<hop>\d+)\.(?:\|--)? +(?:AS\S+ +)?(?P<rest>\S.*)")
_OTHER = re.compile(r"[\s|`-]*\|-- ?\S.*|\s*\[MPLS: .*|\s*")  # Another host of the same hop; labels.
_ADDRESS = re.compile(r"[\d.]+|[\da-f]*:[\da-f:]+")
_SILENT = "???"
_USUAL = {"psize": "64", "tos": "0"}


@dataclass(slots=True)
class _Report:
    """One report; ``hops`` has each hop's line and texts by mtr's names."""

    first_line: int
    columns: list[str] = field(default_factory=list)
    facts: dict[str, Printed] = field(default_factory=dict)
    hops: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    cut: str = ""

    def begin(self, match: re.Match[str], line: int) -> None:
        """Take a start, or a line of column names or an error, behind which another report begins."""
        self.facts |= {key: Printed(match[key], line) for key in ("start", "client", "error") if match[key]}
        if not match["start"]:
            cells = match["cells"] and match["cells"].rstrip(", \t").split(",")
            self.columns = ["Mtr_Version", *cells] if cells else ["Hop", "Ip", *(match["names"] or "").split()]

    @property
    def last(self) -> tuple[int, dict[str, str]]:
        return self.hops[-1] if self.hops else (self.first_line, {})


def recognise(text: Text) -> bool:
    """Look for a line of column names, mtr's error, or mtr's JSON."""
    lines = text.lines[:50] if text.mentions(_WORDS, 50) else ()
    is_text = any(match and not match["start"] for match in map(_HEAD.fullmatch, lines))
    return is_text or any(True for _ in _results(json_documents.head(text)))


def _results(found: Iterable[Document]) -> Iterator[Document]:
    return find_results(found, lambda root: root.get("report", "mtr", "dst") is not None)


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each report."""
    reports = list(_read_json(text)) or _read_lines(text, found)
    return number_trials([_read(report, text, found) for report in reports])


def _read_json(text: Text) -> Iterator[_Report]:
    for document in _results(json_documents.documents(text)):
        report, root = _Report(document.span[0], cut=document.problem), document.root
        named = {"server": "dst", "client": "src", "psize": "psize", "tos": "tos"}.items()
        report.facts = {key: printed for key, name in named if (printed := root.printed("report", "mtr", name))}
        hubs = root.get("report", "hubs")
        for hub in hubs.values() if hubs is not None else ():
            if (texts := hub.texts()).keys() >= {"count", "host"}:
                report.hops.append((hub.line, {**texts, "Hop": texts["count"], "Ip": texts["host"]}))
        yield report


def _read_lines(text: Text, found: ProblemLog) -> list[_Report]:
    """Return the reports of text, or of CSV by start and host."""
    reports: list[_Report] = []
    unknown: list[int] = []
    for number, line in text.whole():
        if match := _HEAD.fullmatch(line):
            if not reports or reports[-1].columns:
                reports.append(_Report(number))
            reports[-1].begin(match, number)
        elif reports and (texts := _hop(reports[-1].columns, line)):
            if reports[-1].hops and any(reports[-1].last[1].get(each) != texts.get(each) for each in _OF_ROW.values()):
                reports.append(_Report(number, reports[-1].columns))
            reports[-1].hops.append((number, texts))
        elif not _OTHER.fullmatch(line) and find_command(line, NAME) is None:
            unknown.append(number)
    found.note_unknown_lines("mtr.unknown-lines", NAME, unknown)
    if reports and not text.ends_whole and reports[-1].last[0] >= len(text.lines) - 1:
        reports[-1].cut = "ends within a line"
    return reports


def _hop(columns: list[str], line: str) -> dict[str, str]:
    """Return the texts of a hop by column; nothing where their numbers differ."""
    match = _HOP.fullmatch(line)
    cells = [match["hop"], *match["rest"].rsplit(None, len(columns) - 2)] if match else line.rstrip(", \t").split(",")
    return dict(zip(columns, cells, strict=True)) if len(cells) == len(columns) and {*columns} >= {"Hop", "Ip"} else {}


def _read(report: _Report, text: Text, found: ProblemLog) -> Fragment:
    into, facts, (line, last) = FragmentBuilder(), report.facts, report.last
    facts |= {key: Printed(last[name], line) for key, name in _OF_ROW.items() if name in last}
    into.add_facts(("factor.tool", "workload", "users"), (NAME, "PING", "1"), report.first_line)
    status = _judge(report, found)
    if status is Status.COMPLETE:
        facts.setdefault("server", Printed(last["Ip"], line))
        into.add_number(("response_ms", "ms", "total"), last.get("Avg"), line)
        for name in ("Loss%", *_LATENCIES):
            into.add_number((*_COLUMNS[name], "total"), last.get(name, "").rstrip("%"), line)
    for key in ("server", "client", "start", "error"):
        into.add_printed(key, facts.get(key))
    options = [f"{key} {facts[key].text}" for key in _USUAL if key in facts and facts[key].text != _USUAL[key]]
    into.add_fact("tool_options", ", ".join(options), report.first_line)
    into.add_fact("packets_sent", last.get("Snt"), line)
    names = [name for name in _COLUMNS if any(texts.get(name) for _, texts in report.hops)]
    head = tuple(_COLUMNS[name] for name in names)
    rows = [(number, head, [texts.get(name, "").rstrip("%") for name in names]) for number, texts in report.hops]
    taken, zone = parse_start(facts["start"].text) if "start" in facts else (None, "")
    source, lines = (text.name, NAME, VERSION), (report.first_line, line)
    return into.build(source, lines, status, listings=build_listing("hops", rows), taken=taken, zone=zone)


def _judge(report: _Report, found: ProblemLog) -> Status:
    """Return the status, with a problem unless the destination answered."""
    line, last = report.last
    if (error := report.facts.get("error")) is not None:
        return found.fail("mtr.failed", f"mtr failed: {error.text}", "Correct what mtr names.", error.line)
    if report.cut or not report.hops:
        message = f"The report {report.cut or 'has no hop'}: mtr was killed, or the file was cut off."
        return found.cut("mtr.cut-off", message, "Transfer the report again, or measure again.", line)
    server = report.facts["server"].text if "server" in report.facts else "The host"
    reached = last["Ip"].rpartition("(")[2].rstrip(")")
    if reached != _SILENT and not (server != reached and all(map(_ADDRESS.fullmatch, (server, reached)))):
        return Status.COMPLETE
    message = f"{server} did not answer: the last hop, {last['Hop']}, is {last['Ip']}."
    return found.fail("mtr.no-answer", message, "Check host and network, or let mtr go further (-m).", line)
