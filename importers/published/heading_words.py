"""Words and values in headings of published tables, with a certainty of the meaning.

A heading names a metric by a unit, a quantity, or both; the owner and the part of it stand before. A word added here
applies to all future tables.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from importers.published.grid import read_cell
from importers.published.mapping import DIMENSIONS, FACTOR, Line, Name, What


class Guess(NamedTuple):
    """A possible meaning of a text, with ``certainty`` from 0 to 1 and reason."""

    value: str
    certainty: float
    reason: str


class NameGuess(NamedTuple):
    """A possible name in a heading."""

    name: Name
    certainty: float
    reason: str


NOTHING = Guess("", 0.0, "")

_TRANS = r"(?:trans(?:action)?s?|tx|txn|tr|req(?:uest)?s?|rr)"
_PER = r"\s*(?:/|per)\s*"
_SECOND = r"(?:s|secs?|seconds?)"
_TIME = {
    _SECOND: "s",
    r"(?:ms|msecs?|milliseconds?)": "ms",
    r"(?:us|\u00b5s|\u03bcs|usecs?|microseconds?)": "us",
    r"(?:ns|nsecs?|nanoseconds?)": "ns",
}
_BYTES = {
    r"(?:MB|MiB|mbytes?|megabytes?)": "MB",
    r"(?:KB|kB|KiB|kbytes?|kilobytes?)": "KB",
    r"(?:GB|GiB|gbytes?|gigabytes?)": "GB",
    r"(?:B|bytes?)": "bytes",
}
_BITS = {r"(?:Mb|Mbits?|megabits?)": "Mbit", r"(?:Gb|Gbits?|gigabits?)": "Gbit", r"(?:kb|kbits?)": "kbit"}


class _Unit(NamedTuple):
    """A printed unit: the quantity, and the spelling for the conversion."""

    of: str
    read_as: str


def _units() -> Iterator[tuple[re.Pattern[str], _Unit]]:
    yield re.compile(rf"{_TRANS}{_PER}{_SECOND}|tps", re.IGNORECASE), _Unit("trans rate", "trans/s")
    for words, spelled in _BYTES.items():
        flags = re.NOFLAG if spelled == "bytes" else re.IGNORECASE
        yield re.compile(rf"(?!(?-i:Mb|Kb|kb|Gb)\b){words}{_PER}{_SECOND}", flags), _Unit("data rate", f"{spelled}/s")
    for words, spelled in _BITS.items():
        any_case = rf"(?i:{words[words.index('|') + 1 : -1]})"
        yield re.compile(rf"(?:{words}|{any_case})(?:{_PER}{_SECOND}|ps)"), _Unit("bit rate", f"{spelled}/s")
    for words, spelled in _TIME.items():
        yield re.compile(rf"{words}{_PER}{_TRANS}", re.IGNORECASE), _Unit("cost per trans", f"{spelled}/trans")
        per_mb = re.compile(rf"{words}{_PER}(?:MB|mbytes?|megabytes?)", re.IGNORECASE)
        yield per_mb, _Unit("cost per mb", f"{spelled}/MB")
        yield re.compile(words, re.IGNORECASE), _Unit("time", spelled)
    yield re.compile(r"%|percent|per cent|pct", re.IGNORECASE), _Unit("per cent", "%")
    yield re.compile(rf"pps|packets?{_PER}{_SECOND}", re.IGNORECASE), _Unit("packet rate", "1/s")
    yield re.compile(rf"ints|interrupts?{_PER}{_SECOND}", re.IGNORECASE), _Unit("interrupt rate", "1/s")


_UNITS = tuple(_units())
_LONGEST = 200
_IN_BRACKETS = re.compile(r"(?P<words>.*?)[\s_]*[(\[](?P<unit>[^()\[\]]+)[)\]]\s*")
_AT_THE_END = re.compile(r"(?P<words>.*?)[\s_,/]*(?<![^\s_,/])(?P<unit>[^\s_,]+(?:\s?(?:/|per)\s?[^\s_,]+)?)")


def read_unit(text: str) -> _Unit | None:
    """Return a printed unit such as ``msec/trans``, or None."""
    bare = text.strip()
    return next((unit for pattern, unit in _UNITS if pattern.fullmatch(bare)), None) if len(bare) < 40 else None


_QUANTITY = re.compile(
    r"throughput|goodput|bandwidth|rate|cpu|util|load|cost|time|latency|response|delay|jitter|loss", re.IGNORECASE
)


def is_quantity(text: str) -> bool:
    """Return whether a heading has a word for something measured."""
    return len(text) < _LONGEST and _QUANTITY.search(text) is not None


# A number is a percentile where a word says so, never as part of another number.
_PERCENTILE = r"(?<![\w.])(?:p(?:{0})(?![\w.])|(?:{0})(?:th|st|nd|rd)?\s*(?:%|-?\s?(?:percentile|pctl?|centile)))"
# What a quantity's words say, for which units, in the order in which they are asked. {} is total, virtual_ or cp_.
# Without a metric, the heading is asked for.
_QUANTITIES: tuple[tuple[str, str, str], ...] = (
    (r"response|turnaround", "time", "response_ms"),
    (r"elapsed|duration", "time", "elapsed_s"),
    (r"jitter", "time", "jitter_ms"),
    (r"rtt|round.?trip", "time", "rtt_ms"),
    (_PERCENTILE.format(r"99\.9|999"), "time", "latency_p999_ms"),
    *((_PERCENTILE.format(each), "time", f"latency_p{each}_ms") for each in ("99", "95", "90", "75")),
    (_PERCENTILE.format("50") + "|median", "time", "latency_p50_ms"),
    (_PERCENTILE.format(r"\d[\d.]*"), "time", ""),
    (r"max.*(?:latency|delay)|(?:latency|delay).*max", "time", "latency_max_ms"),
    (r"min.*(?:latency|delay)|(?:latency|delay).*min", "time", "latency_min_ms"),
    (r"latency|delay", "time", "latency_mean_ms"),
    (r"loss|lost", "per cent", "loss_percent"),
    (r"run\+wait", "per cent", "run_wait"),
    (r"steal|stolen", "per cent", "steal_util"),
    (r"idle", "per cent", "idle_util"),
    (r"lpar|cpu|processor|util", "per cent", "{}cpu_util"),
    (r"rx|receiv", "packet rate", "packets_received_per_s"),
    (r"tx|sen[dt]|transmit", "packet rate", "packets_sent_per_s"),
    (r"", "interrupt rate", "interrupts_per_s"),
    (r"retrans", "", "retransmits"),
    (r"errors?", "", "errors"),
    (r"transactions?$", "", "transactions"),
)
_BY_UNIT = {
    "trans rate": ("trans_per_s", 0.95),
    "data rate": ("mb_per_s", 0.95),
    "bit rate": ("gbit_per_s", 0.9),
    "cost per trans": ("{}cpu_ms_per_trans", 0.95),
    "cost per mb": ("{}cpu_ms_per_mb", 0.95),
}
# A quantity without a unit is in per cent where nothing else makes sense.
_UTILISATION = re.compile(r"util|run\+wait|cpu\s*$|%\s*cpu|cpu\s*%|\bload\b", re.IGNORECASE)
_PARTS = {"virtual_": r"virt(?:ual)?|vcpu|emul(?:ation)?|guest cpu", "cp_": r"cp|ccpu|hypervisor"}
_SEPARATED = r"(?:^|[\s_/,.:-])(?:{})(?=$|[\s_/,.:-])"
_ROLES = {"client": r"clients?|sender", "server": r"servers?|receiver"}
# Any other word before an underscore is whose figure it is: tcpip1_cpu_msec/trans.
_OTHER_ROLE = re.compile(r"(?P<role>[a-z][a-z0-9]{1,15})_", re.IGNORECASE)
_NO_ROLES = frozenset(
    (
        *("total", "tot", "virt", "virtual", "cp", "cpu", "ccpu", "vcpu", "emul", "run", "avg", "mean", "max"),
        *("min", "response", "elapsed", "trans", "lpar", "throughput", "latency", "packets", "msec", "sec"),
    )
)


def read_name(text: str) -> NameGuess | None:
    """Return what a heading, unless a figure, names: metric, dimension or difference; or None."""
    if not text or len(text) > _LONGEST or is_figure(text):
        return None
    if is_difference(text):
        # Without such words, an increase in per cent.
        kind = next((kind for kind, pattern in _KINDS.items() if pattern.search(text)), What.DIFFERENCE)
        return NameGuess(Name(kind), 0.9, "says that it is a difference")
    dimension = line_name(text)
    measure = _measure(text) if dimension.certainty < 0.9 else None
    if measure is None and dimension.value:
        return NameGuess(Name(What.DIMENSION, dimension=dimension.value), dimension.certainty, dimension.reason)
    return measure


def is_figure(text: str) -> bool:
    """Return whether a text is a number with a unit or a difference."""
    content = read_cell(text)
    if content is None:
        return False
    unit = content.figure.unit
    return content.difference is not None or (unit != "%" and (read_unit(unit) or read_unit(f"{unit}/s")) is not None)


def _measure(text: str) -> NameGuess | None:
    words, printed, unit = _with_unit(text)
    of, read_as = (unit.of, unit.read_as) if unit else ("", "")
    part, role = _first_word(_PARTS, words), _role(words)
    metrics = (each for pattern, where, each in _QUANTITIES if where == of and re.search(pattern, words, re.IGNORECASE))
    metric = next(metrics, None)
    if metric == "{}cpu_util":
        found = _utilisation(words, part, role)
        return found._replace(name=replace(found.name, unit=printed))
    if metric:
        unsure = metric in {"latency_mean_ms", "errors", "transactions"}
        reason = f"says {words.strip()}" + (f" in {printed}" if printed else "")
        name = Name(What.MEASURE, metric.format(part), role, printed, read_as)
        return NameGuess(name, 0.7 if unsure else 0.95, reason)
    if metric is None and not of and _UTILISATION.search(words):
        return _utilisation(words, part, role)
    if metric is not None or of not in _BY_UNIT:
        return None
    metric, certainty = _BY_UNIT[of]
    name = Name(What.MEASURE, metric.format(part), role, printed, read_as)
    return NameGuess(name, certainty, f"measured in {printed}")


def _with_unit(text: str) -> tuple[str, str, _Unit | None]:
    """Return words, unit as printed (alone, in brackets, or last), and its meaning."""
    whole = read_unit(text)
    if whole is not None:
        return "", text.strip(), whole
    for pattern in (_IN_BRACKETS, _AT_THE_END):
        match = pattern.fullmatch(text)
        unit = read_unit(match["unit"]) if match else None
        if match and unit is not None:
            return match["words"], match["unit"].strip(), unit
    return text, "", None


def _first_word(patterns: Mapping[str, str], words: str) -> str:
    """Return the key of the first pattern that is a heading's word, or ""."""
    found = (key for key, each in patterns.items() if re.search(_SEPARATED.format(each), words, re.IGNORECASE))
    return next(found, "")


