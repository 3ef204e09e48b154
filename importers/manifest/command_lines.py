"""Facts in a load tool's command line that the tool's output may lack.

nuttcp's brief results name neither direction nor streams, sockperf's no size of messages, qperf's none without ``-v``,
and iperf's CSV (``-y C``) no direction.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

_SIZE = re.compile(r"\d+[KMGkmg]?")
_COUNT = re.compile(r"[1-9]\d{0,4}")
_LONGEST = 4000
_QUOTES = "'\"\\"
_BLANKS = re.compile("[ \t\r\n]+")

Asked = Iterator[tuple[str, str]]
"""Facts by key."""


@lru_cache(1024)
def asked_of(command: str) -> tuple[tuple[str, str], ...]:
    """Return the facts of a command line; none for other tools."""
    # The trials of a run have the same command.
    words = _words(command) if len(command) <= _LONGEST else []
    for place, word in enumerate(words):
        # It may stand behind taskset, timeout or ip netns exec.
        if _may_name_a_tool(word) and (name := PurePosixPath(word).name) in _TOOLS:
            return tuple(_TOOLS[name](words[place + 1 :]))
    return ()


def _words(command: str) -> list[str]:
    """Return a shell's words; none if impossible, or without a known tool."""
    if not any(sign in command for sign in _QUOTES):
        return [word for word in _BLANKS.split(command) if word] if _may_name_a_tool(command) else []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _may_name_a_tool(text: str) -> bool:
    return any(name in text for name in _TOOLS)


def _value(words: Sequence[str], *options: str) -> str | None:
    """Return the value of an option: behind it, or in the same word."""
    for place, word in enumerate(words):
        for option in options:
            if word == option:
                return words[place + 1] if place + 1 < len(words) else None
            if word.startswith(option):
                return word.removeprefix(option).removeprefix("=")
    return None


def _both_ways(size: str | None) -> Asked:
    if size is not None and _SIZE.fullmatch(size):
        yield "request_bytes", size
        yield "response_bytes", size


def _of_stream(size: str | None) -> Asked:
    if size is not None and _SIZE.fullmatch(size):
        yield "message_bytes", size


def _nuttcp(words: Sequence[str]) -> Asked:
    """Read nuttcp's options. ``-F`` reverses the connection, with different meanings in its versions."""
    if "-F" not in words:
        yield "workload", "STRG" if "-r" in words else "STRP"
    streams = _value(words, "-N")
    if streams is None or _COUNT.fullmatch(streams):
        yield "users", streams or "1"


def _sockperf(words: Sequence[str]) -> Asked:
    """Read sockperf's options. Messages have 14 bytes by default."""
    size = _value(words, "--msg-size", "-m") or "14"
    if {"ping-pong", "pp"} & {*words}:
        yield from _both_ways(size)
    elif {"throughput", "tp"} & {*words}:
        yield from _of_stream(size)


def _qperf(words: Sequence[str]) -> Asked:
    """Read qperf's options, for tests of one kind.

    Latency uses 1 byte by default. A loop (``-oo msg_size:1:64K:*2``) has many sizes.
    """
    tests = {word.rpartition("_")[2] for word in words if word.endswith(("_lat", "_bw"))}
    size = _value(words, "--msg_size", "-m")
    if any(word.startswith("msg_size:") for word in words):
        return
    if tests == {"lat"}:
        yield from _both_ways(size or "1")
    elif tests == {"bw"}:
        yield from _of_stream(size)


def _iperf(words: Sequence[str]) -> Asked:
    two_ways = {"-d", "--dualtest", "-r", "--tradeoff", "--full-duplex", "--bounceback", "-s", "--server"}
    if {"-y", "-yC", "-yc"} & {*words} and not two_ways & {*words}:
        yield "workload", "STRG" if {"-R", "--reverse"} & {*words} else "STRP"


_TOOLS: dict[str, Callable[[Sequence[str]], Asked]] = {
    "nuttcp": _nuttcp,
    "sockperf": _sockperf,
    "qperf": _qperf,
    "iperf": _iperf,
}
