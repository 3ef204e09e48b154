"""A Query is read from a query string, refuses what it cannot answer, and is written back the same."""

from datetime import date
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis import dimensions, metrics
from perfdb.analysis.dimensions import Value
from perfdb.analysis.metrics import Better, Measure
from perfdb.analysis.query.parameters import MISSING, QueryError, Range, value_order
from perfdb.analysis.query.query import REPEATS, Layout, Pick, Query, Summary, default_metrics
from perfdb.analysis.tests.archive import parsed

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)
ROLES = TEXTS
MEASURES = st.builds(Measure, st.sampled_from(sorted(metrics.BY_NAME)), ROLES | st.just("total"))
DIRECTED = MEASURES.filter(lambda measure: metrics.BY_NAME[measure.metric].better is not Better.NEUTRAL)
FACTORS = st.text("abcXYZ_-. é&=%+", min_size=1).map(str.strip).filter(bool).map("factor.{}".format)
NAMES = st.sampled_from(sorted(dimensions.BY_NAME)) | FACTORS
NUMBERS = st.integers(0, 2**40)
DAYS = st.dates().map(date.isoformat)
VALUES: dict[str, st.SearchStrategy[Value]] = {
    "mtu": NUMBERS,
    "users": NUMBERS,
    "layer": NUMBERS,
    "trial": NUMBERS,
    "date": DAYS,
}
RANGED = st.sampled_from(sorted(VALUES))
# What is written DIMENSION:VALUE cannot have a blank at its ends, nor be what stands for a missing value.
PLAIN = TEXTS.map(str.strip).filter(bool)


@st.composite
def ranges(draw: st.DrawFn) -> dict[str, Range]:
    found = {}
    for name in draw(st.lists(RANGED, unique=True, max_size=2)):
        low, high = sorted((draw(VALUES[name]), draw(VALUES[name])), key=value_order)
        found[name] = draw(st.sampled_from([Range(low, high), Range(low, None), Range(None, high)]))
    return found


def value_of(name: str) -> st.SearchStrategy[Value]:
    return VALUES.get(name, PLAIN) | st.none()


@st.composite
def queries(draw: st.DrawFn) -> Query:
    laid_out = draw(st.lists(NAMES, unique=True, max_size=6))
    cuts = sorted(draw(st.tuples(*[st.integers(0, len(laid_out))] * 2)))
    per = draw(st.lists(NAMES.filter(lambda name: name not in REPEATS), unique=True, max_size=3))
    pick = Pick(draw(DIRECTED), tuple(per)) if per else None
    free = NAMES.filter(lambda name: name not in laid_out)
    filtered = draw(st.lists(free, unique=True, max_size=4))
    against = draw(st.lists(st.sampled_from(laid_out), unique=True, max_size=2)) if laid_out else []
    return Query(
        metrics=tuple(draw(st.lists(MEASURES, max_size=3))),
        filters={name: tuple(draw(st.lists(VALUES.get(name, TEXTS) | st.none(), min_size=1))) for name in filtered},
        exclude={name: (draw(value_of(name)),) for name in draw(st.lists(free, unique=True, max_size=2))},
        ranges=draw(ranges()),
        order={name: tuple(draw(st.lists(value_of(name), min_size=1, max_size=3))) for name in against},
        baseline={name: draw(value_of(name)) for name in against},
        delta=draw(st.floats(0, 100, exclude_min=True, exclude_max=True)),
        rows=tuple(laid_out[: cuts[0]]),
        columns=tuple(laid_out[cuts[0] : cuts[1]]),
        split=tuple(laid_out[cuts[1] :]),
        pick=pick,
        summary=draw(st.sampled_from(list(Summary))),
        layout=draw(st.sampled_from(list(Layout))),
    )


@given(queries())
def test_a_query_survives_the_query_string(query: Query) -> None:
    again = Query.parse(parse_qsl(query.encode(), keep_blank_values=True))
    assert again == query
    assert hash(again) == hash(query)
    assert again.encode() == query.encode()


