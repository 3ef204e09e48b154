"""uperf's profile: the XML of messages, sizes, users and protocol.

A profile is no log: it has facts only, which belong to the run of the log beside it.
"""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from importers.fragment_builder import FragmentBuilder, Printed
from importers.key_values import whole
from importers.model import Fragment, Kind, ProblemLog, Status, Text

_LARGE = 2**20
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3}
_SIZE = re.compile(r"(\d{1,15})([kmg]?)", re.IGNORECASE)
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?")
_WRITES = frozenset({"write", "send", "sendto", "sendfile", "sendfilev"})
_READS = frozenset({"read", "recv", "recvfrom"})
_CONNECTION_FACTS = {"protocol": "factor.protocol", "remotehost": "server", "wndsz": "window", "tcp_nodelay": "nodelay"}
_MOST_ELEMENTS = 10_000
_HEAD_LINES = 400
_LINE = "\nline"  # No attribute in XML has this name.


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A transaction's pattern and bytes; ``streams``: one way, in transactions of arbitrary length."""

    pattern: str
    request: str = ""
    response: str = ""
    message: str = ""
    streams: bool = False


class _Builder(TreeBuilder):
    """A builder of elements with lines; raises ParseError if there are too many."""

    def __init__(self) -> None:
        super().__init__()
        self.parser = DefusedXMLParser(target=self)
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        self._count += 1
        if self._count > _MOST_ELEMENTS:
            raise ParseError(f"more than {_MOST_ELEMENTS} elements")
        return super().start(tag, attributes | {_LINE: str(self.parser.parser.CurrentLineNumber)})


def _line(element: Element) -> int:
    return int(element.get(_LINE, "0"))


def _options(flowop: Element) -> dict[str, str]:
    """Return a flowop's options; the value of a bare word is the word."""
    words = (word.partition("=") for word in flowop.get("options", "").split())
    return {key: value or key for key, _, value in words}


def _times(flowop: Element) -> int:
    """Return the number of executions of a flowop in one transaction."""
    count = _options(flowop).get("count", "1")
    return int(count) if re.fullmatch(r"[1-9]\d{0,8}", count) else 1


def recognise(text: Text) -> bool:
    """Look for a named profile with a group or flowop."""
    head = text.head(_HEAD_LINES)[:16_384]
    start = re.search(r"<profile\s[^>]*\bname\s*=", head)
    return start is not None and re.search(r"<(group|flowop)\s", head[start.end() :]) is not None


def parse(text: Text, source: tuple[str, str, int], found: ProblemLog) -> list[Fragment]:
    """Return a report with the profile's facts; unreadable XML is an error."""
    profile = _read(text, found)
    if profile is None:
        return []
    gathered = FragmentBuilder()
    gathered.add_fact("profile", profile.get("name"), _line(profile))
    _gather_groups(profile.findall("group"), gathered, found)
    fragment = gathered.build(source, (1, len(text.lines)), Status.COMPLETE, kind=Kind.REPORT, role=None)
    return [fragment]


def _read(text: Text, found: ProblemLog) -> Element | None:
    parser = _Builder().parser
    try:
        parser.feed("\n".join(text.lines))
        profile: Element = parser.close()
    except (ParseError, DefusedXmlException, ValueError) as error:
        message = f"This profile is not XML that can be read: {str(error)[:200]}."
        found.error("uperf.bad-profile", message, "Upload the profile that uperf was given.")
        return None
    if profile.tag != "profile" or profile.find("group") is None:
        found.error("uperf.bad-profile", "The profile has no group.", "Upload the profile that uperf was given.")
        return None
    return profile


def _gather_groups(groups: Sequence[Element], gathered: FragmentBuilder, found: ProblemLog) -> None:
    """Keep the facts that hold for all groups."""
    gathered.add_printed("users", _count_users(groups))
    measured = [transaction for group in groups if (transaction := _find_measured(group)) is not None]
    _gather_connections(groups, gathered)
    if not measured:
        return
    first = measured[0]
    # The log's progress lines count transactions from 1.
    place = 1 + next(at for at, each in enumerate(groups[0].findall("transaction")) if each is first)
    gathered.add_fact("measured_transaction", f"Txn{place}", _line(first))
    duration = _find_only({each.get("duration", "") for each in measured})
    if (seconds := _SECONDS.fullmatch(duration)) is not None:
        gathered.add_fact("asked_duration_s", seconds[1], _line(first))
    elif "$" not in duration:
        gathered.add_fact("asked_duration", duration, _line(first))
    _gather_workload(measured, gathered, found)
    if all(_exchange(each).streams for each in measured):
        return
    count = _find_only({str(sum(_times(flowop) for flowop in each.findall("flowop"))) for each in measured})
    gathered.add_fact("operations_per_transaction", count, _line(first))


