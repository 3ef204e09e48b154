"""perftest: bandwidth and latency of RDMA, a result for each size in a table (``ib_write_bw``, ``ib_send_lat``)."""

import re
from dataclasses import dataclass, field

from importers.files.typed_commands import find_command
from importers.fragment_builder import FragmentBuilder, Printed
from importers.model import Fragment, ProblemLog, Status, Text
from importers.trial_numbers import number_trials

NAME = "perftest"
TITLE = "perftest (RDMA) output"
VERSION = 1

_HEAD_LINES = 120
_WORDS = ("BW Test", "Latency Test", "#bytes", "Couldn't connect")
_TITLE = re.compile(
    r"\s*(?P<verb>Send|RDMA_Write|RDMA_Read|Atomic|Raw Ethernet)\b(?P<more>(?: \S+)*?) (?:BW|Latency) Test\s*"
)
_REFUSED = re.compile(r"Couldn't connect to \S+:\d+\s*")
_TABLE = re.compile(r"\s*#bytes\s+#iterations\s.*\[.*")
_COLUMN = re.compile(r"(?P<name>#\w+|(?:BW |[\d.]+% |tps )?[A-Za-z]\w*(?: Port\d)?)(?:\[(?P<unit>[^\]]+)\])?")
_ROW = re.compile(r"\s*\d+(?:\s+(?:[\d.]+|-?nan|-?inf))+\s*")
# Begins where a name can, and takes it whole: linear time.
_SETTING = re.compile(r"(?<![\w.* -]) *+([A-Za-z][\w.* -]*+)\t?+ ?+: ?(\S+)")
_ERROR = re.compile(
    r"\s*(?:Couldn't|Failed|failed|Unable|Error:|Completion with error|Requested|Problems|Unexpected).*"
)
_OTHER = re.compile(
    r"[-*\s]*|\s*(?:local|remote) address:.*|\s*GID:.*|\s*Conflicting CPU .*|\s*WARNING.*|\s*WARN:.*|.* detected.*"
    r"|\* Waiting for client to connect.*|.*Disabling it|Device not recognized.*|cqe = .*"
)
_FACTS = {
    "Number of qps": "users",
    "Connection type": "factor.protocol",
    "Mtu": "mtu",
    "Device": "device",
    "Link type": "link_type",
}
_OPTIONS = ("TX depth", "RX depth", "CQ Moderation", "Max inline data", "Outstand reads", "Dual-port", "Using SRQ")
_OFF = {"OFF", "0"}
_LATENCIES = {
    **{"t_min": "latency_min_ms", "t_max": "latency_max_ms", "t_typical": "latency_p50_ms", "t_avg": "latency_mean_ms"},
    **{"t_stdev": "latency_sd_ms", "99% percentile": "latency_p99_ms", "99.9% percentile": "latency_p999_ms"},
}
_ONE_WAY = ("Send", "RDMA_Write", "Raw Ethernet")  # Others are answered by the adapter: their time is a round trip.


