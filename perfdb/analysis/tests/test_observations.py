"""Choosing among runs that were read: filters, exclusions, ranges and missing values."""

from urllib.parse import parse_qsl

import pytest

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Observations, narrow_observations

RUNS = Observations(
    ("workload", "device", "mtu", "date", "factor.kernel"),
    (),
    [
        (1, "RR", "OSA", 1492, "2003-04-01", "2.4"),
        (2, "RR 200/32K", "OSA", 8992, "2003-04-02", None),
        (3, "CRR", "LAN", 8992, "2003-04-03", "2.6"),
        (4, "STRG", None, None, "2003-05-01", "2.6"),
        (5, None, "LAN", 16384, "2003-06-01", "2.6"),
    ],
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("workload=RR", [1, 2]),
        ("workload=RR 200/32K", [2]),
        ("workload=RR&workload=STRG", [1, 2, 4]),
        ("device=OSA&mtu=8992", [2]),
        ("device=(none)", [4]),
        ("device=(none)&device=LAN", [3, 4, 5]),
        ("exclude=device:OSA", [3, 4, 5]),
        ("exclude=workload:RR", [3, 4, 5]),
        ("range=mtu:1500..9000", [2, 3]),
        ("range=mtu:..1492", [1]),
        ("range=date:2003-04-02..2003-05-01", [2, 3, 4]),
        ("factor.kernel=2.6", [3, 4, 5]),
        ("run=2&run=4", [2, 4]),
        ("exclude=run:2&device=OSA", [1]),
        ("factor.other=2.6", []),
        ("exclude=factor.other:2.6", [1, 2, 3, 4, 5]),
    ],
)
def test_it_keeps_what_the_question_is_about(text: str, kept: list[int]) -> None:
    query = Query.parse(parse_qsl(text))
    assert [row[0] for row in narrow_observations(query, RUNS).rows] == kept


def test_a_tag_is_not_answered_wrongly() -> None:
    with pytest.raises(QueryError, match="tags"):
        narrow_observations(Query.parse([("tag", "odd")]), RUNS)
