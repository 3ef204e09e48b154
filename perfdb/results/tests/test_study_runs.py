"""A study's runs read once: they answer as the database does."""

import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries

from fixtures.studies import files
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.results.models import Study
from perfdb.results.queries.answers import answer_query
from perfdb.results.studies.report_answers import StudyRuns, live_queries, study_query
from perfdb.results.tests.builders import make_run, make_study

pytestmark = pytest.mark.django_db
SLUGS = sorted(path.parent.name for path in files.FOLDER.glob("*/study.toml"))


@pytest.mark.parametrize("slug", SLUGS)
def test_every_question_of_a_report_is_answered_as_the_database_answers_it(slug: str) -> None:
    call_command("loadstudies", slug)
    study = Study.objects.get(slug=slug)
    asked = [query for item in study.report_items.all() for query in live_queries(item)]
    asked += [study_query(study, item.asks) for item in study.report_items.exclude(asks="")]
    archive = StudyRuns(study, asked)
    assert asked
    for query in asked:
        assert archive.answer(query) == answer_query(query)


def test_what_was_not_read_is_asked_of_the_database(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    study = make_study()
    make_run("A", study=study, values={"trans_per_s": 100.0, "cpu_util": 5.0})
    rate, other = (study_query(study, f"metric={name}&rows=device") for name in ("trans_per_s", "cpu_util"))
    archive = StudyRuns(study, [rate])
    with django_assert_num_queries(0):
        assert archive.answer(rate)[1][0].cells
    (table,) = archive.answer(other)[1]
    assert [cell.centre for cell in table.cells.values()] == [5.0]
    assert {table.measure.metric for table in archive.answer(Query())[1]} == {"trans_per_s", "cpu_ms_per_trans"}


def test_a_wrong_question_is_refused() -> None:
    with pytest.raises(QueryError):
        study_query(make_study(), "metric=speed")
