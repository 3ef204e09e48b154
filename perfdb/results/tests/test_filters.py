"""The filter of the list of runs."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict

from perfdb.analysis.dimensions import DIMENSIONS
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, Upload, UploadRun
from perfdb.results.queries.run_list.filters import RunFilter, filter_runs, list_parameters
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db


def found(query: str) -> list[str]:
    return sorted(filter_runs(QueryDict(query)).values_list("run_id", flat=True))


def refusal(query: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        filter_runs(QueryDict(query))
    return caught.value


def test_it_works() -> None:
    make_run("A", users=10)
    make_run("B", users=20)
    assert found("") == ["A", "B"]
    assert found("users=20") == ["B"]


def test_every_dimension_is_a_filter() -> None:
    assert RunFilter(QueryDict()).filters.keys() >= {dimension.name for dimension in DIMENSIONS}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("run_id=A", ["A"]),
        ("run_id=A&run_id=B", ["A", "B"]),
        ("q=ab", ["ABC"]),
        ("q=b", ["ABC", "B"]),
        ("device=HiperSockets", ["B"]),
        ("mtu=8K", ["B"]),
        ("mtu=8192", ["B"]),
        ("workload=STRG", ["B"]),
        ("study=other", ["ABC"]),
        ("users=10&device=QDIO", ["A"]),
        ("layer=2", ["B"]),
        ("layer=(none)", ["A", "ABC"]),
        ("trial=2", ["ABC"]),
        ("level=z%2FVM+4.4", ["ABC"]),
        ("campaign=May", ["ABC"]),
        ("system=2084-306", ["ABC"]),
        ("factor.kernel=6.4", ["ABC"]),
        ("factor.kernel=6.4&factor.kernel=(none)", ["A", "ABC", "B"]),
        ("started_after=2003-04-02", ["ABC"]),
        ("started_before=2003-04-02", ["A", "B"]),
        ("started_after=2003-04-01T13:00:00Z", ["ABC", "B"]),
        ("started_after=2003-04-01T14:30:00%2B02:00", ["ABC", "B"]),
        ("device=&users=&q=", ["A", "ABC", "B"]),
        ("sort=users&cursor=x&size=3", ["A", "ABC", "B"]),
        ("device=unknown", []),
        ("tag=odd", ["A", "B"]),
        ("tag=Even", ["B"]),
        ("tag=odd&tag=even", ["A", "B"]),
        ("tag=(none)", ["ABC"]),
        ("tag=(none)&tag=even", ["ABC", "B"]),
        ("exclude=tag:even", ["A", "ABC"]),
        ("run=(none)", []),
        ("run=99999999999999999999", []),
    ],
)
def test_filters(query: str, expected: list[str]) -> None:
    make_run("A", device="QDIO", users=10)
    make_run(
        "B",
        device="HiperSockets",
        users=20,
        mtu=8192,
        layer=2,
        workload="STRG",
        started=datetime(2003, 4, 1, 13, tzinfo=UTC),
    )
    make_run(
        "ABC",
        study=make_study("other"),
        users=20,
        trial=2,
        level="z/VM 4.4",
        campaign="May",
        machine="2084-306",
        factors={"kernel": "6.4"},
        started=datetime(2003, 4, 2, tzinfo=UTC),
    )
    Run.objects.filter(run_id="A").update(tags=["odd"])
    Run.objects.filter(run_id="B").update(tags=["odd", "even"])
    assert found(query) == expected


def test_a_run_is_asked_for_by_its_number() -> None:
    first, second, _ = (make_run(name) for name in "ABC")
    assert found(f"run={first.pk}&run={second.pk}") == ["A", "B"]
    assert found(f"exclude=run:{first.pk}") == ["B", "C"]


def test_withdrawn_runs_are_hidden_unless_asked_for() -> None:
    for status in ("complete", "failed", "incomplete", "withdrawn"):
        make_run(status, status=status)
    assert found("") == ["complete", "failed", "incomplete"]
    assert found("status=withdrawn") == ["withdrawn"]
    assert found("status=withdrawn&status=failed") == ["failed", "withdrawn"]


def test_runs_of_an_upload() -> None:
    owner = User.objects.create(username="ada")
    upload = Upload.objects.create(owner=owner, study=make_study())
    run = make_run("A")
    make_run("B")
    for number in (1, 2):
        UploadRun.objects.create(
            upload=upload, run=run, number=number, run_label="A", trial=1, outcome="new", status="complete"
        )
    assert found(f"upload={upload.pk}") == ["A"], "once, although the upload names it twice"
    assert found(f"upload={upload.pk + 1}") == []


def test_unknown_parameters_are_refused() -> None:
    error = refusal("colour=red")
    assert error.parameter == "colour"
    assert error.known == list_parameters()
    assert "'colour' is not a parameter; known are: study, " in str(error)


def test_a_factor_without_a_name_is_refused() -> None:
    assert refusal("factor.=1").parameter == "factor."


@pytest.mark.parametrize(
    ("query", "parameter", "said"),
    [
        ("mtu=jumbo", "mtu", "not a size in bytes"),
        ("users=ten", "users", "not a whole number"),
        ("users=10&users=ten", "users", "not a whole number"),
        ("status=lost", "status", "known are: complete, failed, incomplete, withdrawn"),
        ("started_after=soon", "started_after", "valid date"),
        ("upload=x", "upload", "whole number"),
        ("upload=0", "upload", "greater than or equal to 1"),
        ("device=a%00b", "device", "NUL"),
        ("q=a%00b", "q", "Null characters"),
        ("factor.a%00b=1", "factor.a\0b", "NUL"),
    ],
)
def test_wrong_values_are_refused(query: str, parameter: str, said: str) -> None:
    error = refusal(query)
    assert error.parameter == parameter
    assert said in str(error)


def test_all_errors_can_be_shown_beside_their_fields() -> None:
    runs = RunFilter(QueryDict("mtu=jumbo&users=ten&colour=red"))
    assert [error.parameter for error in runs.errors_found()] == ["colour", "mtu", "users"]
    assert "mtu" in runs.form.errors