def _role(words: str) -> str:
    other = _OTHER_ROLE.match(words)
    named = other["role"].casefold() if other else ""
    return _first_word(_ROLES, words) or (named if named not in _NO_ROLES else "") or "total"


def _utilisation(words: str, part: str, role: str) -> NameGuess:
    """Return a metric in per cent of the system or of one processor.

    The total, client, server and LPAR are taken as parts of the system; another role's utilisation is of one processor.
    """
    if "run+wait" in words.casefold():
        return NameGuess(Name(What.MEASURE, "run_wait", role, "", "%"), 0.9, "running and waiting is in per cent")
    whole = role == "total" or "lpar" in words.casefold()
    if whole or role in _ROLES:
        name = Name(What.MEASURE, f"{part}cpu_util", role, "", "%")
        return NameGuess(name, 0.9 if whole else 0.7, "utilisation, taken as per cent of the system")
    name = Name(What.MEASURE, f"{part}processor_util", role, "", "%")
    return NameGuess(name, 0.7, f"utilisation by {role}, taken as per cent of one processor")


_DIFFERENCE = re.compile(
    r"\W*(?:%|per ?cent|pct|abs(?:olute|\.)?|rel(?:ative|\.)?)?\W*"
    r"(?:diff(?:erence|\.)?|change|delta|\u0394|increase|gain|improvement|reduction|savings?|saved|decrease|drop)\b.*"
    r"|.*\b(?:diff|difference|change|reduction|savings?|improvement|delta)\W*(?:\(?%\)?)?\W*",
    re.IGNORECASE,
)
_KINDS = {
    What.REDUCTION: re.compile(r"reduc|sav(?:ing|ed)|decrease|drop", re.IGNORECASE),
    What.IMPROVEMENT: re.compile(r"improve", re.IGNORECASE),
    What.ABSOLUTE: re.compile(r"\babs(?:olute|\b)", re.IGNORECASE),
}
_ABOUT_DIFFERENCES = re.compile(
    r"%|\b(?:diff(?:erence)?|change|delta|reduction|improvement|increase|gain|of|in)\b|[():,]", re.IGNORECASE
)
_AGAINST = re.compile(
    r"(?P<compared>[\w .+-]+?)\s+(?:vs\.?|versus|against|over|to)\s+(?P<baseline>[\w .+-]+)", re.IGNORECASE
)


