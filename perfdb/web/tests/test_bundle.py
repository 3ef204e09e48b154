"""Offline copies: what is in the zip, and which runs of which page it holds."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from fixtures.demo import demo_files
from perfdb.results.bundles import make_bundle
from perfdb.results.bundles.make_bundle import collect_logs
from perfdb.results.ingest import uploads
from perfdb.results.models import Artifact, Run, RunSource, Study, Upload
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.conftest import work
from perfdb.web.tests.pages import figures_of
from perfdb.web.tests.test_studies import HIPERSOCKETS, load
from perfdb.web.tests.test_study_files import References

QUESTION = "metric=trans_per_s&workload=RR&rows=users&columns=device,mtu&study=demo"


@pytest.fixture(scope="module", autouse=True)
def demo(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The demonstration study, stored once."""
    with django_db_blocker.unblock(), transaction.atomic():
        owner = access.find_owner()
        files = [(name, ContentFile(data)) for name, data in demo_files()]
        work(uploads.receive(owner, files, study=uploads.study_called(owner, "demo", "Demo")))
        with django_db_blocker.block():
            yield
        transaction.set_rollback(True)


def taken(client: Client, address: str) -> zipfile.ZipFile:
    """The bundle at an address, as a client receives it."""
    response = client.get(address)
    assert response.status_code == 200, response.content
    assert response.streaming
    return zipfile.ZipFile(io.BytesIO(response.getvalue()))


def test_a_study_with_its_page_logs_and_values(web: Client) -> None:
    with taken(web, "/studies/demo/bundle.zip") as bundle:
        assert bundle.testzip() is None
        names = bundle.namelist()
        assert names[0] == "perfdb-bundle.json"
        assert len(names) == len(set(names))
        logs = {name for name in names if name.startswith("logs/")}
        assert set(names) - logs == {"perfdb-bundle.json", "index.html", "runs.csv"}
        stored = set(Artifact.objects.filter(runsource__run__study__slug="demo").values_list("sha256", flat=True))
        assert {sha256(bundle.read(name)).hexdigest() for name in logs} == stored
        assert logs == {f"logs/{path}" for path in RunSource.objects.values_list("path", flat=True)}
        rows = list(csv.DictReader(io.StringIO(bundle.read("runs.csv").decode())))
        said = json.loads(bundle.read("perfdb-bundle.json"))
        page = bundle.read("index.html").decode()
    runs = Run.objects.filter(study__slug="demo")
    assert {row["run"] for row in rows} == {str(run.pk) for run in runs}
    assert {float(row["trans_per_s"]) for row in rows if row["trans_per_s"]} == {
        run.trans_per_s for run in runs if run.trans_per_s is not None
    }
    # Where the study has no report, the tables of its charts stand below them.
    assert page.count('<perf-chart data-figure="figure-') == page.count('<table class="grid">') == 6
    assert (said["format"], said["version"], said["study"]["title"]) == ("perfdb-bundle", 1, "Demo")
    assert len(said["runs"]) == len(rows) > 50
    assert said["document"] is None


def test_its_page_fetches_nothing_and_has_the_figures_of_the_question(web: Client) -> None:
    with taken(web, f"/bundle.zip?{QUESTION}") as bundle:
        page = bundle.read("index.html").decode()
        said = json.loads(bundle.read("perfdb-bundle.json"))
    found = References()
    found.feed(page)
    assert found.fetched == []
    living = web.get(f"/charts/?{QUESTION}").content.decode()
    assert figures_of(page) == figures_of(living)
    assert all(link.startswith(("http://testserver/", "#")) for link in found.links)
    complete = Run.objects.filter(workload__name="RR", status="complete", study__slug="demo")
    assert {run["run_id"] for run in said["runs"]} == {run.run_id for run in complete}


def test_only_the_logs_of_the_runs_that_are_shown(web: Client) -> None:
    run = Run.objects.filter(study__slug="demo", workload__name="CRR").earliest("pk")
    with taken(web, f"/bundle.zip?page=runs&run_id={run.run_id}") as bundle:
        logs = {name for name in bundle.namelist() if name.startswith("logs/")}
        page = bundle.read("index.html").decode()
    runs = Run.objects.filter(run_id=run.run_id, study__slug="demo")
    assert logs == {f"logs/{path}" for path in RunSource.objects.filter(run__in=runs).values_list("path", flat=True)}
    assert page.count('<th scope="row">') == runs.count()


@pytest.mark.parametrize("page", ["maximum", "compare"])
def test_other_pages(web: Client, page: str) -> None:
    asked = "study=demo&workload=RR"
    if page == "compare":
        devices = Run.objects.filter(study__slug="demo").values_list("device__name", flat=True).distinct()
        old, new = sorted(filter(None, devices))[:2]
        asked += f"&dimension=device&old={old}&new={new}"
    with taken(web, f"/bundle.zip?page={page}&{asked}") as bundle:
        content = bundle.read("index.html").decode()
        assert len(bundle.namelist()) > 10
    assert "<table" in content
    assert "csrf" not in content


