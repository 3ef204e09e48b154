"""The tests of a netperf log, with lines as printed, and the names of output selectors."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from importers.files.typed_commands import find_command
from importers.fragment_builder import Printed
from importers.key_values import read_cells
from importers.model import Text
from importers.netperf.banner import Banner, Kind, Shape, is_banner, read_banner

_ERROR = re.compile(
    r"(?:establish[ _]control|establish_control\(\)|netperf: |(?:send|recv)_\w+: )(?!.*\bWarning\b).*"
    r"|(?:remote|netserver) error \d+.*"
)
_CONTROL = re.compile(r"establish[ _]control")
_INTERIM = re.compile(
    r"Interim result: +(\S+) +(\S.*?) +over +([\d.]+) +seconds(?: +ending at +([\d.]+)(?: +seconds)?)?\s*"
)
_KEYED_INTERIM = re.compile(r"NETPERF_(INTERIM_RESULT|UNITS|INTERVAL|ENDING)\[\d{1,9}\]=(.*)")
_KEY_VALUE = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)")
_NUMERIC = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)", re.ASCII)
_WORDS = re.compile(r'"[^"]*"|\S+')
_UNREACHED = re.compile(r"(Throughput|Local CPU util|Remote CPU util)\s*:\s*([\d.]+)\s*%")
_HISTOGRAM = re.compile(r"(\w+_[UM]?SECS?|\w+_SEC|>100_SECS|HIST_TOTAL)\s*:\s*(.*\S)\s*")
_SECTIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("alignment", re.compile(r"Alignment\s+Offset")),
    ("segment", re.compile(r"Maximum\s*")),
    ("histogram", re.compile(r"Histogram of ")),
    ("figures", re.compile(r"(?:(?:Recv|Send)\s+){2}(?:Recv|Send)\b|Local /Remote|Socket\s+Message\s+Elapsed")),
)
# Line of a classic table's heading -> its kind; other tests of this layout differ in their banner only.
_OF_HEADING = (
    (re.compile(r"Local /Remote"), Kind("", Shape.TRANSACTIONS)),
    (re.compile(r"Socket\s+Message\s+Elapsed"), Kind("STRP", Shape.DATAGRAMS)),
    (re.compile(r"(?:Recv|Send)\s"), Kind("", Shape.STREAM)),
)
_DETAILS = frozenset({"alignment", "segment"})
_HEADER_LINES = 4
_FEWEST_COLUMNS = 5
_OF_EACH_END = {
    "send size": "SEND_SIZE",
    "bytes sent": "BYTES_SENT",
    "bytes received": "BYTES_RECVD",
    "cpu util %": "CPU_UTIL",
    "cpu util method": "CPU_METHOD",
    "cpu count": "CPU_COUNT",
    "service demand": "SD",
    "transport retransmissions": "TRANSPORT_RETRANS",
    "congestion control algorithm": "CONG_CONTROL",
}
_IN_CAPITALS = (
    *("throughput", "throughput units", "direction", "protocol", "remote recv throughput", "netperf version"),
    "command line",
)
_LATENCIES = {
    **{"minimum": "MIN", "mean": "MEAN", "maximum": "MAX", "stddev": "STDDEV"},
    **{f"{number}th percentile": f"P{number}" for number in (50, 90, 99)},
}
_LONG_NAMES: dict[str, str] = {
    **{name: name.upper().replace(" ", "_") for name in _IN_CAPITALS},
    **{f"{name} latency microseconds": f"{key}_LATENCY" for name, key in _LATENCIES.items()},
    "transaction rate tran/s": "TRANSACTION_RATE",
    "round trip latency usec/tran": "RT_LATENCY",
    "elapsed time (sec)": "ELAPSED_TIME",
    "request size bytes": "REQUEST_SIZE",
    "response size bytes": "RESPONSE_SIZE",
    "service demand units": "SD_UNITS",
    "transport mss bytes": "TRANSPORT_MSS",
    "throughput confidence width (%)": "THROUGHPUT_CONFID",
    "confidence iterations run": "CONFIDENCE_ITERATION",
    "result tag": "RESULT_BRAND",
    "test uuid": "UUID",
    **{f"{end} {name}": f"{end.upper()}_{key}" for end in ("local", "remote") for name, key in _OF_EACH_END.items()},
}
"""Long name in lower case -> name of the selector; unknown names are kept."""

SELECTORS = frozenset(_LONG_NAMES.values())


class Row(NamedTuple):
    """A line of figures: numbers, and the text behind (the tag of ``-B``)."""

    line: int
    cells: tuple[str, ...]
    rest: str = ""

    def cell(self, place: int) -> Printed | None:
        return Printed(self.cells[place], self.line) if place < len(self.cells) else None


@dataclass(slots=True)
class Interim:
    """An interim result: a figure, seconds, and the end since 1970."""

    line: int
    value: str
    unit: str = ""
    seconds: str = ""
    ending: str = ""


@dataclass(slots=True)
class Test:
    """A test; ``command`` was typed before, ``other`` is a foreign line behind the banner."""

    first_line: int
    last_line: int
    banner: Banner | None = None
    kind: Kind | None = None
    units: Printed | None = None
    rows: list[Row] = field(default_factory=list)
    alignment: Row | None = None
    segment: Printed | None = None
    histogram_total: Printed | None = None
    values: dict[str, Printed] = field(default_factory=dict)
    interims: list[Interim] = field(default_factory=list)
    widths: dict[str, Printed] = field(default_factory=dict)
    errors: list[Printed] = field(default_factory=list)
    headed: bool = False
    interleaved: bool = False
    repeated: Printed | None = None
    command: Printed | None = None
    other: Printed | None = None
    misfit: int | None = None
    awaits_details: bool = False

    @property
    def has_figures(self) -> bool:
        return bool(self.rows or self.values)

    @property
    def is_stream(self) -> bool:
        """Return whether the test is known not to be of transactions."""
        return self.kind is not None and self.kind.shape is not Shape.TRANSACTIONS

    @property
    def has_all_rows(self) -> bool:
        """Return whether the figures' lines are there: the sender's, or each end's."""
        return len(self.rows) >= (1 if self.kind is None or self.kind.shape is Shape.STREAM else 2)

    @property
    def returns(self) -> bool:
        """Return whether the client is known to receive a stream."""
        return self.kind is not None and self.kind.pattern == "STRG"


