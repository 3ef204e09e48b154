"""From a test's JSON to a fragment: who measured what, how it ended, and what is worth keeping."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from importers.files.json_documents import Node, Only, Part
from importers.fragment_builder import Gathered
from importers.iperf3 import directions, end_status
from importers.iperf3.directions import Direction
from importers.iperf3.json_events import Test
from importers.iperf3.version import NAME, VERSION
from importers.key_values import trial_number
from importers.model import Fragment, Kind, Status
from importers.problem_log import ProblemLog
from importers.tcp_segments import mtu_of

# What is said of the test; the last ones are 0 where nothing was asked for.
_STARTED = {
    "protocol": "factor.protocol",
    "num_streams": "users",
    "blksize": "message_bytes",
    "omit": "warmup_s",
    "tos": "tos",
}
_ASKED = {
    "duration": "asked_duration_s",
    "bytes": "asked_bytes",
    "blocks": "asked_blocks",
    "target_bitrate": "factor.target_bits_per_s",
    "fqrate": "fair_queue_bits_per_s",
    "burst": "burst",
}
_BUFFERS = ("sock_bufsize", "sndbuf_actual", "rcvbuf_actual")
_TITLES = ("title", "extra_data")
_TEST = ("test_start",)
_OF_TEST = (
    Part(_TEST, tuple(_STARTED)),
    Part(_TEST, tuple(_ASKED), Only.BUT_ZERO),
    Part((), _BUFFERS),
    Part((), ("tcp_mss_default",), Only.BUT_ZERO),
)
_OF_TEST_KEYS = (*_STARTED.values(), *_ASKED.values(), *_BUFFERS, "mss")
_OF_HOSTS = (
    Part((), ("system_info",), Only.STRINGS),
    Part(("accepted_connection",), ("host",), Only.STRINGS),
    Part(("connecting_to",), ("host",), Only.STRINGS),
    Part(("connected", 0), ("local_host", "remote_host"), Only.STRINGS),
    Part((), ("cookie",)),
)
_OF_HOST = frozenset({"system_info", "kernel"})
_NAMED = re.compile(r"""\brun_?id"?\s*[=:]\s*"?(?P<run_id>[\w.-]+)""", re.IGNORECASE)
_TRIAL = re.compile(r"""\btrial"?\s*[=:]\s*"?(?P<trial>\d+)""", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?=\S*\d)[A-Za-z][\w.-]{2,59}")


def fragment_of(test: Test, file: str, found: ProblemLog) -> Fragment | None:
    """A test as a fragment; None for a server's last words, which are about no test."""
    if _is_idle_server(test):
        message = "The server was ended while it waited for a test; there is no run to keep."
        found.note("iperf3.no-test", message, "Nothing needs to be done.", test.first_line)
        return None
    run_id, trial = _names(test)
    noted = ProblemLog(file, run_id)
    ways = directions.directions(test)
    status = _judge(test, ways, noted)
    start, words, into = test.start, _words(test.start), Gathered()
    _gather(test, ways, status, words, into)
    found.problems.extend(noted.problems)
    taken = _taken(start)
    directions.gather(test, ways, status, into)
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
        facts=into.facts_but(_OF_HOST),
        readings=into.readings,
        listings=directions.listings(test),
    )


def _is_idle_server(test: Test) -> bool:
    """Whether this is what a server writes when it is ended while it waits."""
    failure, start = test.failure, test.start
    if failure is None or start is None or "server has terminated" not in failure[0]:
        return False
    return start.get("test_start") is None


def _names(test: Test) -> tuple[str | None, int | None]:
    """Run id and trial, where title or extra data name them: ``runid=AB101``, or a title that can only be an id."""
    if test.top is None:
        return None, None
    texts = [said.text for key in _TITLES if (said := test.top.string(key))]
    trial = next((trial_number(match["trial"]) for text in texts if (match := _TRIAL.search(text))), None)
    for text in reversed(texts):
        if match := _NAMED.search(text):
            return match["run_id"], trial
    title = test.top.string("title")
    return (title.text if title and _IDENTIFIER.fullmatch(title.text) else None), trial


