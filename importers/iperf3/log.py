"""iperf3: results of client and server, as JSON, as JSON lines and as text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from importers.files import json_documents
from importers.files.json_documents import Document, Node
from importers.fragment_builder import FragmentBuilder, Printed, build_listing, join_ports, mtu_of
from importers.iperf3 import json_tests, plain
from importers.iperf3.json_tests import Direction, Test
from importers.key_values import trial_number
from importers.model import Fact, Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_each

NAME = "iperf3"
TITLE = "iperf3 result"
VERSION = 6

# The version follows a list of all connections, of which there may be 128.
_HEAD = 64 * 1024
_MESSAGE = re.compile(r"iperf3?: (?:error - )?(?P<message>.+)")
# Facts by keys of the start; the requested limits are 0 if not requested.
_ASKED = {"protocol": "factor.protocol", "num_streams": "users", "blksize": "message_bytes", "omit": "warmup_s"}
_ASKED |= {"tos": "tos"}
_REQUESTED = {
    "duration": "asked_duration_s",
    "bytes": "asked_bytes",
    "blocks": "asked_blocks",
    "target_bitrate": "rate",
    "fqrate": "fair_queue_bits_per_s",
    "burst": "burst",
}
_BUFFERS = {key: key for key in ("sock_bufsize", "sndbuf_actual", "rcvbuf_actual")}
# Options that change the work and are no factors of their own.
_OPTIONS = ("omit", "tos", "fqrate", "gso", "gro")
_TITLES = {key: key for key in ("title", "extra_data")}
_OF_HOST = frozenset({"system_info", "kernel"})
_NAMED = re.compile(r"""\brun_?id"?\s*[=:]\s*"?(?P<run_id>[\w.-]+)""", re.IGNORECASE)
_TRIAL = re.compile(r"""\btrial"?\s*[=:]\s*"?(?P<trial>\d+)""", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?=\S*\d)[A-Za-z][\w.-]{2,59}")


def recognise(text: Text) -> bool:
    """Look for iperf 3's version in JSON, or for lines of text."""
    documents = json_documents.head(text)
    may_start = not documents or any(documents[0].root.get(key) for key in ("start", "data", "event"))
    if may_start and not _is_start(documents):
        documents = json_documents.head(text, _HEAD)
    if _is_start(documents):
        return True
    events = [node.text for each in documents[:2] if (node := each.root.get("event")) is not None]
    return events == ["error", "end"] or (not documents and plain.recognise(text))


def _is_start(documents: list[Document]) -> bool:
    return any(True for _ in json_documents.find_results(documents[:1], json_tests.is_start))


