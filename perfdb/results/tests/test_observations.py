"""From a Query to the rows that tables are made of."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perfdb.analysis.dimensions import DIMENSIONS
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.verdicts.cells import Scope
from perfdb.results.models import Run
from perfdb.results.queries import observations
from perfdb.results.queries.answers import answer_query, read_earlier_campaigns
from perfdb.results.queries.observations import DIMENSION_COLUMNS, add_campaigns, find_patterns, read_observations
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db


def ask(**parameters: str | list[str]) -> Query:
    pairs = [(name, [text] if isinstance(text, str) else text) for name, text in parameters.items()]
    return Query.parse((name.replace("__", "."), text) for name, texts in pairs for text in texts)


def run_ids(query: Query) -> list[str]:
    found = read_observations(query)
    return sorted(map(str, found.coded_column("run_id").values_at(found.places)))


def test_it_works() -> None:
    run = make_run(values={"trans_per_s": 9077.29, "cpu_util@client": 41.5})
    found = read_observations(ask(metric=["trans_per_s", "cpu_util@client"], rows="device"))
    assert found.measures == (Measure("trans_per_s"), Measure("cpu_util", "client"))
    (row,) = found.rows
    assert row[0] == run.pk
    named = dict(zip(found.dimensions, row[1:], strict=False))
    assert named["device"] == "QDIO"
    assert named["workload"] == "RR"
    assert named["campaign"] is None
    assert row[-2:] == (9077.29, 41.5)


def test_every_declared_dimension_has_a_column() -> None:
    assert list(DIMENSION_COLUMNS) == [dimension.name for dimension in DIMENSIONS]
    make_run()
    assert read_observations(Query()).dimensions == tuple(DIMENSION_COLUMNS)


def test_runs_come_in_the_order_of_their_numbers_whatever_the_plan() -> None:
    made = [make_run(f"R{rate}", values={"trans_per_s": rate}) for rate in (10.0, 30.0, 20.0)]
    # PostgreSQL writes a row that is changed behind the others.
    Run.objects.filter(pk=made[0].pk).update(users=11)
    found = read_observations(ask(metric="trans_per_s", workload="RR", device="QDIO"))
    assert [row[0] for row in found.rows] == [run.pk for run in made]
    assert [row[-1] for row in found.rows] == [10.0, 30.0, 20.0]
    assert found.coded_column("run_id").values_at(found.places) == ["R10.0", "R30.0", "R20.0"]


def test_what_a_question_fixes_is_known_of_its_runs() -> None:
    make_run("A", trial=2, layer=2)
    make_run("B", device="HiperSockets", mtu=8192, users=20, workload="CRR")
    whole = read_observations(ask(metric="trans_per_s"))
    (first,) = (row for row in whole.rows if "A" in row)
    fixed = {"study": "guest-lan", "device": "QDIO", "workload": "RR", "mtu": "1492", "users": "10", "layer": "2"}
    assert read_observations(ask(metric="trans_per_s", trial="2", run_id="A", **fixed)).rows == [first]


@pytest.mark.parametrize("status", ["failed", "incomplete", "withdrawn"])
def test_only_complete_runs_enter_tables(status: str) -> None:
    make_run(status=status)
    assert read_observations(Query()).rows == []


def test_a_measure_no_run_ever_had_is_missing() -> None:
    make_run()
    assert read_observations(ask(metric="retransmits@server")).rows[0][-1] is None


def test_a_measure_beyond_the_end_of_a_short_array_is_missing() -> None:
    make_run("A", values={"trans_per_s": 1.0})
    make_run("B", values={"trans_per_s": 2.0, "errors": 3.0})
    assert sorted(row[-1] or 0 for row in read_observations(ask(metric="errors")).rows) == [0, 3.0]


@pytest.mark.parametrize(
    ("name", "wanted", "other"),
    [
        ("device", "QDIO", "HiperSockets"),
        ("mtu", "8192", "1492"),
        ("users", "10", "20"),
        ("layer", "2", "3"),
        ("campaign", "May", "June"),
        ("level", "z/VM 4.4", "z/VM 4.3"),
        ("machine", "2064-109", "2084-306"),
        ("workload", "CRR", "RR"),
        ("trial", "2", "1"),
        ("run_id", "NEW", "OLD"),
    ],
)
def test_filters_by_dimension(name: str, wanted: str, other: str) -> None:
    typed: Any = int if name in ("mtu", "users", "layer", "trial") else str
    run = make_run(**{name: typed(wanted)})
    make_run(**{name: typed(other)})
    dimension = "system" if name == "machine" else name
    assert [row[0] for row in read_observations(ask(**{dimension: wanted})).rows] == [run.pk]


def test_filters_by_study() -> None:
    make_run("A", study=make_study("a"))
    make_run("B", study=make_study("b"))
    assert run_ids(ask(study="b")) == ["B"]


def test_filters_or_within_and_between() -> None:
    make_run("A", users=10, mtu=1492)
    make_run("B", users=20, mtu=1492)
    make_run("C", users=20, mtu=8192)
    make_run("D", users=50, mtu=1492)
    assert run_ids(ask(users=["10", "20"], mtu="1492")) == ["A", "B"]


def test_values_can_be_left_out() -> None:
    make_run("A", device="OSA", mtu=1492)
    make_run("B", device="QDIO", mtu=8192)
    make_run("C", device=None, mtu=8192)
    assert run_ids(ask(exclude="device:OSA")) == ["B", "C"]
    assert run_ids(ask(exclude=["device:OSA", "device:(none)"])) == ["B"]
    assert run_ids(ask(exclude=["device:OSA", "mtu:8K"])) == []


def test_ranges_have_both_ends_or_one() -> None:
    make_run("A", users=1)
    make_run("B", users=10)
    make_run("C", users=50)
    make_run("D", users=None)
    assert run_ids(ask(range="users:1..10")) == ["A", "B"]
    assert run_ids(ask(range="users:10..")) == ["B", "C"]
    assert run_ids(ask(range="users:..10")) == ["A", "B"]
    assert run_ids(ask(range=f"users:{10**30}..")) == []
    assert run_ids(ask(range=f"users:..{10**30}")) == ["A", "B", "C"]


def test_runs_of_a_day() -> None:
    make_run("A", started=datetime(2026, 5, 1, 23, 59, 59, tzinfo=UTC))
    make_run("B", started=datetime(2026, 5, 2, tzinfo=UTC))
    assert run_ids(ask(date="2026-05-01")) == ["A"]
    assert run_ids(ask(range="date:2026-05-02..")) == ["B"]
    assert run_ids(ask(range="date:..2026-05-02")) == ["A", "B"]
    assert run_ids(ask(range="date:0001-01-01..9999-12-31")) == ["A", "B"]
    found = read_observations(ask(rows="date"))
    at = found.dimensions.index("date") + 1
    assert sorted(row[at] for row in found.rows) == ["2026-05-01", "2026-05-02"]


def test_a_pattern_matches_its_workloads_of_all_sizes() -> None:
    make_run("A", workload="RR")
    make_run("B", workload="RR 200/32K")
    make_run("C", workload="CRR")
    assert run_ids(ask(workload="RR")) == ["A", "B"]
    assert run_ids(ask(workload="RR 200/32K")) == ["B"]


def test_missing_values_can_be_asked_for() -> None:
    make_run("A", device=None, mtu=None, workload=None, machine="", level="L", campaign="C", factors={"kernel": "6"})
    make_run("B")
    for name in ("device", "mtu", "workload", "system"):
        assert run_ids(ask(**{name: "(none)"})) == ["A"]
    for name in ("level", "campaign", "factor__kernel"):
        assert run_ids(ask(**{name: "(none)"})) == ["B"]
    assert run_ids(ask(device=["(none)", "QDIO"])) == ["A", "B"]


def test_factors_are_dimensions() -> None:
    make_run("A", factors={"kernel": "5.14"})
    make_run("B", factors={"kernel": "6.4", "qlen": "1000"})
    make_run("C")
    found = read_observations(Query())
    assert found.dimensions[-2:] == ("factor.kernel", "factor.qlen")
    assert sorted((row[-2:] for row in found.rows), key=str) == [("5.14", None), ("6.4", "1000"), (None, None)]
    assert run_ids(ask(factor__kernel="6.4")) == ["B"]


def test_a_factor_no_run_has_can_be_laid_out() -> None:
    make_run()
    assert read_observations(ask(rows="factor.kernel")).dimensions[-1] == "factor.kernel"


def test_a_value_too_large_to_be_stored_matches_nothing() -> None:
    make_run()
    for name in ("users", "mtu", "layer", "trial"):
        assert run_ids(ask(**{name: str(10**30)})) == []


def test_a_factor_name_with_nul_is_refused() -> None:
    with pytest.raises(QueryError, match="NUL"):
        read_observations(ask(**{"factor.a\0b": "1"}))


def test_too_many_runs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "MOST_RUNS", 1)
    make_run("A")
    assert len(read_observations(Query()).rows) == 1
    make_run("B")
    with pytest.raises(QueryError, match="narrow the question"):
        read_observations(Query())


def test_patterns_present() -> None:
    make_run("A", workload="STRG")
    make_run("B", workload="RR 200/32K")
    make_run("C", workload="RR")
    make_run("D", workload=None)
    assert find_patterns(Query()) == ["RR", "STRG"]
    assert find_patterns(ask(workload="STRG")) == ["STRG"]


def test_hot_metrics_are_read_from_their_columns() -> None:
    run = make_run(values={"trans_per_s": 5.0})
    Run.objects.filter(pk=run.pk).update(values=[])
    assert read_observations(ask(metric="trans_per_s")).rows[0][-1] == 5.0


def test_a_comparison_knows_the_earlier_campaigns() -> None:
    for month, rate in enumerate((99.0, 101.0, 100.0, 100.0, 103.0), start=1):
        for users in (1, 10, 20):
            started = datetime(2026, month, 1, tzinfo=UTC)
            values = {"trans_per_s": rate * users}
            make_run(f"{month}-{users}", campaign=f"C{month}", users=users, started=started, values=values)
    query = ask(metric="trans_per_s", rows="users", columns="campaign", campaign=["C4", "C5"], baseline="campaign:C4")
    _, (table,) = answer_query(query)
    found = [cell.comparison for cell in table.cells.values() if cell.comparison]
    assert [(each.scope, each.campaigns) for each in found] == [(Scope.DAYS_KNOWN, 4)] * 3


def campaigns_of(*hours: float, **more: Any) -> list[int]:
    """Number the campaigns of runs that began at these hours, in order of the hours."""
    for number, hour in enumerate(hours):
        started = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour)
        make_run(f"R{number}", started=started, **more)
    found = add_campaigns(read_observations(Query()))
    names = [found.campaigns.of_run[run.pk] for run in Run.objects.order_by("started")]
    return [list(dict.fromkeys(names)).index(name) for name in names]


def test_a_pause_of_more_than_six_hours_begins_a_campaign() -> None:
    assert campaigns_of(0, 5.9, 12.0, 12.5) == [0, 0, 1, 1]


def test_the_pause_counts_from_the_end_of_a_run() -> None:
    assert campaigns_of(0, 6.5, values={"trans_per_s": 1.0, "elapsed_s": 3600.0}) == [0, 0]


def test_named_campaigns_are_those_whatever_the_pause() -> None:
    assert campaigns_of(0, 48, campaign="May") == [0, 0]


def test_systems_have_campaigns_of_their_own() -> None:
    make_run("other", machine="9672", started=datetime(2026, 1, 1, 3, tzinfo=UTC))
    assert campaigns_of(0, 7) == [0, 1, 2]


def test_a_campaign_does_not_depend_on_what_is_asked() -> None:
    """A run that the query leaves out bridges the pause between two that it shows."""
    for hour, users in ((0, 1), (5, 10), (10, 1)):
        make_run(f"R{hour}", users=users, started=datetime(2026, 1, 1, hour, tzinfo=UTC))
    found = add_campaigns(read_observations(ask(users="1")))
    assert len(set(found.campaigns.of_run.values())) == 1


def test_without_other_campaigns_there_is_nothing_to_look_up() -> None:
    make_run("A", device="OSA")
    make_run("B", device="QDIO")
    query = ask(metric="trans_per_s", rows="users", columns="device", baseline="device:OSA")
    assert read_earlier_campaigns(query, read_observations(query)) is None


@pytest.mark.parametrize("more", [{"campaign": "C2"}, {"level": "V5"}, {}])
def test_a_comparison_reads_other_campaigns_where_there_are_any(more: dict[str, Any]) -> None:
    for device, rate in (("OSA", 100.0), ("QDIO", 110.0)):
        for trial in (1, 2):
            make_run(
                device, device=device, trial=trial, campaign="C1", level="V4", values={"trans_per_s": rate + trial}
            )
            if more:
                earlier = {"campaign": "C1", "level": "V4"} | more
                make_run(f"{device}2", device=device, trial=trial, values={"trans_per_s": rate + 2 * trial}, **earlier)
    make_run("elsewhere", study=make_study("other"), campaign="C3")
    make_run("elsewhere", study=make_study("other"), campaign="C4")
    of_one = {"study": "guest-lan", "campaign": "C1", "level": "V4"}
    query = ask(metric="trans_per_s", rows="users", columns="device", baseline="device:OSA", **of_one)
    found = read_observations(query)
    assert bool(read_earlier_campaigns(query, found)) is bool(more)


def test_what_a_run_lacks_does_not_exclude_it() -> None:
    make_run("A", factors={"kernel": "2.4"})
    make_run("B", factors={"kernel": "6.4"})
    make_run("C")
    Run.objects.filter(run_id="A").update(tags=["odd", "warm"])
    assert run_ids(ask(exclude="tag:odd")) == ["B", "C"]
    assert run_ids(ask(tag=["odd", "none"])) == ["A"]
    assert run_ids(ask(exclude="factor.kernel:2.4")) == ["B", "C"]
    assert run_ids(ask(exclude=["factor.kernel:2.4", "factor.kernel:(none)"])) == ["B"]
    assert run_ids(ask(exclude="device:nonesuch")) == ["A", "B", "C"]
    assert run_ids(ask(device="nonesuch", users="10")) == []
