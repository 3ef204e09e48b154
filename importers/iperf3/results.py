"""From a test's JSON to a fragment: who measured what, how it ended, and what is worth keeping."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from importers.iperf3 import figures, outcome
from importers.iperf3.figures import Direction
from importers.iperf3.trees import Test
from importers.iperf3.version import NAME, VERSION
from importers.json_text import Node
from importers.model import Fact, Fragment, Kind, Status
from importers.problem_log import ProblemLog
from importers.records import trial_number
from importers.segments import mtu_of

_START_FACTS = {
    "protocol": "factor.protocol",
    "num_streams": "users",
    "blksize": "message_bytes",
    "omit": "warmup_s",
    "tos": "tos",
}
# What is 0 where nothing was asked for.
_ASKED_FACTS = {
    "duration": "asked_duration_s",
    "bytes": "asked_bytes",
    "blocks": "asked_blocks",
    "target_bitrate": "factor.target_bits_per_s",
    "fqrate": "fair_queue_bits_per_s",
    "burst": "burst",
}
_BUFFER_FACTS = ("sock_bufsize", "sndbuf_actual", "rcvbuf_actual")
_NAMED = re.compile(r"""\brun_?id"?\s*[=:]\s*"?(?P<run_id>[\w.-]+)""", re.IGNORECASE)
_TRIAL = re.compile(r"""\btrial"?\s*[=:]\s*"?(?P<trial>\d+)""", re.IGNORECASE)
_new = tuple.__new__  # As in ``importers.gathering``.
_IDENTIFIER = re.compile(r"(?=\S*\d)[A-Za-z][\w.-]{2,59}")


def fragment_of(test: Test, file: str, found: ProblemLog) -> Fragment | None:
    """A test as a fragment; None for a server's last words, which are about no test."""
    if _is_idle_server(test):
        message = "The server was ended while it waited for a test; there is no run to keep."
        found.note("iperf3.no-test", message, "Nothing needs to be done.", test.first_line)
        return None
    run_id, trial = _names(test)
    noted = ProblemLog(file, run_id)
    ways = figures.directions(test)
    status = _judge(test, ways, noted)
    facts, start = tuple(_facts(test, ways)), test.start
    found.problems.extend(noted.problems)
    words, taken = _words(start, "system_info"), _taken(start)
    return Fragment(
        file=file,
        format=NAME,
        format_version=VERSION,
        kind=Kind.DRIVER,
        first_line=test.first_line,
        last_line=test.last_line,
        run_id=run_id,
        trial=trial,
        role="server" if test.is_server else "client",
        host=words[1] if len(words) > 2 else None,
        taken=taken,
        zone="+00:00" if taken else "",
        status=status,
        facts=facts,
        readings=tuple(figures.readings(test, ways, status)),
        listings=figures.listings(test),
    )


def _is_idle_server(test: Test) -> bool:
    """Whether this is what a server writes when it is ended while it waits."""
    said = test.failure[0] if test.failure else ""
    return test.start is not None and test.start.get("test_start") is None and "server has terminated" in said


def _names(test: Test) -> tuple[str | None, int | None]:
    """Run id and trial, where title or extra data name them: ``runid=AB101``, or a title that can only be an id."""
    texts = [node.text for key in ("title", "extra_data") if test.top and (node := test.top.string(key))]
    texts = [text for text in texts if text]
    trial = next((trial_number(match["trial"]) for text in texts if (match := _TRIAL.search(text))), None)
    for text in reversed(texts):
        if match := _NAMED.search(text):
            return match["run_id"], trial
    title = test.top.string("title") if test.top else None
    return (title.text if title and _IDENTIFIER.fullmatch(title.text) else None), trial


def _judge(test: Test, ways: Sequence[Direction], found: ProblemLog) -> Status:
    """How the test ended; anything but complete comes with a warning."""
    if test.problem:
        message = f"This result of iperf3 {test.problem}; what comes before is kept without a throughput."
        found.warn("iperf3.cut-off", message, outcome.TRANSFER, test.problem_line)
        return Status.INCOMPLETE
    if test.failure is not None:
        return outcome.judge_failure(*test.failure, found)
    if test.end is None:
        return outcome.cut_off("The result has no end", test.last_line, found)
    if not any(test.end.items()):
        message = "The test has no result and gives no reason; iperf3 may have written it to its error output."
        found.warn("iperf3.failed", message, outcome.AGAIN, test.end.line)
        return Status.FAILED
    if test.is_server:
        return Status.COMPLETE
    return _judge_figures(ways, test.end, found)


