"""A question that names a spelling which an alias replaced is asked of what it means, wherever it stands."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.table import Table
from perfdb.results import tasks
from perfdb.results.changes import alias_changes
from perfdb.results.models import Job, Run, Study
from perfdb.results.queries import questions
from perfdb.results.queries.answers import answer_query
from perfdb.results.queries.questions import Question
from perfdb.results.queries.run_list.filters import choose_runs
from perfdb.results.studies.report_answers import StudyRuns
from perfdb.results.tests.builders import make_run, make_study

CHARTS = "metric=trans_per_s&rows=users&columns=level"


@pytest.fixture
def study(db: None) -> Study:
    """A study whose runs print a level in two ways, which are one; another level to compare with."""
    study = make_study("own")
    for level, rate in (("z/VM 4.2", 10.0), ("z/VM 4.2.0", 11.0), ("z/VM 4.3", 20.0)):
        for users in (1, 10):
            make_run(f"R{level}", study=study, level=level, users=users, values={"trans_per_s": rate})
    alias_changes.add_alias(study, "level", "z/VM 4.2", "z/VM 4.2.0", User.objects.create_user("ada"))
    for job in Job.objects.filter(state=Job.State.QUEUED):
        tasks.run_job(job.pk)
    assert set(Run.objects.values_list("level__name", flat=True)) == {"z/VM 4.2.0", "z/VM 4.3"}
    return study


def parsed(text: str) -> Query:
    return Query.parse(pair.partition("=")[::2] for pair in text.split("&"))


def levels(tables: list[Table]) -> Iterator[object]:
    (table,) = tables
    return (level for (level,) in table.columns)


def test_a_filter_finds_the_runs(study: Study) -> None:
    _, tables = answer_query(parsed(f"{CHARTS}&level=Z/VM 4.2"))

    assert list(levels(tables)) == ["z/VM 4.2.0"]
    assert sum(cell.n for cell in tables[0].cells.values()) == 4
    assert choose_runs([], "level=z/VM 4.2").count() == 4


def test_an_alias_is_its_own_studys(study: Study) -> None:
    other = make_study("other")
    make_run("as spelt", study=other, level="z/VM 4.2")
    make_run("as meant", study=other, level="z/VM 4.2.0")

    found = choose_runs([], "level=z/VM 4.2")
    assert sorted(found.values_list("study__slug", flat=True)) == ["other", *["own"] * 4]
    assert found.get(study=other).run_id == "as spelt"
    assert choose_runs([], "level=z/VM 4.2.0").filter(study=other).get().run_id == "as meant"


def test_what_is_left_out_stays_out(study: Study) -> None:
    _, tables = answer_query(parsed(f"{CHARTS}&exclude=level:z/VM 4.2"))

    assert list(levels(tables)) == ["z/VM 4.3"]


def test_a_baseline_is_what_it_means(study: Study) -> None:
    query, tables = answer_query(parsed(f"{CHARTS}&level=z/VM 4.2&level=z/VM 4.3&baseline=level:z/VM 4.2"))

    assert dict(query.baseline) == {"level": "z/VM 4.2.0"}
    assert any(cell.comparison for cell in tables[0].cells.values())


def test_a_side_of_a_comparison_is_what_it_means(study: Study) -> None:
    found = questions.answer_question(
        Question.parse("compare", "dimension=level&old=z/VM 4.2&new=z/VM 4.3&metric=trans_per_s")
    )

    assert found.comparison is not None
    (part,) = found.comparison.parts
    assert (part.matched.sides.old, part.matched.pairs) == ("z/VM 4.2.0", 2)


def test_a_report_goes_on_answering(study: Study) -> None:
    query = parsed(f"{CHARTS}&study=own&level=z/VM 4.2&level=z/VM 4.3&baseline=level:z/VM 4.2")
    _, tables = StudyRuns(study, [query]).answer(query)

    assert list(levels(tables)) == ["z/VM 4.2.0", "z/VM 4.3"]
    assert any(cell.comparison for cell in tables[0].cells.values())


def test_another_text_finds_nothing(study: Study) -> None:
    _, tables = answer_query(parsed(f"{CHARTS}&level=z/VM 4"))

    assert not tables[0].cells
