"""Print what is read of files, without a database: ``python -m importers FILE …``."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from importers.formats import FileReading, read_files
from importers.model import SourceFile


def describe_reading(reading: FileReading) -> Iterator[str]:
    """Yield the lines about a file: its format, then fragments and problems."""
    yield f"{reading.name}: {reading.format or 'no format recognises it'}"
    for fragment in reading.fragments:
        trial = "" if fragment.trial is None else f", trial {fragment.trial}"
        taken = f", started {fragment.taken} {fragment.zone}".rstrip() if fragment.taken else ""
        where = f"lines {fragment.first_line} to {fragment.last_line}"
        yield f"  {fragment.kind}, {fragment.status}, role {fragment.role}{trial}{taken} ({where})"
        for each in fragment.readings:
            yield f"    {each.line:>6}  {each.name}@{each.role} = {each.text} {each.unit}"
        for fact in fragment.facts:
            yield f"    {fact.line:>6}  {fact.key}: {fact.text}"
        for listing in fragment.listings:
            columns = ", ".join(name for name, _ in listing.columns)
            yield f"            {listing.name}: {len(listing.rows)} rows of {columns}"
    for problem in reading.problems:
        where = "" if problem.line is None else f", line {problem.line}"
        yield f"  {problem.severity} {problem.code}{where}: {problem.message} {problem.remedy}"


def main() -> None:
    """Print the readings of the files that the command line names."""
    parser = ArgumentParser("python -m importers", description="Print what is read of files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    for reading in read_files(SourceFile(str(path), path.read_bytes()) for path in parser.parse_args().files):
        print("\n".join(describe_reading(reading)))


if __name__ == "__main__":
    main()
