"""Benchmark: ``python -m bench [--runs N] [--only WORD] [--json FILE]``."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import django
import psycopg

from bench.cases import growth_cases, import_cases, page_cases, question_cases
from bench.instance import ARCHIVES, run_instance
from bench.measure import HEAD, Case, Result, Verdict, as_json, measure

SMALL = 10_000


def main() -> int:
    """Measure the chosen cases; return 1 where a bar does not hold."""
    chosen = _arguments()
    results: list[Result] = []
    with ExitStack() as stack:
        # First, since the archive's environment, set below, would reach the empty instance too.
        if chosen.only in "imports":
            folder = stack.enter_context(TemporaryDirectory(prefix="perfdb-bench-"))
            empty = stack.enter_context(run_instance(Path(folder), 0))
            results += _measure_all(import_cases(empty, stack), "", "imports")
        if chosen.only != "imports":
            large = stack.enter_context(run_instance(chosen.folder, chosen.runs))
            is_large = chosen.runs > SMALL
            small = stack.enter_context(run_instance(chosen.folder, SMALL)) if is_large else large
            os.environ.update(large.environment)
            django.setup()
            database = stack.enter_context(psycopg.connect(large.database, autocommit=True))
            growth = growth_cases(large, small) if is_large else ()
            cases = chain(question_cases(large, database), page_cases(large), growth)
            results += _measure_all(cases, chosen.only, f"{chosen.runs:,} runs")
    if chosen.json:
        with chosen.json.open("a", encoding="utf-8") as output:
            print(json.dumps(as_json(chosen.runs, results)), file=output)
    return 1 if {Verdict.OVER, Verdict.DIFFERENT} & {result.verdict for result in results} else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=SMALL, help="runs in the archive")
    parser.add_argument("--only", default="", help="a part of the group's or case's name")
    parser.add_argument("--json", type=Path, help="append every single time to this file, a line a call")
    parser.add_argument("--folder", type=Path, default=ARCHIVES, help="where archives are kept")
    return parser.parse_args()


def _measure_all(cases: Iterable[Case], only: str, title: str) -> Iterator[Result]:
    print(f"\n{title}\n{HEAD}", flush=True)
    for case in cases:
        if only in f"{case.group} {case.name}":
            result = measure(case)
            print(result, flush=True)
            yield result


if __name__ == "__main__":
    sys.exit(main())
