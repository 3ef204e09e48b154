"""Benchmark: ``python -m bench [--runs N] [--only WORD] [--json FILE]``.

The cases are imports, questions, pages, and growth, each beside a floor.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

import django
import psycopg
from psycopg import sql

from bench import archive
from bench.instance import ARCHIVES, ROOT, Instance, run_instance
from bench.measure import HEAD, Bar, Case, Result, Verdict, Work, as_json, measure

SMALL = 10_000
Connection = psycopg.Connection[tuple[Any, ...]]

_LOG = ROOT / "fixtures" / "logs" / "awm" / "three_runs" / "syvs100x.client.awm.log"
_RUNS_OF_LOG = 3
# No other number of a log follows from the least and the largest response time.
_EXTREME = re.compile(rb"(resp_(?:min|max)_ms=\d+\.\d\d)(\d)")
_RUN_ID = re.compile(rb"run_id=(\w+)")
_TABLES = {"run": "id", **dict.fromkeys(("run_evidence", "counter_set", "trace", "run_source", "problem"), "run_id")}
"""Tables that an import fills, with the column of the run's id."""

_STUDY = archive.slug(0)
_RATES = f"metric=trans_per_s&study={_STUDY}"
QUESTIONS = {
    "chart: devices over users": f"{_RATES}&workload=RR&mtu=8992&rows=users&columns=device",
    "chart: two metrics": f"{_RATES}&metric=cpu_ms_per_trans&workload=CRR&mtu=1500&rows=users&columns=device",
    "table: a whole workload": f"{_RATES}&workload=CRR&rows=mtu,users&columns=device",
    "best per device in a study": f"{_RATES}&workload=CRR&rows=device&pick=trans_per_s:device",
    "compare two devices": (
        f"{_RATES}&workload=CRR&device=OSA+1&device=veth+1&rows=mtu,users&columns=device&baseline=device:OSA+1"
    ),
    "pivot: MTU by users": f"metric=mb_per_s&study={_STUDY}&workload=STRG&device=VSwitch+2&rows=mtu&columns=users",
}
_PAGES = {
    "run list": "/runs/",
    "run list over REST": "/api/v1/runs/",
    "run list of a study, by throughput": f"/runs/?study={_STUDY}&sort=-trans_per_s",
    "home": "/",
    "studies": "/studies/",
    "best per device over everything": (
        "/api/v1/tables/?metric=trans_per_s&workload=CRR&rows=device&pick=trans_per_s:device"
    ),
}


def import_cases(instance: Instance, stack: ExitStack) -> Iterator[Case]:
    """Yield imports through web server and worker; ``instance`` must be empty."""
    connection = stack.enter_context(psycopg.connect(instance.database, autocommit=True))
    log, records = instance.client.send_log, instance.client.send_records
    yield _import_case(connection, "a small upload", make_log(3), log, Bar(seconds=1))
    yield _import_case(connection, "1,500 runs of a log", make_log(1500), log, Bar(seconds=3))
    yield _import_case(connection, "10,000 JSON records", archive.json_records(10_000), records, Bar(seconds=8))


def make_log(runs: int) -> bytes:
    """Return a driver's log of ``runs`` runs whose figures do not contradict each other."""
    source = _LOG.read_bytes()
    return b"".join(_copy_log(source, number) for number in range(runs // _RUNS_OF_LOG))


def _copy_log(source: bytes, number: int) -> bytes:
    """Return a log with other run ids and other extremes."""
    log = _EXTREME.sub(lambda found: found[1] + b"%d" % ((int(found[2]) + number) % 10), source)
    return _RUN_ID.sub(lambda found: b"run_id=%s%05d" % (found[1], number), log)


def _import_case(connection: Connection, name: str, data: bytes, send: Callable[[bytes, str], int], bar: Bar) -> Case:
    rows: dict[str, bytes] = {}

    def work() -> int:
        return send(data, f"bench-{uuid4().hex[:12]}")

    def floor() -> None:
        with connection.transaction(), connection.cursor() as cursor:
            for table, content in rows.items():
                copy = sql.Identifier(f"bench_{table}")
                cursor.execute(sql.SQL("TRUNCATE {}").format(copy))
                with cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(copy)) as target:
                    target.write(content)

    def has_rows() -> bool:
        rows.update(_read_rows(connection, work()))
        floor()
        return bool(connection.execute("SELECT FROM bench_run LIMIT 1").fetchall())

    return Case("imports", name, work, floor, bar, has_rows, turns=5)


def _read_rows(connection: Connection, upload: int) -> Iterator[tuple[str, bytes]]:
    """Yield tables with an upload's rows in binary form; make empty copies."""
    for table, column in _TABLES.items():
        copy, source = sql.Identifier(f"bench_{table}"), sql.Identifier(table)
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(copy))
        connection.execute(sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(copy, source))
        query = sql.SQL(
            "COPY (SELECT * FROM {} WHERE {} IN (SELECT run_id FROM upload_run WHERE upload_id = {})) "
            "TO STDOUT (FORMAT BINARY)"
        ).format(source, sql.Identifier(column), upload)
        with connection.cursor() as cursor, cursor.copy(query) as blocks:
            yield table, b"".join(blocks)