def is_difference(text: str) -> bool:
    """Return whether a heading announces differences: ``% diff``, ``Change (%)``."""
    return len(text) < 80 and _DIFFERENCE.fullmatch(text.strip()) is not None


def read_comparison(text: str) -> tuple[str, str] | None:
    """Return value and baseline of a heading like ``% diff OSA vs VSwitch``."""
    match = _AGAINST.search(_ABOUT_DIFFERENCES.sub(" ", text))
    return (match["compared"].strip(), match["baseline"].strip()) if match else None


_HOW_MANY = r"(?:number of |no\. of |# ?(?:of )?|concurrent |parallel )*"
_SENT = r"(?:msg|message|packet|request|record|payload|block|buffer|write|i/?o)"
_LINE_NAMES: tuple[tuple[str, str, float], ...] = (
    (r"mtu(?: sizes?)?(?: \(?(?:bytes|B)\)?)?", "mtu", 0.95),
    (rf"{_HOW_MANY}(?:clients?|users?|connections?|sessions?|streams?|pairs?|client-server pairs)", "users", 0.95),
    (r"protocol|device(?: types?)?|connectivity|connection types?|interface|adapter|nic|network|link", "device", 0.9),
    (r"run ?-?_?(?:id|name|label)?s?", "run_id", 0.95),
    (r"(?:workload|traffic(?: pattern)?|pattern|transaction type|test)(?: type| name)?", "workload", 0.9),
    (r"(?:transport )?layer|osi layer", "layer", 0.95),
    (r"trial|repetition|iteration|run number|run #", "trial", 0.9),
    (r"level|software(?: level)?s?|release|version", "level", 0.9),
    (r"system|machine|host", "system", 0.8),
    (r"campaign", "campaign", 0.95),
    (r"kernel", "factor.kernel", 0.9),
    (rf"{_SENT}[ _-]?(?:size|length|len|bytes)s?(?: \(?(?:bytes|B)\)?)?", "factor.message_bytes", 0.9),
)