def test_it_works() -> None:
    query = parsed("metric=trans_per_s&metric=cpu_util@client&mtu=8K&rows=users&columns=device,layer&summary=median")
    assert query.metrics == (Measure("trans_per_s"), Measure("cpu_util", "client"))
    assert query.filters == {"mtu": (8192,)}
    assert (query.rows, query.columns, query.split) == (("users",), ("device", "layer"), ())
    assert query.summary is Summary.MEDIAN


def test_equal_questions_are_written_alike() -> None:
    one = parsed("rows=users&factor.kernel=2.4.10&mtu=9000&mtu=1500&factor.kernel=2.4.9&mtu=1500&metric=mb_per_s@total")
    other = parsed("metric=mb_per_s&mtu=1500&mtu=9000&factor.kernel=2.4.9&factor.kernel=2.4.10&rows=users")
    assert one == other
    assert one.encode() == ("metric=mb_per_s&mtu=1500&mtu=9000&factor.kernel=2.4.9&factor.kernel=2.4.10&rows=users")


def test_digits_that_are_no_numbers_have_an_order_too() -> None:
    assert parsed("device=²&device=1").filters == {"device": ("1", "²")}


def test_blank_form_fields_ask_nothing() -> None:
    assert parsed("metric=&device=&rows=&columns= &pick=&summary=&layout=") == Query()


def test_a_form_may_send_its_dimensions_one_by_one() -> None:
    assert parsed("rows=users&rows=mtu").rows == ("users", "mtu")


def test_values_can_be_left_out_and_bounded() -> None:
    query = parsed("exclude=device:OSA: shared&exclude=device:(none)&range=mtu:1492..8K&range=users:..50")
    assert query.exclude == {"device": ("OSA: shared", None)}
    assert query.ranges == {"mtu": Range(1492, 8192), "users": Range(None, 50)}
    assert query.encode() == "exclude=device:OSA:%20shared&exclude=device:(none)&range=mtu:1492..8192&range=users:..50"


def test_a_baseline_is_a_value_of_what_is_laid_out() -> None:
    query = parsed("rows=users&columns=device,mtu&baseline=mtu:8K&baseline=device:OSA&delta=5")
    assert query.baseline == {"device": "OSA", "mtu": 8192}
    assert query.encode() == "rows=users&columns=device,mtu&baseline=device:OSA&baseline=mtu:8192&delta=5"


def test_values_may_have_an_order_of_their_own() -> None:
    query = parsed("rows=users&columns=device&order=device:VSwitch&order=device:OSA&order=device:VSwitch")
    assert query.order == {"device": ("VSwitch", "OSA")}
    assert query.encode() == "rows=users&columns=device&order=device:VSwitch&order=device:OSA"


def test_a_missing_value_can_be_asked_for() -> None:
    query = parsed(f"layer={MISSING}&layer=2")
    assert query.filters == {"layer": (2, None)}
    assert query.encode() == "layer=2&layer=(none)"


def test_a_pick_knows_its_measure_and_what_it_is_per() -> None:
    assert parsed("pick=trans_per_s:device").pick == Pick(Measure("trans_per_s"), ("device",))
    assert parsed("pick=mb_per_s@client:device,workload").pick == Pick(
        Measure("mb_per_s", "client"), ("device", "workload")
    )


def test_what_is_picked_by_must_be_read_too() -> None:
    assert parsed("metric=cpu_util&pick=trans_per_s:device").measures == (Measure("cpu_util"), Measure("trans_per_s"))