def scan_tests(text: Text, hidden: Kind | None) -> "Scan":
    """Sort lines into tests; ``hidden`` is the kind of tests without banner."""
    scan = Scan(hidden)
    for number, line in text.whole():
        if line.strip():
            scan.take(number, line.rstrip())
    scan.finish()
    return scan


class Scan:
    """All tests of a file, and the numbers of other lines.

    The scan is a state machine over the lines; ``_current`` is the open test.
    """

    def __init__(self, hidden: Kind | None) -> None:
        self.tests: list[Test] = []
        self.wrapped: list[int] = []
        self.stray_figures: list[int] = []
        self.unknown: list[int] = []
        self._hidden = hidden
        self._section = ""
        self._current: Test | None = None
        self._waiting: list[Test] = []  # Tests whose figures follow a later banner.
        self._early: list[Printed] = []  # Errors before their banner, which was buffered.
        self._headers: list[tuple[int, str]] = []  # Possible headings of an -O table.
        self._names: list[str] | None = None  # Names of a CSV line; its values are in the next line.
        self._command: Printed | None = None
        self._lost = False  # Lines behind an unreadable banner belong to no known test.

    def take(self, number: int, line: str) -> None:
        if is_banner(line):
            self._open(number, line)
        elif (command := find_command(line, "netperf")) is not None:
            self._command, self._names = Printed(command, number), None
        elif self._lost:
            self.unknown.append(number)
        elif self._names is not None:
            self._take_csv_values(number, line)
        elif line[0].islower() and _ERROR.fullmatch(line):
            self._take_error(Printed(line, number))
        elif not (self._take_marked(number, line) or self._take_table(number, line)):
            self._headers.append((number, line))
            if self._current is not None and self._current.banner is not None and not self._current.has_figures:
                self._current.other = self._current.other or Printed(line.strip(), number)
            if self._current is None or self._current.has_figures or len(self._headers) > _HEADER_LINES:
                self.unknown.append(self._headers.pop(0)[0])

    def finish(self) -> None:
        self._settle()
        self.unknown = sorted([*self.unknown, *(number for number, _ in self._headers)])

    def _open(self, number: int, line: str) -> None:
        """Begin a test with a banner; figures of the test before may still follow."""
        banner = read_banner(line, number)
        self._names, self._lost = None, banner is None
        if banner is None:
            self.wrapped.append(number)
            self._settle()
            return
        if any(_CONTROL.match(error.text) for error in self._early):
            self._settle()
        before = self._current
        if before is not None and before.banner is not None and not before.has_figures and not before.errors:
            self._waiting.append(before)
        test = self._start(number, banner)
        test.errors, self._early = self._early, []

    def _start(self, number: int, banner: Banner | None = None) -> Test:
        test = Test(number, number, banner, banner.kind if banner else self._hidden, command=self._command)
        self.tests.append(test)
        self._current, self._section = test, "" if banner else "figures"
        self.unknown.extend(number for number, _ in self._headers)
        self._headers = []
        return test

    def _settle(self) -> None:
        """Make a test of errors without a banner."""
        if self._early:
            test = self._start(self._early[0].line)
            test.errors, self._early = self._early, []
            test.last_line = test.errors[-1].line
            self._current = None

    def _take_error(self, error: Printed) -> None:
        """Add an error to the open test, else keep the error for the next."""
        test = self._current
        if test is not None and test.banner is not None and not test.has_figures and not _CONTROL.match(error.text):
            test.errors.append(error)
            test.last_line = error.line
            return
        # Each connection prints two different errors: an equal one is of another attempt.
        kinds = {early.text.split(":")[0] for early in self._early}
        if _CONTROL.match(error.text) and error.text.split(":")[0] in kinds:
            self._settle()
        self._early.append(error)
        if test is not None and not test.has_figures:
            self._current = None

    def _take_marked(self, number: int, line: str) -> bool:
        """Take a line that its words identify; return False for other lines."""
        if not line[0].isalpha():
            if line.startswith("!!!") and self._current is not None and (found := _UNREACHED.search(line)):
                self._current.widths[found[1].lower()] = Printed(found[2], number)
            return line.startswith("!!!")
        if interim := _INTERIM.fullmatch(line):
            test = self._current or self._start(number)
            test.interims.append(Interim(number, *interim.groups("")))
            test.last_line = number
        elif keyed := _KEYED_INTERIM.fullmatch(line):
            self._take_keyed_interim(number, *keyed.groups())
        elif key_value := _KEY_VALUE.fullmatch(line):
            self._take_value(number, *key_value.groups())
        else:
            section = next((name for name, head in _SECTIONS if head.match(line)), None)
            if section is None or (section == "figures" and self._section == "alignment"):
                return False
            self._begin(section, number, line)
        return True

    def _take_keyed_interim(self, number: int, key: str, text: str) -> None:
        """Take one of the four lines of an interim result with ``-k``."""
        test = self._current or self._start(number)
        if key == "INTERIM_RESULT":
            test.interims.append(Interim(number, text.strip()))
        elif test.interims:
            field_name = {"UNITS": "unit", "INTERVAL": "seconds", "ENDING": "ending"}[key]
            setattr(test.interims[-1], field_name, text.strip())

    def _begin(self, section: str, number: int, line: str) -> None:
        """Begin a table; behind figures the table belongs to a waiting test, else to a new one."""
        self._section = section
        if section in _DETAILS and self._current is not None:
            self._current.awaits_details = True
        if section != "figures":
            return
        if self._current is not None and self._current.has_figures and self._waiting:
            later, self._current = self._current, self._waiting.pop()
            later.interleaved = self._current.interleaved = True
        if self._current is not None:
            self._current.headed = True
        if self._current is None or self._current.has_figures:
            test = self._start(number)
            test.kind = test.kind or next((kind for head, kind in _OF_HEADING if head.match(line)), None)
            test.headed = True

    def _take_value(self, number: int, key: str, text: str) -> None:
        """Take a line of ``-k``; without banners a repeated key begins a test."""
        test = self._current
        if test is None or (key in test.values and test.banner is None):
            test = self._start(number)
        if key in test.values:
            test.repeated = test.repeated or Printed(key, number)
        else:
            test.values[key] = Printed(text.strip().strip('"'), number)
        test.last_line = number

    def _take_table(self, number: int, line: str) -> bool:
        """Take a line that its place identifies; return False for other lines."""
        if names := read_names(line):
            self._names = names
            (self._current or self._start(number)).headed = True
            return True
        words = line.split()
        cells = tuple(takewhile(_NUMERIC.fullmatch, words))
        row = Row(number, cells, " ".join(words[len(cells) :])) if cells else None
        if self._section == "histogram":
            return self._take_histogram(number, line)
        if self._section in _DETAILS:
            if row is not None and self._current is not None:
                self._take_detail(row, self._current)
            return True
        if row is None:
            return self._take_heading(number, line)
        if self._headers and self._take_spread(number, line):
            return True
        return self._take_figures(row)

    def _take_heading(self, number: int, line: str) -> bool:
        """Take a line above the figures; the last one has the units."""
        test = self._current
        if test is None or self._section != "figures" or test.has_figures:
            return False
        if line.lower().startswith("bytes"):
            test.units = Printed(line, number)
        return True

    def _take_figures(self, row: Row) -> bool:
        """Take figures, perhaps of a new test without banner; return False for others."""
        test = self._current
        if test is None or (test.banner is None and test.has_all_rows):
            if self._hidden is None:
                return False
            test = self._start(row.line)
        if self._section == "figures" and not test.has_all_rows:
            test.rows.append(row)
            test.last_line = row.line
            return True
        is_stray = len(row.cells) >= _FEWEST_COLUMNS
        if is_stray:
            self.stray_figures.append(row.line)
        return is_stray

    def _take_detail(self, row: Row, test: Test) -> None:
        """Take a table of ``-v 2`` behind the figures."""
        if self._section == "alignment":
            test.alignment = row
        else:
            test.segment = row.cell(0)
        test.awaits_details, test.last_line, self._section = False, row.line, "after"

    def _take_histogram(self, number: int, line: str) -> bool:
        found = _HISTOGRAM.fullmatch(line)
        if found is None or self._current is None:
            return False
        if found[1] == "HIST_TOTAL":
            self._current.histogram_total = Printed(found[2], number)
        self._current.last_line = number
        return True

    def _take_csv_values(self, number: int, line: str) -> None:
        """Take the line below the names; reject a different number of values."""
        names, self._names = self._names or [], None
        values = read_cells(line)
        if len(values) == len(names):
            self._keep(number, zip(names, values, strict=True))
        elif self._current is not None:
            self._current.misfit = self._current.last_line = number

    def _take_spread(self, number: int, line: str) -> bool:
        """Take the values of an ``-O`` table, whose names are in the lines above."""
        words = list(_WORDS.finditer(line))
        starts = [word.start() for word in words]
        names = [
            _normalise(" ".join(header[start:end].strip() for _, header in self._headers))
            for start, end in zip(starts, [*starts[1:], None], strict=True)
        ]
        if not any(name in _LONG_NAMES for name in names):
            return False
        self._keep(number, ((name, word[0].strip('"')) for name, word in zip(names, words, strict=True)))
        self._headers = []
        return True

    def _keep(self, number: int, pairs: Iterable[tuple[str, str]]) -> None:
        test = self._current or self._start(number)
        for name, value in pairs:
            test.values[_LONG_NAMES.get(name, name)] = Printed(value.strip(), number)
        test.last_line = number


def read_names(line: str) -> list[str]:
    """Return the names of the columns of ``-o``; [] for other lines."""
    names = [_normalise(name) for name in read_cells(line)] if "," in line else []
    return names if any(name in _LONG_NAMES for name in names) else []


def _normalise(printed: str) -> str:
    """Return a long name in the form of ``_LONG_NAMES``: single blanks, lower case."""
    return " ".join(printed.split()).lower()
