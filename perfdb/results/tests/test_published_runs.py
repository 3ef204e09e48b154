"""Published runs among others: nothing is derived from them, and logs of the same run do not join them."""

import pytest
from django.core.management import call_command

from perfdb.results.changes.rebuild import rederive_runs
from perfdb.results.models import Alias, Run, Study, Upload
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import Origin
from perfdb.results.tests.conftest import Bring, case

LINUX = "linux-connectivity-zvm420"


@pytest.fixture
def study(db: None) -> Study:
    """A published study, of which one run is also known from its logs."""
    call_command("loadstudies", LINUX)
    return Study.objects.get(slug=LINUX)


def published(study: Study) -> Run:
    return Run.objects.select_related("experiment").get(study=study, run_id="NMGBR950", sources=None)


def test_nothing_is_derived(study: Study) -> None:
    run = published(study)
    before = read_record(run).values
    assert {value.origin for value in before.values()} == {Origin.PUBLISHED}
    rederive_runs([run.pk])
    run.refresh_from_db()
    assert read_record(run).values == before


def test_logs_of_a_published_run_are_a_run_of_their_own(study: Study, bring: Bring) -> None:
    before = published(study).pk
    Alias.objects.create(study=study, dimension="device", printed="QDIO GBE", folded="qdio gbe", meaning="QDIO GbE")
    upload = bring(*case("awm/both_sides"), study=study)
    assert upload.state == Upload.State.DONE
    assert published(study).pk == before
    (measured,) = study.run_set.filter(run_id="NMGBR950", sources__isnull=False).distinct()
    assert measured.pk != before
