"""How many SQL queries each endpoint needs, pinned in query_counts.json; never more when there are more rows.

When a number changes for a good reason, change it in that file.
"""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from perfdb.api.tests.files import case, post_files
from perfdb.api.tests.test_upload import settled
from perfdb.api.urls import V1
from perfdb.results.models import Alias, Artifact, Note, ReportItem, TrendEvent
from perfdb.results.queries import frozen_links, saved_queries
from perfdb.results.queries.questions import Question
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.trends.read_trends import read_trends

# What is only written to, or is its owner's alone.
WRITTEN = (
    "share/",
    "pattern/",
    "report/removed/<int:pk>/",
    "tags/",
    "withdraw/",
    "restore/",
    "corrections/",
    "corrections/<int:number>/",
    "pieces/",
    "pieces/<str:token>/",
    "frozen/",
    "judge/",
    "acts/",
    "subscriptions/",
    "subscriptions/<int:pk>/",
)
COUNTS: dict[str, int] = json.loads((Path(__file__).parent / "query_counts.json").read_text())


@pytest.fixture
def names(worker: None, api: APIClient, ada: User) -> dict[str, int | str]:
    """An imported run with everything, and a few more of other devices and studies."""
    upload = settled(api, post_files(api, case("cp_query/NMGBR950")))
    for n in range(4):
        make_run(f"R{n}", study=make_study(("guest-lan", "other")[n % 2]), device=("QDIO", "HiperSockets")[n // 2])
    artifact = Artifact.objects.order_by("pk").values_list("pk", flat=True)[0]
    for kind in (ReportItem.Kind.TABLE, ReportItem.Kind.FIGURE):
        item = {"position": 1, "number": "1", "title": "Rates", "queries": ["metric=trans_per_s&rows=device"]}
        shown = ReportItem.objects.create(study=make_study(), kind=kind, **item)
    alias = Alias.objects.create(study=make_study(), dimension="device", printed="OSA", folded="osa", meaning="QDIO")
    run = upload["runs"][0]["id"]
    # Announced, so that no look of the worker removes it.
    event = TrendEvent.objects.create(study=make_study(), run=run, summary={}, announced=timezone.now()).pk
    note = Note.objects.create(run_id=run, text="odd")
    question = Question.parse("charts", "metric=trans_per_s&rows=device&study=guest-lan")
    return {
        "run": run,
        "other": make_run("OTHER").pk,
        "saved": saved_queries.save_query(ada, "Rates", question).pk,
        "frozen": frozen_links.freeze_question(question, ada).token,
        "upload": upload["id"],
        "artifact": artifact,
        "alias": alias.pk,
        "note": note.pk,
        "event": event,
        "series": read_trends(make_study()).trends[0].key,
        "item": shown.pk,
    }


def test_every_endpoint_is_counted() -> None:
    counted = {address.partition("?")[0] for address in COUNTS}
    for pattern in V1:
        route = f"/api/v1/{pattern.pattern}"
        if not route.endswith(("accept/", "undo/", "published-tables/", *WRITTEN)):
            assert any(_fits(route, path) for path in counted), f"{route} is missing in query_counts.json"


def _fits(route: str, path: str) -> bool:
    parts = zip(route.split("/"), path.split("/"), strict=False)
    return route.count("/") == path.count("/") and all(
        a == b or ("<" in a and b.startswith(a.partition("<")[0])) for a, b in parts
    )


def test_endpoints_need_as_many_queries_as_they_should(
    names: dict[str, int | str],
    reader: APIClient,
    ada: User,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for address, count in COUNTS.items():
        path = address.format(**names)
        with django_assert_num_queries(count, info=address):
            assert reader.get(path).status_code == 200
    make_run("MORE", device="MORE", level="MORE", workload="CRR", study=make_study("more"), factors={"kernel": "6"})
    for address, count in COUNTS.items():
        with django_assert_num_queries(count, info=f"{address} with one more run"):
            reader.get(address.format(**names))
