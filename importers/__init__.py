"""Importers: files in, fragments and problems out; nothing here knows Django or the database.

``FORMATS`` lists the importer modules, ``read`` finds the one that recognises each file and lets it parse.
``importers.archive`` unpacks zip files before and packed files on the way, ``importers.collate`` makes runs of the
fragments afterwards.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from importers import (
    awm,
    cp_query,
    flent,
    fortio,
    iperf2,
    iperf3,
    linux_snapshot,
    manifest,
    netperf,
    netpipe,
    nfs_read,
    nuttcp,
    perfkit,
    ping,
    qperf,
    run_records,
    sockperf,
    sysstat,
    ttcp,
    uperf,
    vmprf,
    wrk,
    zc,
)
from importers.archive import decompress
from importers.model import Format, Fragment, Problem, Severity, SourceFile, Text
from importers.text import decode

FORMATS: tuple[Format, ...] = (
    awm,
    cp_query,
    vmprf,
    perfkit,
    netperf,
    iperf3,
    wrk,
    uperf,
    ping,
    linux_snapshot,
    manifest,
    netpipe,
    iperf2,
    qperf,
    sockperf,
    ttcp,
    zc,
    fortio,
    flent,
    nuttcp,
    sysstat,
    nfs_read,
    run_records,
)


@dataclass(slots=True)
class FileReading:
    """What was made of one file: ``format`` is None when no format, or more than one, recognised it.

    ``encoding`` is empty when the file is no text. A problem of severity error with a run id means that this
    file says nothing usable about that run, so there is no fragment for it.
    """

    name: str
    format: str | None = None
    encoding: str = ""
    fragments: list[Fragment] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read(files: Iterable[SourceFile], forced: Mapping[str, str] | None = None) -> list[FileReading]:
    """Read every file by the one format that recognises it; one answer a file, in the order given.

    ``forced`` maps a file's name to the ``NAME`` of the format that a person chose for it.
    """
    return [read_one(file, (forced or {}).get(file.name)) for file in files]


@contextmanager
def no_collector() -> Iterator[None]:
    """Nothing that is read refers to itself, but every pass of the collector goes through all of it again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _take_as_old()
            gc.enable()


def _take_as_old() -> None:
    """Spare the pass that is due now, through all that was just read, unless somebody keeps frozen things apart."""
    if gc.get_count()[0] > gc.get_threshold()[0] and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


@no_collector()
def read_one(
    file: SourceFile, forced: str | None = None, keep: Callable[[Fragment], None] | None = None
) -> FileReading:
    """Read one file, by the ``NAME`` of a format if a person chose one.

    ``keep`` gets each fragment, of a format that can as soon as it is read, and the answer has none: a file may hold
    more of them than memory does.
    """
    reading = FileReading(file.name)
    for fragment in read_each(file, reading, forced):
        (keep or reading.fragments.append)(fragment)
    return reading


def read_each(file: SourceFile, reading: FileReading, forced: str | None = None) -> Iterator[Fragment]:
    """The same as the fragments are taken, which ``reading`` does not get.

    Meanwhile it has the problems of those that were taken, at the end of all.
    """
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
    chosen = _choose(decoded.text, forced)
    if isinstance(chosen, Problem):
        reading.problems += [*decoded.problems, chosen]
        return
    reading.format = chosen.NAME
    empty = True
    for fragment in _fragments(chosen, decoded.text, reading.problems):
        empty = False
        yield fragment
    if empty and not reading.problems:
        message = f"Nothing that an {chosen.TITLE} holds was found in this file; nothing was imported from it."
        reading.problems.append(_refusal(file.name, "read.nothing-found", message, "Check that it is the right file."))
    reading.problems[:0] = decoded.problems


def _fragments(chosen: Format, text: Text, problems: list[Problem]) -> Iterable[Fragment]:
    """What a format finds; its problems are there when all fragments are."""
    each: Callable[[Text, list[Problem]], Iterable[Fragment]] | None = getattr(chosen, "each", None)
    if each is not None:
        return each(text, problems)
    parsed = chosen.parse(text)
    problems.extend(parsed.problems)
    return parsed.fragments


def _choose(text: Text, forced: str | None) -> Format | Problem:
    """The format to read a file by, or the problem that keeps it from being read."""
    known = ", ".join(f"{each.TITLE} ({each.NAME})" for each in FORMATS)
    if forced is not None:
        by_name = {each.NAME: each for each in FORMATS}
        return by_name.get(forced) or _refusal(
            text.name, "read.no-such-format", f"There is no format called {forced!r}.", f"Known are: {known}."
        )
    fitting = [each for each in FORMATS if each.recognise(text)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        message = "No format recognises this file; nothing was imported from it."
        return _refusal(text.name, "read.unknown-format", message, f"Choose the format by hand. Known are: {known}.")
    names = " and ".join(each.TITLE for each in fitting)
    message = f"More than one format recognises this file: {names}; nothing was imported from it."
    return _refusal(text.name, "read.ambiguous-format", message, "Choose the format by hand.")


def _refusal(file: str, code: str, message: str, remedy: str) -> Problem:
    return Problem(Severity.ERROR, code, message, remedy, file)