def question_cases(instance: Instance, database: Connection) -> Iterator[Case]:
    """Yield questions over REST; the floor is SQL that reads the same runs."""
    for name, question in QUESTIONS.items():
        yield _question_case(instance, database, name, question)


def _question_case(instance: Instance, database: Connection, name: str, question: str) -> Case:
    address, statement = f"/api/v1/tables/?{question}", _reading_statement(question)

    def floor() -> list[tuple[Any, ...]]:
        return database.execute(statement).fetchall()

    def is_same() -> bool:
        return _has_same_values(instance.client.json(address), floor(), picked="pick=" in question)

    return Case("questions", name, _get(instance, address), floor, Bar(seconds=0.1), is_same)


def _reading_statement(question: str) -> bytes:
    """Return the SQL statement with which perfdb reads a question's runs."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from perfdb.analysis.query.query import Query
    from perfdb.results.queries.conditions import select_runs
    from perfdb.results.queries.observations import DIMENSION_COLUMNS, measure_columns

    query = Query.parse(parse_qsl(question))
    columns = [*DIMENSION_COLUMNS.values(), *measure_columns(query.measures)]
    with CaptureQueriesContext(connection) as captured:
        list(select_runs(query).values_list("id", "factors", *columns))
    return str(captured.captured_queries[-1]["sql"]).encode()


def _has_same_values(answer: Any, rows: list[tuple[Any, ...]], *, picked: bool) -> bool:
    """Return whether cells hold the rows' values; if ``picked``, a part of them."""
    tables = answer["tables"]
    shown = {
        (table["metric"], each["run"], each["value"])
        for table in tables
        for cell in table["cells"]
        for each in cell["values"]
    }
    metrics = list(dict.fromkeys(table["metric"] for table in tables))
    read = {
        (metric, row[0], value)
        for row in rows
        for metric, value in zip(metrics, row[-len(metrics) :], strict=True)
        if value is not None
    }
    return bool(shown) and (shown <= read if picked else shown == read)


def page_cases(instance: Instance) -> Iterator[Case]:
    """Yield the pages; the floor is an empty view."""
    for name, address in _pages(instance).items():
        yield Case("pages", name, _get(instance, address), _get(instance, "/healthz"), Bar(seconds=0.3))


def growth_cases(large: Instance, small: Instance) -> Iterator[Case]:
    """Yield all questions and pages; the floor is the small archive."""
    questions = {name: f"/api/v1/tables/?{question}" for name, question in QUESTIONS.items()}
    floors = questions | _pages(small)
    for name, address in (questions | _pages(large)).items():
        title, floor = f"{name}, {large.runs:,} runs", _get(small, floors[name])
        yield Case("growth", title, _get(large, address), floor, Bar(ratio=2.0))


def _pages(instance: Instance) -> dict[str, str]:
    """Return the address of each page, with that of a run of the archive."""
    (run,) = instance.client.json(f"/api/v1/runs/?study={_STUDY}&sort=run_id&size=1")["results"]
    return _PAGES | {"one run": f"/runs/{run['id']}/"}


def _get(instance: Instance, address: str) -> Work:
    return lambda: instance.client.get(address)


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