def line_name(text: str) -> Guess:
    """Return the dimension that a heading names, whose values stand beside or below."""
    bare = text.strip().casefold().rstrip(":")
    for pattern, dimension, certainty in _LINE_NAMES:
        if re.fullmatch(pattern, bare):
            return Guess(dimension, certainty, f"is headed {text.strip()}")
    if bare in DIMENSIONS or (bare.startswith(FACTOR) and len(bare) > len(FACTOR)):
        return Guess(bare, 1.0, f"is headed {text.strip()}")
    return NOTHING


_MOST_USERS = 10_000
WORKLOADS = {
    **dict.fromkeys(("rr", "request-response", "request response", "request/response"), "RR"),
    **dict.fromkeys(("crr", "connect-request-response", "connect request response", "connect/request/response"), "CRR"),
    **dict.fromkeys(("s", "str", "strg", "stream", "streaming", "streaming get"), "STRG"),
    **dict.fromkeys(("strp", "streaming put"), "STRP"),
    **{"strb": "STRB", "http": "HTTP", "ping": "PING"},
}
_PEOPLE = r"users?|clients?|sessions?|connections?"
_WORDS = "|".join(sorted(map(re.escape, WORKLOADS), key=len, reverse=True))
WORKLOAD_AND_USERS = re.compile(
    rf"(?P<workload>{_WORDS})[\s,_:-]*(?P<users>\d{{1,5}})(?:\s*(?:{_PEOPLE}))?", re.IGNORECASE
)
LAYER = re.compile(r"(?:layer|l)[\s_-]*(?P<value>[2-7])", re.IGNORECASE)
USERS = re.compile(rf"(?P<value>\d{{1,6}})(?:\s*-?(?:{_PEOPLE}|streams?|pairs?|threads?))?", re.IGNORECASE)
MTU = re.compile(r"(?:mtu[\s=:]*)?(?P<value>\d{3,6}|\d{1,3}\s?K)(?:\s?(?:B|bytes))?(?:\s*mtu)?", re.IGNORECASE)
_MTUS = frozenset(
    (
        *("576", "1280", "1454", "1460", "1492", "1500", "2000", "4000", "4096", "4352", "8000", "8192"),
        *("8992", "9000", "9216", "16384", "17914", "32760", "32768", "57344", "61440", "64000", "65280"),
        *("65520", "65535", "65536"),
    )
)
_RUN_ID = re.compile(r"(?=.*[a-z])(?=.*\d.*\d)[a-z][a-z0-9_-]{4,30}", re.IGNORECASE)
_DEVICES = re.compile(
    r"(?:vm )?(?:qdio(?: gbe?)?|osa(?:-?express\d?\w*)?|v-?switch|virtual switch|hiper(?:sockets?)?|guest(?: lan)?"
    r"|v?ctc|virtual ctc|iucv"
    r"|lcs|roce|smc-?[dr]|loopback|eth\d+|bridge|ovs|macvtap|virtio|sr-?iov"
    r"|e1000e?|ixgbe|mlx\d+|\d+ ?gbe?|gigabit ethernet)",
    re.IGNORECASE,
)
_ROLE_VALUES = re.compile(r"total|client|server|sender|receiver", re.IGNORECASE)


