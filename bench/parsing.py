"""How fast and in how much memory files are read: ``python -m bench.parsing [--sizes MB ...] [--memory MB]``.

The floor of a format is what any reader of it must do at least: decode the bytes, cut them into lines, and cut the
lines into words: at blanks where columns are fixed, and at the format's punctuation too (``,;:="[]{}|()``) everywhere
else. Floor and parser take turns in shuffled order in one process; the ratio is the median of those of the single
turns. As a control the floor is measured against itself: with a ratio outside 0.85-1.15 the machine is too busy to say
anything ("noisy").

Of each format two shapes are measured, the slowest by a quick look at all, unless ``--all`` is asked for. The bar is
for the slowest of those that look like large files: results of at least 1,000 bytes each (3,000 in JSON, which names
each figure), as runs with their intervals are, one after another or one of them long. The slowest of all is beside it,
without a verdict, where it is another: the same result in a line or two over and over, which no tool writes by the
megabyte. There what is made of a result costs more than reading its line. A format without a shape of the first kind
has its bar for the second.

With ``--memory`` a file of so many megabytes is made of each of these shapes and read by a process of its own,
which says how much memory it had at most. As in an import, a format that hands its fragments over one by one need not
keep them.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import importers
from bench import timing
from bench.shapes import Shape, shapes
from bench.timing import QUIET, Work, in_turns
from importers.content import FileContent
from importers.model import SourceFile
from importers.text import EBCDIC

MB = 1_000_000
TURNS = 13
FIXED_COLUMNS = frozenset({"vmprf", "perfkit"})
BARS = {True: 8.0, False: 12.0}
MOST_MEMORY = 200
_QUICK = 300_000  # Bytes; what reading a file takes that has nothing to do with its size is small beside them.
_PUNCTUATION = str.maketrans(dict.fromkeys(',;:="[]{}|()', " "))


def split(data: bytes, *, fixed: bool) -> list[list[str]]:
    """The floor: decoded, cut into lines, and these into words."""
    ebcdic = not data.isascii()
    text = data.decode(EBCDIC if ebcdic else "ascii")
    text = text if fixed else text.translate(_PUNCTUATION)
    lines = [text[at : at + 133] for at in range(0, len(text), 133)] if ebcdic else text.split("\n")
    return [line.split() for line in lines]


def seconds(work: Work) -> float:
    """How long the processor takes."""
    return timing.seconds(work, process_time)


def ratios(file: SourceFile, format_name: str, turns: int = TURNS) -> tuple[float, float]:
    """The parser's time by the floor's, and the floor's by its own: medians over the turns, each in a random order.

    What runs after the parser finds memory and caches as that left them, and takes up to a third longer.
    """
    data, fixed = file.data[:], format_name in FIXED_COLUMNS
    times = in_turns(lambda: importers.read([file]), lambda: split(data, fixed=fixed), turns=turns, time=seconds)
    return times.ratio, times.control_ratio


def alone(shape: Shape, size: int) -> tuple[float, float]:
    """The same in a process of its own: what others have left in the memory of this one changes how fast it is had."""
    with TemporaryDirectory() as folder:
        path = Path(folder, shape.file)
        path.write_bytes(shape.data(size))
        parser, control = _asked("--compare", str(path), "--format", shape.format).split()
        return float(parser), float(control)


def _file(shape: Shape, size: int) -> SourceFile:
    return SourceFile(shape.file, shape.data(size))


def _asked(*arguments: str) -> str:
    """What this module prints in another process."""
    command = [sys.executable, "-m", "bench.parsing", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def slowest(chosen: Iterable[Shape]) -> list[Shape]:
    """The shapes of each format that take longest by a quick look: the usual one, and any other that takes longer."""
    looked = sorted(chosen, key=lambda shape: ratios(_file(shape, _QUICK), shape.format, turns=3)[0])
    usual = {shape.format: shape for shape in looked if shape.is_usual}
    all_ = {shape.format: shape for shape in looked}
    return [shape for name, worst in all_.items() for shape in dict.fromkeys((usual.get(name, worst), worst))]


def rates(chosen: Iterable[Shape], size: int) -> bool:
    """Print each ratio, its bar and the control; answer whether all are below their bars."""
    chosen, good = list(chosen), True
    barred = {shape.format for shape in chosen if shape.is_usual}
    for shape in chosen:
        ratio, control = alone(shape, size)
        bar = BARS[shape.format in FIXED_COLUMNS]
        noisy = not QUIET[0] <= control <= QUIET[1]
        verdict = "noisy" if noisy else "ok" if ratio <= bar else "over"
        if shape.format in barred and not shape.is_usual:
            verdict = f"small results, {verdict}"
        good = good and verdict != "over"
        print(f"{shape.format:15}{shape.name:50.50}{ratio:7.1f} x of {bar:4.0f}{control:7.2f}  {verdict}", flush=True)
    return good


def peak(shape: Shape, size: int) -> tuple[float, float]:
    """Megabytes that reading so many bytes takes at most, and how many seconds."""
    with TemporaryDirectory() as folder:
        path = Path(folder, shape.file)
        with path.open("wb") as file:
            file.writelines(shape.parts(size))
        start = perf_counter()
        return float(_asked("--read", str(path))), perf_counter() - start


def read_alone(path: Path) -> None:
    """Read one file as an import does, and print the most memory that this process had, in megabytes."""
    with path.open("rb") as file:
        importers.read_one(SourceFile(path.name, FileContent(file)), keep=lambda _: None)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB)


def memory(chosen: Iterable[Shape], size: int) -> None:
    """Print what reading a large file of each shape takes."""
    for shape in chosen:
        most, took = peak(shape, size)
        verdict = "ok" if most < MOST_MEMORY else "over"
        print(
            f"{shape.format:15}{shape.name:50.50}{size / MB:7.0f} MB in {most:6.0f} MB, {took:6.1f} s  {verdict}",
            flush=True,
        )


def main() -> int:
    """Measure what was asked for."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sizes", type=float, nargs="*", default=[0.5], help="megabytes of the inputs for rates")
    arguments.add_argument("--all", action="store_true", help="every shape, not the slowest of each format")
    arguments.add_argument("--memory", type=float, help="megabytes of the files for peak memory")
    arguments.add_argument("--only", default="", help="a part of a format's and shape's name")
    arguments.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments.add_argument("--compare", type=Path, help=argparse.SUPPRESS)
    arguments.add_argument("--format", help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.compare:
        print(*ratios(SourceFile(asked.compare.name, asked.compare.read_bytes()), asked.format))
        return 0
    if asked.read:
        read_alone(asked.read)
        return 0
    chosen = [shape for shape in shapes() if asked.only in f"{shape.format} {shape.name}"]
    if not asked.all and asked.sizes:
        chosen = slowest(chosen)
    over = [size for size in asked.sizes if not rates(chosen, round(size * MB))]
    if asked.memory:
        memory(chosen, round(asked.memory * MB))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