def test_a_published_study_has_no_logs(web: Client) -> None:
    study = load(HIPERSOCKETS)
    with taken(web, f"/studies/{HIPERSOCKETS}/bundle.zip") as bundle:
        assert not [name for name in bundle.namelist() if name.startswith("logs/")]
        said = json.loads(bundle.read("perfdb-bundle.json"))
    assert len(said["document"]["runs"]) == Run.objects.filter(study=study).count()
    assert len(said["study"]["items"]) == study.report_items.count()


def test_names_stay_in_their_folder_and_apart(ada: User, web: Client) -> None:
    run = make_run(study=make_study(owner=ada))
    upload = uploads.receive(ada, [("a.log", ContentFile(b"a"))], study=run.study)
    paths = ["../../x.log", "C:\\evil\\..\\x.log", "X.LOG", "/x.log", "x.log/inside", "n" * 990 + ".log"]
    for number, path in enumerate(paths):
        add_source(run, upload, path, Artifact.objects.create(sha256=f"{number:064}", size=1))
    names = list(collect_logs(Run.objects.filter(pk=run.pk)).sources)
    assert len({name.casefold() for name in names}) == len(paths)
    assert all(name.startswith("logs/") and len(name.encode()) < 1000 for name in names)
    assert not any({"..", ""} & set(name.split("/")) or "\\" in name or ":" in name for name in names)
    assert not any(other.casefold().startswith(f"{name.casefold()}/") for name in names for other in names)


def add_source(run: Run, upload: Upload, path: str, artifact: Artifact) -> None:
    """Store a file of a run."""
    about = {"format": "x", "format_version": 1, "digests": [], "driver": True}
    RunSource.objects.create(run=run, study=run.study, artifact=artifact, upload=upload, path=path, **about)


def test_an_equal_file_of_another_spelling_has_the_name_in_the_bundle(ada: User) -> None:
    run = make_run(study=make_study(owner=ada))
    upload = uploads.receive(ada, [("a.log", ContentFile(b"a"))], study=run.study)
    artifact = Artifact.objects.create(sha256="1" * 64, size=1)
    for path in ("x.log", "X.LOG"):
        add_source(run, upload, path, artifact)
    logs = collect_logs(Run.objects.filter(pk=run.pk))
    assert set(logs.names.values()) == set(logs.sources)


def test_what_cannot_be_taken_along_is_said(web: Client) -> None:
    make_run(study=make_study())
    wrong = {
        "page=runs": "choose a study",
        "page=runs&run_id=none": "nothing to take along",
        "page=nowhere": "no page",
        "metric=none": "metric",
    }
    for asked, words in wrong.items():
        response = web.get(f"/bundle.zip?{asked}")
        assert response.status_code == 400
        assert words in response.content.decode()


def test_several_studies_lead_to_a_bundle_of_each(web: Client) -> None:
    make_run(study=make_study())
    response = web.get("/bundle.zip?page=runs&workload=RR")
    source = response.content.decode()

    assert "these are of 2" in source
    offered = [unescape(each) for each in re.findall(r'href="(/bundle.zip[^"]+)"', source)]
    assert len(offered) == 2
    for address in offered:
        with taken(web, address) as bundle:
            assert "index.html" in bundle.namelist()
    assert 'href="/runs/?workload=RR"' in source
    assert web.get("/api/v1/runs.csv?workload=RR").status_code == 200
    assert 'href="/api/v1/runs.csv?workload=RR"' in source


def test_too_many_runs_lead_back_to_the_question(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_bundle, "MAX_RUNS", 3)
    for address, back in (
        ("/studies/demo/bundle.zip", "/studies/demo/"),
        ("/bundle.zip?page=charts&study=demo&workload=RR", "/charts/?study=demo&amp;workload=RR"),
    ):
        response = web.get(address)
        assert response.status_code == 400
        source = response.content.decode()
        assert "at most 3 runs" in source
        assert f'href="{back}">Narrow the question' in source


def test_strangers_see_what_they_may(stranger: Client) -> None:
    assert stranger.get("/studies/none/bundle.zip").status_code in {302, 404}
    assert Study.objects.filter(slug="demo").exists()


def test_the_runs_that_are_ticked_in_the_list(web: Client) -> None:
    runs = list(Run.objects.filter(study__slug="demo", workload__name="RR").order_by("pk")[:2])
    given = {"act": "bundle", "run": [str(run.pk) for run in runs], "query": "workload=RR", "columns": ["device"]}
    went = web.post("/runs/chosen/", given)
    with taken(web, went.headers["Location"]) as bundle:
        said = json.loads(bundle.read("perfdb-bundle.json"))
        page = bundle.read("index.html").decode()
    assert [run["run_id"] for run in said["runs"]] == [run.run_id for run in runs]
    assert page.count('<th scope="row">') == 2
    all_of_them = web.post("/runs/chosen/", given | {"all": "1"})
    assert all_of_them.headers["Location"] == "/bundle.zip?workload=RR&page=runs&columns=device"


def test_over_rest(ada: User) -> None:
    token = access.make_token(ada, "test")
    headers = {"authorization": f"Bearer {token}"}
    response = Client().get("/api/v1/studies/demo/bundle.zip", headers=headers)
    with zipfile.ZipFile(io.BytesIO(response.getvalue())) as bundle:
        assert "index.html" in bundle.namelist()
    assert Client().get("/api/v1/studies/none/bundle.zip", headers=headers).status_code == 404