@pytest.mark.parametrize(
    ("query", "parameter", "known"),
    [
        ("colour=red", "colour", "factor.NAME"),
        ("factor.=1", "factor.", "factor.NAME"),
        ("metric=speed", "metric", "trans_per_s"),
        ("rows=speed", "rows", "device"),
        ("columns=Device", "columns", "device"),
        ("split=factor.", "split", "factor.NAME"),
        ("summary=average", "summary", "mean"),
        ("layout=wide", "layout", "metrics"),
        ("pick=speed:device", "pick", "trans_per_s"),
        ("exclude=speed:1", "exclude", "device"),
        ("range=device:A..B", "range", "mtu"),
        ("baseline=speed:1", "baseline", "device"),
        ("rows=users&baseline=device:A", "baseline", "users"),
        ("rows=users&order=device:A", "order", "users"),
        ("rows=device&device=A&device=B&baseline=device:C", "baseline", "B"),
        ("pick=trans_per_s:speed", "pick", "device"),
        ("pick=trans_per_s:", "pick", "device"),
        ("pick=cpu_util:device", "pick", "trans_per_s"),
    ],
)
def test_what_is_unknown_is_refused_with_what_is_known(query: str, parameter: str, known: str) -> None:
    with pytest.raises(QueryError) as refused:
        parsed(query)
    assert refused.value.parameter == parameter
    assert known in refused.value.known
    assert known in str(refused.value)


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("mtu=jumbo", "mtu"),
        ("users=many", "users"),
        ("device=a\0b", "device"),
        ("rows=users,users", "rows"),
        ("rows=users&columns=users", "columns"),
        ("columns=mtu&split=mtu", "split"),
        ("rows=factor.a:b", "rows"),
        ("exclude=device", "exclude"),
        ("exclude=device:", "exclude"),
        ("exclude=mtu:jumbo", "exclude"),
        ("range=mtu:1500", "range"),
        ("range=mtu:..", "range"),
        ("range=mtu:9000..1500", "range"),
        ("range=users:1..many", "range"),
        ("range=mtu:1..2&range=mtu:3..4", "range"),
        ("range=date:yesterday..", "range"),
        ("rows=users&columns=device&baseline=device:A&baseline=device:B", "baseline"),
        ("rows=users&columns=device&baseline=device:A&exclude=device:A", "baseline"),
        ("rows=users&order=mtu", "order"),
        ("delta=0", "delta"),
        ("delta=none", "delta"),
        ("delta=nan", "delta"),
        ("summary=min&summary=max", "summary"),
        ("pick=trans_per_s", "pick"),
        ("pick=trans_per_s:device&pick=mb_per_s:device", "pick"),
        ("pick=trans_per_s:device,device", "pick"),
        ("pick=trans_per_s:trial", "pick"),
    ],
)
def test_what_makes_no_sense_is_refused(query: str, parameter: str) -> None:
    with pytest.raises(QueryError) as refused:
        parsed(query)
    assert refused.value.parameter == parameter


def test_one_thing_can_be_changed() -> None:
    query = parsed("metric=trans_per_s&device=OSA&rows=users")
    assert query.with_filter("mtu", 1500, 9000) == parsed("metric=trans_per_s&device=OSA&mtu=1500&mtu=9000&rows=users")
    assert query.with_filter("device", "LAN") == parsed("metric=trans_per_s&device=LAN&rows=users")
    assert query.with_filter("device") == parsed("metric=trans_per_s&rows=users")
    assert query.with_split("mtu") == parsed("metric=trans_per_s&device=OSA&rows=users&split=mtu")
    assert query.replace(columns=("mtu",)).columns == ("mtu",)
    with pytest.raises(QueryError):
        query.with_split("users")


def test_the_metrics_shown_unasked_follow_from_the_workloads() -> None:
    assert default_metrics(["STRG", "RR", "CRR", "RR"]) == (
        Measure("trans_per_s"),
        Measure("mb_per_s"),
        Measure("cpu_ms_per_trans"),
        Measure("cpu_ms_per_mb"),
    )
    assert default_metrics(["HTTP"]) == (Measure("trans_per_s"), Measure("cpu_ms_per_trans"))


def test_tags_and_numbers_choose_runs() -> None:
    query = parsed("tag=Odd&run=7&exclude=tag:even&device=OSA")
    assert query.filters == {"device": ("OSA",), "tag": ("odd",), "run": (7,)}
    assert query.encode() == "device=OSA&tag=odd&run=7&exclude=tag:even"


@pytest.mark.parametrize("query", ["rows=tag", "columns=run", "split=tag", "range=run:1..2", "pick=trans_per_s:tag"])
def test_tags_and_numbers_are_no_dimensions(query: str) -> None:
    with pytest.raises(QueryError, match="no dimension") as caught:
        parsed(query)
    assert "tag" not in caught.value.known
