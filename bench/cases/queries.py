"""Questions over REST beside the same SQL in psql."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from bench import archive
from bench.case import Bar, Case
from bench.instance import Instance
from bench.psql import Psql

BAR = Bar(ratio=1.5, below_s=0.010, excess_s=0.006)
_STUDY = archive.slug(0)
_RR = "RR"
QUESTIONS: dict[str, str] = {
    "chart: devices over users": f"metric=trans_per_s&study={_STUDY}&workload={_RR}&mtu=8992&rows=users&columns=device",
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


def cases(instance: Instance, psql: Psql) -> Iterator[Case]:
    """A case for each question; what the page adds to its rows (grouping, intervals, JSON) is in the work's time."""
    for name, question in QUESTIONS.items():
        yield _case(instance, psql, name, question)


def _case(instance: Instance, psql: Psql, name: str, question: str) -> Case:
    address, statement = f"/api/v1/tables/?{question}", reading_statement(question)
    return Case(
        "queries",
        name,
        "its runs with their dimensions and values, in psql",
        lambda: instance.get(address),
        lambda: psql.answer(statement),
        BAR,
        lambda: _same(instance.json(address), psql.rows(statement), picked="pick=" in question),
    )


def reading_statement(question: str) -> str:
    """The statement that answers a question in psql: its runs, their dimensions by name, and their values."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from perfdb.analysis.query import Query
    from perfdb.results.queries.run_queries import DIMENSION_COLUMNS, measure_columns, selected

    query = Query.parse(parse_qsl(question))
    columns = [*DIMENSION_COLUMNS.values(), *measure_columns(query.measures)]
    with CaptureQueriesContext(connection) as captured:
        list(selected(query).values_list("id", "factors", *columns))
    return str(captured.captured_queries[-1]["sql"])


def _same(answer: Any, rows: list[list[str]], *, picked: bool) -> bool:
    """Whether the cells hold the values of psql's rows, run by run; of a choice of the best, whether it is a part."""
    shown = {
        (table["metric"], each["run"], each["value"])
        for table in answer["tables"]
        for cell in table["cells"]
        for each in cell["values"]
    }
    names = [table["metric"] for table in answer["tables"]]
    measures = list(dict.fromkeys(names))
    read = {
        (metric, int(row[0]), float(text))
        for row in rows
        for metric, text in zip(measures, row[-len(measures) :], strict=True)
        if text
    }
    return bool(shown) and (shown <= read if picked else shown == read)