@dataclass(slots=True)
class _Test:
    """A test: its title, settings, columns with units, and the rows by line."""

    line: int
    verb: str = ""
    more: str = ""
    settings: dict[str, Printed] = field(default_factory=dict)
    columns: list[tuple[str, str]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    error: Printed | None = None


def recognise(text: Text) -> bool:
    """Look for a title or a table's head."""
    lines = text.lines[:_HEAD_LINES] if text.mentions(_WORDS, _HEAD_LINES) else ()
    return any(pattern.fullmatch(line) for pattern in (_TITLE, _TABLE, _REFUSED) for line in lines)


def parse(text: Text, found: ProblemLog) -> list[Fragment]:
    """Return a fragment for each row; a test without rows is failed."""
    fragments = [each for test in _tests(text, found) for each in _read(test, text, found)]
    return number_trials(fragments)


def _tests(text: Text, found: ProblemLog) -> list[_Test]:
    tests = [_Test(1)]
    unknown: list[int] = []
    for number, line in text.whole():
        test = tests[-1]
        if match := _TITLE.fullmatch(line):
            tests.append(_Test(number, match["verb"], match["more"].strip()))
        elif _TABLE.fullmatch(line):
            if test.columns:
                tests.append(test := _Test(number))
            test.columns = [(column["name"], column["unit"] or "") for column in _COLUMN.finditer(line)]
        elif test.columns and _ROW.fullmatch(line) and len(cells := line.split()) == len(test.columns):
            test.rows.append((number, cells))
        elif _ERROR.fullmatch(line):
            test.error = test.error or Printed(line.strip(), number)
        elif not test.columns and (settings := _SETTING.findall(line)):
            test.settings |= {name.rstrip(): Printed(value, number) for name, value in settings}
        elif not _OTHER.fullmatch(line) and find_command(line, r"(?:ib|raw_ethernet)_\w+") is None:
            unknown.append(number)
    tests = [test for test in tests if test.verb or test.columns or test.error]
    found.note_unknown_lines("perftest.unknown-lines", NAME, unknown)
    if not text.ends_whole:
        message = "The file ends inside a line: figures behind it are missing."
        found.warn("perftest.cut-off", message, "Transfer the file again.", len(text.lines))
    return tests


def _read(test: _Test, text: Text, found: ProblemLog) -> list[Fragment]:
    facts, source = FragmentBuilder(), (text.name, NAME, VERSION)
    _add_facts(test, facts)
    if not test.rows:
        why = test.error.text if test.error else "perftest was stopped, or the file was cut off"
        line = test.error.line if test.error else test.line
        status = found.fail("perftest.failed", f"The test gave no figures: {why}.", "Measure again.", line)
        return [facts.build(source, (test.line, line), status if test.error else Status.INCOMPLETE)]
    if not test.verb:
        message = "The test has no title: whether data was sent, written or read is not known."
        found.warn("perftest.no-title", message, "Keep the whole output, or give the workload.", test.line)
    return [_read_row(test, facts, row).build(source, (row[0], row[0]), Status.COMPLETE) for row in test.rows]


def _add_facts(test: _Test, into: FragmentBuilder) -> None:
    into.add_fact("factor.tool", NAME, test.line)
    into.add_fact("test", f"{test.verb} {test.more}", test.line)
    for name, key in _FACTS.items():
        if (setting := test.settings.get(name)) is not None:
            into.add_fact(key, setting.text.removesuffix("[B]"), setting.line)
    used = {name: test.settings[name].text.removesuffix("[B]") for name in _OPTIONS if name in test.settings}
    options = [f"{name} {value}" for name, value in used.items() if value not in _OFF]
    into.add_fact("tool_options", ", ".join(filter(None, [test.verb, test.more, *options])), test.line)
    into.add_printed("error", test.error)


def _read_row(test: _Test, facts: FragmentBuilder, row: tuple[int, list[str]]) -> FragmentBuilder:
    line, cells = row
    into = FragmentBuilder(facts.facts)
    values = dict(zip(test.columns, cells, strict=True))
    size, is_latency = values.get(("#bytes", "")), any(name.startswith("t_") for name, _ in values)
    into.add_fact("repetitions", values.get(("#iterations", "")), line)
    pattern = "STRB" if "Bidirectional" in test.more else "STRG" if test.verb == "RDMA_Read" else "STRP"
    into.add_fact("workload", ("RR" if is_latency else pattern) if test.verb else "", line)
    for key in ("request_bytes", "response_bytes") if is_latency else ("message_bytes",):
        into.add_fact(key, size, line)
    for (name, unit), text in values.items():
        if name == "BW average":
            into.add_number(("mb_per_s", unit.replace("/sec", "/s"), "total"), text, line)
        elif name in _LATENCIES:
            for metric in (_LATENCIES[name], "response_ms") if name == "t_avg" else (_LATENCIES[name],):
                into.add_number((metric, f"{unit} one way" if test.verb in _ONE_WAY else unit, "total"), text, line)
        elif name == "CPU_Util":
            into.add_number(("cpu_util", "%", "client"), text, line)
        elif not name.startswith("#") and text.strip("0."):  # Without a peak it is zero.
            into.add_fact(f"perftest.{name.replace(' ', '_')}", f"{text} {unit}", line)
    return into
