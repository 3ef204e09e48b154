"""Questions over REST, beside the SQL statement that reads the same runs."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import psycopg

from bench import archive
from bench.instance import Instance
from bench.measure import Bar, Case

BAR = Bar(seconds=0.1)
_STUDY = archive.slug(0)
QUESTIONS: dict[str, str] = {
    "chart: devices over users": f"metric=trans_per_s&study={_STUDY}&workload=RR&mtu=8992&rows=users&columns=device",
    "chart: two metrics": (
        f"metric=trans_per_s&metric=cpu_ms_per_trans&study={_STUDY}&workload=CRR&mtu=1500&rows=users&columns=device"
    ),
    "table: a whole workload": f"metric=trans_per_s&study={_STUDY}&workload=CRR&rows=mtu,users&columns=device",
    "best per device in a study": (
        f"metric=trans_per_s&study={_STUDY}&workload=CRR&rows=device&pick=trans_per_s:device"
    ),
    "compare two devices": (
        f"metric=trans_per_s&study={_STUDY}&workload=CRR&device=OSA+1&device=veth+1&rows=mtu,users&columns=device"
        "&baseline=device:OSA+1"
    ),
    "pivot: MTU by users": f"metric=mb_per_s&study={_STUDY}&workload=STRG&device=VSwitch+2&rows=mtu&columns=users",
}


def question_cases(instance: Instance, database: "psycopg.Connection[tuple[Any, ...]]") -> Iterator[Case]:
    """Yield a case for each question."""
    for name, question in QUESTIONS.items():
        yield _case(instance, database, name, question)


def _case(instance: Instance, database: "psycopg.Connection[tuple[Any, ...]]", name: str, question: str) -> Case:
    address, statement = f"/api/v1/tables/?{question}", _reading_statement(question)

    def floor() -> list[tuple[Any, ...]]:
        return database.execute(statement).fetchall()

    def is_same() -> bool:
        return _has_same_values(instance.client.json(address), floor(), picked="pick=" in question)

    return Case("questions", name, lambda: instance.client.get(address), floor, BAR, is_same)


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
    shown = {
        (table["metric"], each["run"], each["value"])
        for table in answer["tables"]
        for cell in table["cells"]
        for each in cell["values"]
    }
    metrics = list(dict.fromkeys(table["metric"] for table in answer["tables"]))
    read = {
        (metric, row[0], value)
        for row in rows
        for metric, value in zip(metrics, row[-len(metrics) :], strict=True)
        if value is not None
    }
    return bool(shown) and (shown <= read if picked else shown == read)