def _find_only(texts: Set[str]) -> str:
    """Return the only text; empty for several different ones."""
    return next(iter(texts)) if len(texts) == 1 else ""


def _count_users(groups: Iterable[Element]) -> Printed | None:
    """Return the workers of all groups; None if a number is a variable."""
    total, line = 0, 0
    for group in groups:
        workers = [group.get(key, "1") for key in ("nthreads", "nprocs")]
        if not all(re.fullmatch(r"[1-9]\d{0,6}", each) for each in workers):
            return None
        total += int(workers[0]) * int(workers[1])
        line = line or _line(group)
    return Printed(str(total), line)


def _find_measured(group: Element) -> Element | None:
    """Return the transaction with the longest duration, else the one with most iterations."""
    transactions = group.findall("transaction")
    timed = [each for each in transactions if each.get("duration")]
    key = "duration" if timed else "iterations"
    return max(timed or transactions, key=lambda each: _leading_number(each.get(key, "")), default=None)


def _leading_number(text: str) -> float:
    match = re.match(r"\d{1,15}(?:\.\d{1,15})?", text)
    scale = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}.get(text[match.end() :].strip() if match else "", 1.0)
    return float(match[0]) * scale if match else 0.0


def _gather_connections(groups: Iterable[Element], gathered: FragmentBuilder) -> None:
    """Keep protocols, servers and socket options, except variables (``$h``)."""
    transactions = [each for group in groups for each in group.findall("transaction")]
    flowops = [flowop for each in transactions for flowop in each.findall("flowop")]
    for key, name in _CONNECTION_FACTS.items():
        stated = {_options(flowop)[key]: _line(flowop) for flowop in flowops if key in _options(flowop)}
        values = ["on" if value == key else value for value in stated if "$" not in value]
        values = [value.upper() for value in values] if key == "protocol" else values
        if values:
            gathered.add_fact(name, ", ".join(values), min(stated.values()))
    files = [flowop for flowop in flowops if flowop.get("type", "").startswith("sendfile")]
    if files:
        gathered.add_fact("zero_copy", "sendfile", _line(files[0]))
    rates = {each.get("rate", ""): _line(each) for each in transactions if each.get("rate")}
    gathered.add_fact("rate", ", ".join(rates), min(rates.values(), default=0))


def _gather_workload(measured: Sequence[Element], gathered: FragmentBuilder, found: ProblemLog) -> None:
    exchanges = {_exchange(each) for each in measured}
    line = _line(measured[0])
    if len(exchanges) == 1:
        exchange = exchanges.pop()
    elif all(each.streams for each in exchanges):
        pattern = _find_only({each.pattern for each in exchanges}) or "STRB"
        exchange = _Exchange(pattern, message=_find_only({each.message for each in exchanges}))
    else:
        exchange = _Exchange("MIXED")
    if exchange.pattern == "MIXED":
        message = "The profile's transactions are no pattern with a name, or its groups do different things."
        found.note("uperf.mixed", message, "Give the workload with the upload.", line)
    texts = exchange.pattern, exchange.request, exchange.response, exchange.message
    gathered.add_facts(("workload", "request_bytes", "response_bytes", "message_bytes"), texts, line)


def _exchange(transaction: Element) -> _Exchange:
    """Return a transaction's pattern, with sizes if fixed."""
    flowops = transaction.findall("flowop")
    kinds = {flowop.get("type", "") for flowop in flowops}
    writes, reads = ([each for each in flowops if each.get("type") in some] for some in (_WRITES, _READS))
    if kinds - _WRITES - _READS - {"connect", "accept", "disconnect", "think"}:
        return _Exchange("MIXED")
    out, back = _one_size(writes), _one_size(reads)
    if writes and reads:
        # An exchange of which one direction alone has a megabyte or more is a stream.
        sends, receives = _bytes(out) >= _LARGE, _bytes(back) >= _LARGE
        pattern = "RR" if sends == receives else "STRP" if sends else "STRG"
        return _Exchange("CRR" if "connect" in kinds else pattern, out, back)
    if writes or reads:
        size = _find_only({_options(flowop).get("size", "") for flowop in writes or reads})
        return _Exchange("STRP" if writes else "STRG", message="" if "$" in size else size, streams=True)
    return _Exchange("CRR", "0", "0") if "connect" in kinds else _Exchange("MIXED")


def _one_size(flowops: Sequence[Element]) -> str:
    """Return the fixed size of a single flowop done once; empty otherwise."""
    size = _options(flowops[0]).get("size", "") if len(flowops) == 1 and _times(flowops[0]) == 1 else ""
    return size if _bytes(size) else ""


def _bytes(size: str) -> int:
    """Return the bytes of a fixed size, 0 for other sizes (``rand(1,4k)``, ``$size``)."""
    match = _SIZE.fullmatch(size)
    return whole(match[1]) << 10 * _POWERS[match[2].lower()] if match else 0
