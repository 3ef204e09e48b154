"""Benchmark: ``python -m bench [--runs N] [--only WORD] [--json FILE]``."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import django
import psycopg

from bench.growth import growth_cases, page_cases
from bench.imports import import_cases
from bench.instance import ROOT, Instance
from bench.measure import HEAD, Case, Result, Verdict, as_json, measure
from bench.questions import question_cases

SMALL = 10_000
_FAILING = {Verdict.OVER, Verdict.DIFFERENT}


def main() -> int:
    """Measure the chosen cases; return 1 where a bar does not hold."""
    chosen = _arguments()
    results: list[Result] = []
    with ExitStack() as stack:
        # First, since the archive's environment, set below, would reach the empty instance too.
        if chosen.only in "imports":
            folder = stack.enter_context(TemporaryDirectory(prefix="perfdb-bench-"))
            empty = stack.enter_context(Instance(Path(folder), 0))
            results += _measure_all(import_cases(empty, stack), "", "imports")
        if chosen.only != "imports":
            large = stack.enter_context(Instance(chosen.folder, chosen.runs))
            small = large if chosen.runs <= SMALL else stack.enter_context(Instance(chosen.folder, SMALL))
            os.environ.update(large.environment)
            django.setup()
            cases = _archive_cases(large, small, stack)
            results += _measure_all(cases, chosen.only, f"{chosen.runs:,} runs")
    if chosen.json:
        with chosen.json.open("a", encoding="utf-8") as output:
            print(json.dumps(as_json(chosen.runs, results)), file=output)
    return 1 if any(result.verdict in _FAILING for result in results) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=SMALL, help="runs in the archive")
    parser.add_argument("--only", default="", help="a part of the group's or case's name")
    parser.add_argument("--json", type=Path, help="append every single time to this file, a line a call")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="where archives are kept")
    return parser.parse_args()


def _archive_cases(large: Instance, small: Instance, stack: ExitStack) -> Iterator[Case]:
    database = stack.enter_context(psycopg.connect(large.database, autocommit=True))
    yield from question_cases(large, database)
    yield from page_cases(large)
    if small is not large:
        yield from growth_cases(large, small)


def _measure_all(cases: Iterable[Case], only: str, title: str) -> Iterator[Result]:
    print(f"\n{title}\n{HEAD}", flush=True)
    for case in cases:
        if only in f"{case.group} {case.name}":
            result = measure(case)
            print(result, flush=True)
            yield result


if __name__ == "__main__":
    sys.exit(main())