def _judge(test: Test, ways: Sequence[Direction], found: ProblemLog) -> Status:
    """How the test ended; anything but complete comes with a warning."""
    if test.problem:
        message = f"This result of iperf3 {test.problem}; what comes before is kept without a throughput."
        found.warn("iperf3.cut-off", message, end_status.TRANSFER, test.problem_line)
        return Status.INCOMPLETE
    if test.failure is not None:
        return end_status.judge_failure(*test.failure, found, directions.heard(ways))
    if test.end is None:
        return end_status.cut_off("The result has no end", test.last_line, found)
    if not any(test.end.items()):
        message = "The test has no result and gives no reason; iperf3 may have written it to its error output."
        found.warn("iperf3.failed", message, end_status.AGAIN, test.end.line)
        return Status.FAILED
    if test.is_server:
        return Status.COMPLETE
    return _judge_figures(ways, test.end, found)


def _judge_figures(ways: Sequence[Direction], end: Node, found: ProblemLog) -> Status:
    """A client's result must say what arrived; old versions do not say it for UDP that lost something."""
    if ways and all(each.rate is not None for each in ways):
        return Status.COMPLETE
    if ways and all(each.is_sender_only for each in ways):
        return end_status.sender_only(end.line, found)
    return end_status.nothing_received(end.line, found)


def _gather(test: Test, ways: Sequence[Direction], status: Status, words: Sequence[str], into: Gathered) -> None:
    """The circumstances, in the order in which iperf3 tells them."""
    if test.failure is not None:
        into.note("error", *test.failure)
    start = test.start
    if start is None:
        return
    version = start.string("version")
    into.note("factor.tool", "iperf3", version.line if version else start.line)
    if version is not None:
        into.note("tool_version", version.text.removeprefix("iperf "), version.line)
    asked = start.get("test_start")
    if asked is not None:
        into.note("workload", *_direction(test, ways, asked))
    into.say_each(_OF_TEST_KEYS, *start.read_texts(_OF_TEST))
    _mtu(test, start, into)
    _hosts(start, words, into, is_server=test.is_server)
    if test.top is not None:
        into.say_each(_TITLES, *test.top.read_texts((Part((), _TITLES),)))
    directions.gather_facts(test, ways, status, into)


def _direction(test: Test, ways: Sequence[Direction], asked: Node) -> tuple[str, int]:
    """The pattern by the two switches; 3.7 to 3.10 tell both directions at once only by what comes out."""
    reverse, both = asked.get("reverse"), asked.get("bidir")
    line = (both or reverse or asked).line
    if asked.is_true("bidir") or len(ways) > 1 or test.intervals.has_both:
        return "STRB", line
    return "STRG" if asked.is_true("reverse") else "STRP", line


def _mtu(test: Test, start: Node, into: Gathered) -> None:
    """The path's MTU, as the sender sees it; else what follows from the segment size."""
    paths = test.intervals.paths
    if len(paths) == 1:
        (path,) = paths.values()
        into.note("mtu", *path)
    elif not paths and (mss := start.figure("tcp_mss_default")) and (mtu := mtu_of(mss.text)):
        into.note("mtu", mtu, mss.line)


def _hosts(start: Node, words: Sequence[str], into: Gathered, *, is_server: bool) -> None:
    """Who is client and who is server: the writer by its name, the other by the name or address it was called by."""
    own, other = ("server", "client") if is_server else ("client", "server")
    (system, caller, called, *others), lines = start.read_texts(_OF_HOSTS)
    if system is not None:
        _, host, kernel, *_ = words if len(words) > 2 else ("", None, None)
        into.say_all(("system_info", own, "kernel"), (system.strip(), host, kernel), lines[0])
    into.say_each((other,), (caller if is_server else called,), lines[1:2] if is_server else lines[2:3])
    into.say_each((f"{own}_address", f"{other}_address", "cookie"), others, lines[3:])


def _words(start: Node | None) -> list[str]:
    """What the writer's system says of itself: its name, the host's, the kernel, and more."""
    system = start.string("system_info") if start is not None else None
    return system.text.split() if system is not None else []


def _taken(start: Node | None) -> datetime | None:
    """The start in UTC; milliseconds come with 3.20."""
    if start is None:
        return None
    for key, per_second in (("timemillisecs", 1000), ("timesecs", 1)):
        if node := start.figure("timestamp", key):
            try:
                return datetime.fromtimestamp(float(node.text) / per_second, UTC).replace(tzinfo=None)
            except (OverflowError, ValueError, OSError):
                return None
    return None