def parse(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    """Yield the fragments one by one: a file may hold very many failed tests."""
    return number_each(_read(text, found))


def _read(text: Text, found: ProblemLog) -> Iterator[Fragment]:
    source = text.name, NAME, VERSION
    is_empty = True
    for test in _tests(text):
        for fragment in _read_sides(test, source, found):
            is_empty = False
            yield fragment
    if is_empty and not found.problems:
        yield from plain.parse(text, source, found)


def _read_sides(test: Test, source: tuple[str, str, int], found: ProblemLog) -> list[Fragment]:
    """Return the fragments of a test and of the other side's output."""
    own = _read_test(test, source, found)
    if own is None:
        return []
    peer = test.peer()
    sides = [_read_test(peer, source, found)] if peer is not None else []
    if test.server_text is not None:
        lines = [(test.server_text.line, line) for line in test.server_text.text.splitlines()]
        sides += plain.parse_lines(lines, source, found)
    others = [each for each in sides if each is not None]
    for other in others:
        other.run_id, other.trial = other.run_id or own.run_id, other.trial or own.trial
        if (cookie := own.fact_text("cookie")) and other.fact_text("cookie") is None:
            other.facts = (*other.facts, Fact("cookie", cookie, other.first_line))
    return [own, *others]


def _tests(text: Text) -> Iterator[Test]:
    """Yield the tests; a message outside the JSON belongs to the only test."""
    spans, is_alone = list[tuple[int, int]](), True

    def record_spans() -> Iterator[Document]:
        for document in json_documents.documents(text):
            if is_alone:
                spans.append(document.span)
            yield document

    tests = json_tests.read_tests(record_spans())
    first, second = next(tests, None), next(tests, None)
    is_alone = second is None
    if first is None:
        return
    if second is None and first.error is None:
        matches = ((_MESSAGE.search(line), number) for number, line in json_documents.outside(text, spans))
        first.message = next((Printed(match["message"], number) for match, number in matches if match), None)
    yield first
    if second is not None:
        yield second
        yield from tests


def _read_test(test: Test, source: tuple[str, str, int], found: ProblemLog) -> Fragment | None:
    """Return a test's fragment; None for a server that was ended while waiting for a test."""
    has_begun = test.start is None or test.start.get("test_start") is not None
    if not has_begun and test.failure is not None and plain.SERVER_ENDED in test.failure.text:
        plain.report_no_test(test.first_line, found)
        return None
    run_id, trial = _find_names(test)
    noted = ProblemLog(source[0], run_id)
    ways = json_tests.find_directions(test)
    status = _judge(test, ways, noted)
    found.problems.extend(noted.problems)
    into = FragmentBuilder()
    _gather_facts(test, ways, status, into)
    json_tests.gather_readings(test, ways, status, into)
    taken = _find_start(test.start)
    into.facts = [fact._replace(of_host=fact.key in _OF_HOST) for fact in into.facts]
    role = "server" if test.is_server else "client"
    return into.build(
        source,
        (test.first_line, test.last_line),
        status,
        listings=(
            *build_listing("intervals", test.rows),
            *build_listing("connections", json_tests.list_connections(test)),
        ),
        role=role,
        run_id=run_id,
        trial=trial,
        host=next((fact.text for fact in into.facts if fact.key == role), None),
        taken=taken,
        zone="+00:00" if taken else "",
    )


def _find_names(test: Test) -> tuple[str | None, int | None]:
    """Return run ID (``runid=AB101``, an unmistakable title) and trial from title or data."""
    if test.top is None:
        return None, None
    texts = [printed.text for key in _TITLES if (printed := test.top.string(key))]
    trial = next((trial_number(match["trial"]) for text in texts if (match := _TRIAL.search(text))), None)
    for text in reversed(texts):
        if match := _NAMED.search(text):
            return match["run_id"], trial
    title = test.top.string("title")
    return (title.text if title and _IDENTIFIER.fullmatch(title.text) else None), trial


def _judge(test: Test, ways: Sequence[Direction], found: ProblemLog) -> Status:
    """Return the status, with a warning unless complete."""
    if test.problem:
        message = f"This result of iperf3 {test.problem}; what comes before is kept without a throughput."
        return found.cut("iperf3.cut-off", message, plain.TRANSFER, test.problem_line)
    has_rates = bool(ways) and all(each.rate is not None for each in ways)
    if test.failure is not None and test.error is None and has_rates and not plain.is_interrupt(test.failure.text):
        plain.report_aside(test.failure, found)
    elif test.failure is not None:
        return plain.judge_failure(test.failure, found, json_tests.describe_known_bytes(ways))
    if test.end is None:
        return plain.report_cut("The result has no end", test.last_line, found)
    if not any(test.end.items()):
        message = "The test has no result and gives no reason; iperf3 may have written it to its error output."
        return found.fail("iperf3.failed", message, plain.AGAIN, test.end.line)
    if test.is_server:
        return plain.judge_result(test.end.line, found, is_whole=any(each.sent or each.received for each in ways))
    is_sender_only = bool(ways) and not has_rates and all(each.is_sender_only for each in ways)
    return plain.judge_result(test.end.line, found, is_whole=has_rates, is_sender_only=is_sender_only)


def _gather_facts(test: Test, ways: Sequence[Direction], status: Status, into: FragmentBuilder) -> None:
    into.add_printed("error", test.failure)
    start = test.start
    if start is None:
        return
    version = start.string("version") or Printed("", start.line)
    into.add_raw_fact("factor.tool", NAME, version.line)
    into.add_fact("tool_version", version.text.removeprefix("iperf "), version.line)
    requested = start.get("test_start")
    if requested is not None:
        # 3.7 to 3.10 print two directions without a switch.
        is_both = requested.is_true("bidir") or len(ways) > 1 or test.has_both
        pattern = "STRB" if is_both else "STRG" if requested.is_true("reverse") else "STRP"
        into.add_raw_fact("workload", pattern, (requested.get("bidir") or requested.get("reverse") or requested).line)
        _gather_scalars(requested, _ASKED, into)
        _gather_scalars(requested, _REQUESTED, into, but_zero=True)
    _gather_scalars(start, _BUFFERS, into)
    _gather_scalars(start, {"sock_bufsize": "window", "tcp_mss_default": "mss", "tcp_mss": "mss"}, into, but_zero=True)
    _gather_options(start, requested, into)
    _gather_mtu(test, start, into)
    _gather_hosts(start, into, is_server=test.is_server)
    if test.top is not None:
        _gather_scalars(test.top, _TITLES, into)
    json_tests.gather_facts(test, ways, status, into)


def _gather_options(start: Node, requested: Node | None, into: FragmentBuilder) -> None:
    """Keep the switches and numbers that were asked for, unless they have facts of their own."""
    asked = [(key, requested.figure(key)) for key in _OPTIONS] if requested is not None else []
    asked.append(("mss", start.figure("tcp_mss")))
    used = [(key, figure) for key, figure in asked if figure is not None and float(figure.text)]
    if used:
        into.add_raw_fact("tool_options", ", ".join(f"{key}={figure.text}" for key, figure in used), used[0][1].line)


def _gather_scalars(node: Node, facts: Mapping[str, str], into: FragmentBuilder, *, but_zero: bool = False) -> None:
    """Keep numbers and strings as facts; skip zeros with ``but_zero``."""
    for key, fact in facts.items():
        printed = node.figure(key) or node.string(key)
        if printed is not None and not (but_zero and node.figure(key) and not float(printed.text)):
            into.add_raw_fact(fact, *printed)


def _gather_mtu(test: Test, start: Node, into: FragmentBuilder) -> None:
    """Keep the path's MTU, else the MTU implied by the segment size."""
    if len(test.paths) == 1:
        (path,) = test.paths.values()
        into.add_raw_fact("mtu", *path)
    elif not test.paths and (mss := start.figure("tcp_mss_default")) and (mtu := mtu_of(mss.text)):
        into.add_raw_fact("mtu", mtu, mss.line)


def _gather_hosts(start: Node, into: FragmentBuilder, *, is_server: bool) -> None:
    """Keep the writer's own name, and the other side's name or address."""
    own, other = ("server", "client") if is_server else ("client", "server")
    if (system := start.string("system_info")) is not None:
        words = system.text.split()  # System, host, kernel, and more.
        host, kernel = words[1:3] if len(words) > 2 else (None, None)
        into.add_facts(("system_info", own, "kernel"), (system.text.strip(), host, kernel), system.line)
    names = (
        (other, start.string("accepted_connection" if is_server else "connecting_to", "host")),
        ("ports", _find_ports(start, is_server=is_server)),
        (f"{own}_address", start.string("connected", 0, "local_host")),
        (f"{other}_address", start.string("connected", 0, "remote_host")),
        ("cookie", start.figure("cookie") or start.string("cookie")),
    )
    for key, printed in names:
        into.add_printed(key, printed)


def _find_ports(start: Node, *, is_server: bool) -> Printed | None:
    """Return the ports of each connection, the client's first."""
    connected = start.get("connected")
    if connected is None:
        return None
    keys = ("remote_port", "local_port") if is_server else ("local_port", "remote_port")
    found = [[each.figure(key) for key in keys] for each in connected.values()]
    pairs = [(client.text, server.text) for client, server in found if client is not None and server is not None]
    return Printed(join_ports(pairs), connected.line)


def _find_start(start: Node | None) -> datetime | None:
    """Return the start in UTC; milliseconds are printed since 3.20."""
    if start is None:
        return None
    for key, per_second in (("timemillisecs", 1000), ("timesecs", 1)):
        if node := start.figure("timestamp", key):
            try:
                return datetime.fromtimestamp(float(node.text) / per_second, UTC).replace(tzinfo=None)
            except (OverflowError, ValueError, OSError):
                return None
    return None
