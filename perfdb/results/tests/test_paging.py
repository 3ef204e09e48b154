"""Walking through lists page by page, in every order, forwards and back."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models.expressions import RawSQL
from django.test.utils import CaptureQueriesContext

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run
from perfdb.results.queries.keyset_paging import parse_size
from perfdb.results.queries.run_list import columns
from perfdb.results.queries.run_list.columns import RUN_COLUMNS, RUN_ORDERINGS, read_run_page
from perfdb.results.tests.builders import make_run

pytestmark = pytest.mark.django_db

START = datetime(2003, 4, 1, 12, tzinfo=UTC)


@pytest.fixture
def runs() -> list[Run]:
    """Seven runs with equal and missing values in every column."""
    return [
        make_run(
            f"R{n // 2}",
            trial=n + 1,
            started=START + timedelta(hours=n // 2),
            device=None if n in (1, 4) else f"D{n // 3}",
            workload=None if n in (1, 4) else ("RR", "CRR")[n % 2],
            users=None if n in (1, 4) else n // 2 + 1,
            mtu=None if n in (1, 4) else 1492 + n // 3,
            values={} if n in (1, 4) else dict.fromkeys(("trans_per_s", "mb_per_s", "cpu_util"), n // 2 + 0.1),
        )
        for n in range(7)
    ]


def walk(sort: str, size: int) -> list[int]:
    """The ids of all runs, page by page; on the way each page is reached backwards too."""
    ids: list[int] = []
    page = read_run_page(Run.objects.all(), sort, "", size)
    assert page.previous is None
    while True:
        ids += [row["id"] for row in page.rows]
        if page.next is None:
            return ids
        following = read_run_page(Run.objects.all(), sort, page.next, size)
        assert following.previous is not None
        back = read_run_page(Run.objects.all(), sort, following.previous, size)
        assert back.rows == page.rows
        assert back.next is not None
        assert (back.previous is None) == (page.previous is None)
        page = following


def test_it_works(runs: list[Run]) -> None:
    page = read_run_page(Run.objects.all())
    assert [row["run_id"] for row in page.rows] == ["R3", "R2", "R2", "R1", "R1", "R0", "R0"]
    assert (page.next, page.previous) == (None, None)
    assert page.rows[0].keys() == RUN_COLUMNS.keys()


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("name", RUN_ORDERINGS)
def test_every_run_comes_once_in_order(runs: list[Run], name: str, sign: str, size: int) -> None:
    ids = walk(sign + name, size)
    assert sorted(ids) == [run.pk for run in runs]
    path = RUN_ORDERINGS[name].path
    found = dict(Run.objects.values_list("pk", path))
    values = [found[pk] for pk in ids]
    present = [value for value in values if value is not None]
    assert values == present + [None] * (len(values) - len(present)), "missing values come last"
    assert present == sorted(present, reverse=bool(sign))


def test_a_run_that_comes_in_between_moves_nothing(runs: list[Run]) -> None:
    first = read_run_page(Run.objects.all(), size=3)
    make_run("NEW", started=START + timedelta(days=1))
    second = read_run_page(Run.objects.all(), cursor=first.next or "", size=3)
    assert [row["run_id"] for row in second.rows] == ["R1", "R1", "R0"]


def test_the_last_page_backwards_of_nothing(runs: list[Run]) -> None:
    first = read_run_page(Run.objects.all(), size=3)
    Run.objects.all().delete()
    page = read_run_page(Run.objects.all(), cursor=first.next or "", size=3)
    assert (page.rows, page.next, page.previous) == ([], None, None)


def test_a_page_is_one_query_without_offset_or_count(runs: list[Run]) -> None:
    cursor = read_run_page(Run.objects.all(), size=3).next or ""
    sql = reading(cursor).upper()
    assert "OFFSET" not in sql
    assert "COUNT" not in sql


def reading(cursor: str) -> str:
    """The only statement that reads a page."""
    with CaptureQueriesContext(connection) as queries:
        read_run_page(Run.objects.all(), cursor=cursor, size=3)
    assert len(queries) == 1
    return queries[0]["sql"]


def test_a_list_that_takes_too_long_is_refused(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_MS", 20)
    slow = Run.objects.filter(pk__lt=RawSQL("SELECT 1 FROM pg_sleep(60)", []))
    with pytest.raises(QueryError, match="narrow the list"):
        read_run_page(slow, "users")
    monkeypatch.undo()
    assert len(read_run_page(Run.objects.all(), "users").rows) == len(runs)
    with connection.cursor() as sql:
        sql.execute("SHOW statement_timeout")
        assert sql.fetchone() == ("0",)


def test_the_newest_first_order_uses_its_index(runs: list[Run]) -> None:
    cursor = read_run_page(Run.objects.all(), size=3).next or ""
    with connection.cursor() as sql:
        # A dozen rows are read and sorted faster than by any index.
        sql.execute("SET LOCAL enable_seqscan = off")
        sql.execute("SET LOCAL enable_sort = off")
    statement = reading(cursor)
    with connection.cursor() as sql:
        sql.execute("EXPLAIN " + statement)
        plan = "\n".join(line for (line,) in sql.fetchall())
    assert "run_newest" in plan
    assert "Index Cond: (started <=" in plan.replace("run.", "")


def encoded(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "äöü",
        "%%%",
        encoded(),
        encoded("-started", False, None, 1),
        encoded("-started", False, "yesterday", 1),
        encoded("-started", False, 5, 1),
        encoded("-started", False, START.isoformat(), "1"),
        encoded("-started", False, START.isoformat(), 2**70),
        encoded("-started", False, START.isoformat(), True),
    ],
)
def test_a_damaged_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(QueryError, match="damaged") as caught:
        read_run_page(Run.objects.all(), cursor=cursor)
    assert caught.value.parameter == "cursor"


@pytest.mark.parametrize(("sort", "value"), [("cpu_util", "x"), ("users", [1]), ("device", "a\0b")])
def test_a_cursor_with_a_value_of_another_type_is_refused(sort: str, value: object) -> None:
    with pytest.raises(QueryError, match="damaged"):
        read_run_page(Run.objects.all(), sort, encoded(sort, False, value, 1))


def test_a_cursor_of_another_order_is_refused(runs: list[Run]) -> None:
    cursor = read_run_page(Run.objects.all(), "users", size=1).next or ""
    with pytest.raises(QueryError, match="belongs to sort=users, not to sort=mtu"):
        read_run_page(Run.objects.all(), "mtu", cursor)


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(QueryError, match="'colour' is not a column to sort by; known are: started") as caught:
        read_run_page(Run.objects.all(), "-colour")
    assert caught.value.parameter == "sort"


def test_sizes() -> None:
    assert parse_size("") == 100
    assert parse_size("1000") == 1000


@pytest.mark.parametrize("text", ["0", "1001", "-1", "ten", "1.5", "²"])
def test_a_wrong_size_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="1 to 1000"):
        parse_size(text)
