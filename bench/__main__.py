"""The benchmark: ``python -m bench [--runs N] [--only WORD] [--json FILE]``; ``make bench`` runs all of it.

An archive of so many runs is made, and each case is timed beside its floor; docs/performance.md says how to read it.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import django

from bench import report
from bench.case import Case, Result, Verdict, measure
from bench.cases import growth, imports, queries, serving
from bench.instance import ROOT, Instance
from bench.psql import Psql

SMALL = 10_000
_FAILING = {Verdict.OVER, Verdict.DIFFERENT}


def main() -> int:
    """Measure what was asked for; 1 where a bar does not hold."""
    asked = _arguments()
    results: list[Result] = []
    with ExitStack() as stack:
        # Before this process has the environment of the archive's instance: another one would take it for its own.
        if asked.only in "imports":
            print(f"\n{report.head()}", flush=True)
            results += _measured(_imports(stack), "")
        instance = stack.enter_context(Instance(asked.folder, asked.runs))
        small = instance if asked.runs <= SMALL else stack.enter_context(Instance(asked.folder, SMALL))
        os.environ.update(instance.environment)
        django.setup()
        psql = Psql(instance.environment)
        stack.callback(psql.close)
        print(f"\n{asked.runs:,} runs\n{report.head()}", flush=True)
        results += _measured(_cases(instance, small, psql), asked.only)
    if asked.json:
        with asked.json.open("a", encoding="utf-8") as output:
            print(json.dumps(report.plain(asked.runs, results)), file=output)
    return 1 if any(result.verdict in _FAILING for result in results) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=SMALL, help="runs in the archive")
    parser.add_argument("--only", default="", help="a part of the group's or case's name")
    parser.add_argument("--json", type=Path, help="append every single time to this file, a line a call")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="where archives are kept")
    return parser.parse_args()


def _cases(instance: Instance, small: Instance, psql: Psql) -> Iterator[Case]:
    yield from queries.cases(instance, psql)
    yield from serving.cases(instance)
    yield from growth.pages(instance)
    if small is not instance:
        yield from growth.cases(instance, small)


def _imports(stack: ExitStack) -> Iterator[Case]:
    """In an empty instance that is not kept."""
    folder = stack.enter_context(TemporaryDirectory(prefix="perfdb-bench-"))
    yield from imports.cases(stack.enter_context(Instance(Path(folder), 0)), stack)


def _measured(cases: Iterable[Case], only: str) -> Iterator[Result]:
    for case in cases:
        if only in f"{case.group} {case.name}":
            result = measure(case)
            print(report.line(result), flush=True)
            yield result


if __name__ == "__main__":
    sys.exit(main())