def is_mtu(text: str) -> bool:
    """Return whether a number is a usual MTU: 1492, 8K."""
    match = MTU.fullmatch(text.strip())
    value = match["value"] if match else ""
    return bool(match) and (value in _MTUS or value[-1:] in {"K", "k"} or "mtu" in text.casefold())


def is_device(text: str) -> bool:
    """Return whether a text is a word for connectivity."""
    return _DEVICES.fullmatch(text.strip()) is not None


def value_of(dimension: str, text: str) -> str:
    """Return a normalised value: ``Layer3`` is 3, ``10 users`` is 10."""
    bare = text.strip()
    if dimension == "workload":
        return WORKLOADS.get(bare.casefold(), bare)
    pattern = {"layer": LAYER, "users": USERS, "mtu": MTU}.get(dimension)
    match = pattern.fullmatch(bare) if pattern else None
    if match is None:
        return bare
    return match["value"].replace(" ", "").lstrip("0") or "0"


def _is_users(text: str) -> bool:
    match = USERS.fullmatch(text)
    return match is not None and 0 < int(match["value"]) <= _MOST_USERS


# What a line may hold when every text of it passes the test; how certain that is, and why.
_OF_VALUES: tuple[tuple[str, Callable[[str], object], float, str], ...] = (
    (Line.BOTH, WORKLOAD_AND_USERS.fullmatch, 0.9, "holds workload and users together"),
    ("layer", LAYER.fullmatch, 0.95, "holds layers"),
    ("workload", lambda text: text.casefold() in WORKLOADS, 0.85, "holds names of workloads"),
    (Line.ROLE, _ROLE_VALUES.fullmatch, 0.8, "holds client and server"),
    ("device", is_device, 0.8, "holds words for connectivity"),
    ("mtu", is_mtu, 0.75, "holds usual MTU sizes"),
    ("users", _is_users, 0.5, "holds small numbers, which may be users"),
    ("run_id", _RUN_ID.fullmatch, 0.7, "holds what looks like run ids"),
)


def kind_of_values(texts: list[str]) -> Guess:
    """Return the dimension that all texts can be values of."""
    given = [text for text in texts if text.strip()]
    if not given or any(len(text) > _LONGEST for text in given):
        return NOTHING
    for kind, fits, certainty, reason in _OF_VALUES:
        if all(fits(text.strip()) for text in given):
            return Guess(kind, certainty, reason)
    return NOTHING
