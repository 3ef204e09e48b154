"""List of formats, and reading of files by the recognised format."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from importers import manifest, run_records
from importers.awm import log as awm
from importers.cp_query import console_capture as cp_query
from importers.files.archive import decompress
from importers.files.content import bytes_digest
from importers.files.line_prefix import Stripped, date_by_prefix, strip_foreign, strip_possible
from importers.files.text import decode
from importers.iperf2 import log as iperf2
from importers.iperf3 import log as iperf3
from importers.linux_snapshot import host_snapshot as linux_snapshot
from importers.load_tools import (
    flent,
    fortio,
    mtr,
    netpipe,
    nfs_read,
    nuttcp,
    perftest,
    ping,
    qperf,
    sockperf,
    ttcp,
    wrk,
    zc,
)
from importers.model import Format, Fragment, Kind, Problem, ProblemLog, Severity, SourceFile, Text
from importers.monitor import perfkit, vmprf
from importers.netperf import log as netperf
from importers.sysstat import host_report as sysstat
from importers.uperf import log as uperf

FORMATS: tuple[Format, ...] = (
    *(awm, cp_query, vmprf, perfkit, netperf, iperf3, wrk, uperf, ping, linux_snapshot, manifest, netpipe, iperf2),
    *(qperf, sockperf, ttcp, zc, fortio, flent, nuttcp, sysstat, nfs_read, mtr, perftest, run_records),
)


@dataclass(slots=True)
class FileReading:
    """The fragments and problems of one file.

    ``format`` is None when no format, or more than one, recognised the file; ``encoding`` is empty when the file is
    no text. A problem of severity error with a run id replaces the fragment of that run.
    """

    name: str
    format: str | None = None
    encoding: str = ""
    fragments: list[Fragment] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_files(files: Iterable[SourceFile], forced: Mapping[str, str] | None = None) -> list[FileReading]:
    """Return a reading of each file; ``forced`` maps names to formats."""
    return [read_file(file, (forced or {}).get(file.name)) for file in files]


def read_file(
    file: SourceFile, forced: str | None = None, keep: Callable[[Fragment], None] | None = None
) -> FileReading:
    """Read one file; ``forced`` is the ``NAME`` of its format.

    With ``keep``, pass each fragment to that function as soon as it is read, and return a reading without fragments.
    """
    reading = FileReading(file.name)
    for fragment in read_fragments(file, reading, forced):
        (keep or reading.fragments.append)(fragment)
    return reading


def read_fragments(file: SourceFile, reading: FileReading, forced: str | None = None) -> Iterator[Fragment]:
    """Yield the fragments of a file; the rest goes into ``reading``."""
    plain = decompress(file)
    if isinstance(plain, Problem):
        reading.problems.append(plain)
        return
    reading.name = plain.name
    decoded = decode(plain.name, plain.data)
    if decoded.text is None:
        reading.problems += decoded.problems
        return
    reading.encoding = decoded.text.encoding
    chosen, stripped = _choose(decoded.text, forced)
    if isinstance(chosen, Problem):
        reading.problems += [*decoded.problems, chosen]
        return
    reading.format = chosen.NAME
    empty = True
    text = stripped.text if stripped else decoded.text
    for fragment in chosen.parse(text, ProblemLog(text.name, problems=reading.problems)):
        empty = False
        if stripped is not None:
            date_by_prefix(fragment, decoded.text, stripped)
        if fragment.kind is Kind.DRIVER and fragment.run_id is None:
            fragment.file_digest = decoded.text.once("digest", lambda: bytes_digest(plain.data))
        yield fragment
    if empty and not reading.problems:
        message = f"Nothing that an {chosen.TITLE} holds was found in this file; nothing was imported from it."
        reading.problems.append(_refusal(file.name, "read.nothing-found", message, "Check that it is the right file."))
    reading.problems[:0] = decoded.problems


def _choose(text: Text, forced: str | None) -> tuple[Format | Problem, Stripped | None]:
    """Return the forced or the only fitting format, or a problem; and the text without prefixes if they hinder."""
    known = ", ".join(f"{each.TITLE} ({each.NAME})" for each in FORMATS)
    foreign = strip_foreign(text)
    if forced is not None:
        named = {each.NAME: each for each in FORMATS}.get(forced)
        message = f"There is no format called {forced!r}."
        return named or _refusal(text.name, "read.no-such-format", message, f"Known are: {known}."), foreign
    if foreign is not None and len(fitting := _fitting(foreign.text)) == 1:
        return fitting[0], foreign
    fitting = _fitting(text)
    deciding = [each for each in fitting if _decides(each, text)]
    if len(fitting) == 1 or len(deciding) == 1:
        return (deciding or fitting)[0], None
    if fitting:
        names = " and ".join(each.TITLE for each in fitting)
        message = f"More than one format recognises this file: {names}; nothing was imported from it."
        return _refusal(text.name, "read.ambiguous-format", message, "Choose the format by hand."), None
    for stripped in strip_possible(foreign.text if foreign else text):
        if len(fitting := _fitting(stripped.text)) == 1:
            layers = (*(foreign.layers if foreign else ()), *stripped.layers)
            return fitting[0], Stripped(stripped.text, layers)
    message = "Format not recognised; nothing was imported from this file."
    remedy = (
        "Results of any other tool come in as run records, a line of JSON for each run: see "
        f"docs/importers/run_records.md. If this is a log of a known tool, choose its format by hand: {known}."
    )
    return _refusal(text.name, "read.unknown-format", message, remedy), None


def _decides(each: Format, text: Text) -> bool:
    """Return whether the file begins with a head line of the format, behind which nothing is of another one."""
    decides: Callable[[Text], bool] | None = getattr(each, "decides", None)
    return decides is not None and decides(text)


def _fitting(text: Text) -> list[Format]:
    return [each for each in FORMATS if each.recognise(text)]


def _refusal(file: str, code: str, message: str, remedy: str) -> Problem:
    return Problem(Severity.ERROR, code, message, remedy, file)