def _judge_figures(ways: Sequence[Direction], end: Node, found: ProblemLog) -> Status:
    """A client's result must say what arrived; old versions do not say it for UDP that lost something."""
    if ways and all(each.rate is not None for each in ways):
        return Status.COMPLETE
    if ways and all(each.is_sender_only for each in ways):
        return outcome.sender_only(end.line, found)
    return outcome.nothing_received(end.line, found)


def _facts(test: Test, ways: Sequence[Direction]) -> Iterator[Fact]:
    if test.failure is not None:
        yield Fact("error", *test.failure)
    start = test.start
    if start is None:
        return
    version = start.string("version")
    yield Fact("factor.tool", "iperf3", version.line if version else start.line)
    if version is not None:
        yield Fact("tool_version", version.text.removeprefix("iperf "), version.line)
    asked = start.get("test_start")
    if asked is not None:
        yield _direction(test, ways, asked)
        yield from _named(asked, _START_FACTS)
        yield from _named(asked, _ASKED_FACTS, is_zero_said=False)
    yield from _named(start, {key: key for key in _BUFFER_FACTS})
    yield from _named(start, {"tcp_mss_default": "mss"}, is_zero_said=False)
    yield from _mtu(test, start.number("tcp_mss_default"))
    yield from _hosts(test, start)
    yield from _named(start, {"cookie": "cookie"})
    if test.top is not None:
        yield from _named(test.top, {"title": "title", "extra_data": "extra_data"})
    yield from figures.facts(test, ways)


def _named(node: Node, names: Mapping[str, str], *, is_zero_said: bool = True) -> Iterator[Fact]:
    """Numbers and strings by the names of their facts."""
    for name, found in zip(names.values(), node.several(names), strict=True):
        if found is not None and _says(found, is_zero_said=is_zero_said):
            yield _new(Fact, (name, found.text, found.line, False))


def _says(node: Node, *, is_zero_said: bool) -> bool:
    if node.is_number:
        return is_zero_said or float(node.text) != 0
    return node.is_string and bool(node.text.strip())


def _direction(test: Test, ways: Sequence[Direction], asked: Node) -> Fact:
    """The pattern by the two switches; 3.7 to 3.10 tell both directions at once only by what comes out."""
    reverse, both = asked.get("reverse"), asked.get("bidir")
    line = (both or reverse or asked).line
    if asked.is_true("bidir") or len(ways) > 1 or test.intervals.has_both:
        return Fact("workload", "STRB", line)
    return Fact("workload", "STRG" if asked.is_true("reverse") else "STRP", line)


def _mtu(test: Test, mss: Node | None) -> Iterator[Fact]:
    """The path's MTU, as the sender sees it; else what follows from the segment size."""
    paths = test.intervals.paths
    if len(paths) == 1:
        (path,) = paths.values()
        yield Fact("mtu", *path)
    elif mss is not None and not paths and (mtu := mtu_of(mss.text)):
        yield Fact("mtu", mtu, mss.line)


def _hosts(test: Test, start: Node) -> Iterator[Fact]:
    """Who is client and who is server: the writer by its name, the other by the name or address it was called by."""
    own, other = ("server", "client") if test.is_server else ("client", "server")
    system, words = start.string("system_info"), _words(start, "system_info")
    if system is not None:
        yield Fact("system_info", system.text.strip(), system.line, of_host=True)
        if len(words) > 2:
            yield Fact(own, words[1], system.line)
            yield Fact("kernel", words[2], system.line, of_host=True)
    called = start.string("accepted_connection" if test.is_server else "connecting_to", "host")
    if called is not None:
        yield Fact(other, called.text, called.line)
    for role, key in ((own, "local_host"), (other, "remote_host")):
        if address := start.string("connected", 0, key):
            yield Fact(f"{role}_address", address.text, address.line)


def _words(start: Node | None, key: str) -> list[str]:
    node = start.string(key) if start is not None else None
    return node.text.split() if node is not None else []


def _taken(start: Node | None) -> datetime | None:
    """The start in UTC; milliseconds come with 3.20."""
    if start is None:
        return None
    for key, per_second in (("timemillisecs", 1000), ("timesecs", 1)):
        if node := start.number("timestamp", key):
            try:
                return datetime.fromtimestamp(float(node.text) / per_second, UTC).replace(tzinfo=None)
            except (OverflowError, ValueError, OSError):
                return None
    return None
