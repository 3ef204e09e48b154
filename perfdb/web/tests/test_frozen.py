"""Frozen links: an answer stays to the last digit, whatever becomes of its runs, and says when today's is another."""

import re
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from perfdb.results.models import FrozenLink, Note, Run, Study
from perfdb.results.queries import frozen_links
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.tests.builders import make_run
from perfdb.web.tests.pages import figures_of, inline_code, text_of

ASKED = {
    "charts": "metric=trans_per_s&rows=users&columns=device&baseline=device:QDIO&marks=bars",
    "compare": "dimension=device&old=QDIO&new=HiperSockets",
    "maximum": "workload=RR",
}
FORMS = ("csv", "md", "tex", "txt", "parquet")


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices with three trials of 1, 10 and 20 users in each of two campaigns; answers the later one's."""
    found = []
    for campaign, day in (("first", 1), ("second", 20)):
        for device, base in (("QDIO", 100.0), ("HiperSockets", 130.0)):
            for users in (1, 10, 20):
                for trial, change in enumerate((0.99, 1.003, 1.01), start=1):
                    run = make_run(
                        f"{device}{users}",
                        device=device,
                        users=users,
                        trial=trial,
                        values={"trans_per_s": base * users * change / 7, "cpu_util@client": 40.0 + users},
                        campaign=campaign,
                        level=campaign,
                        started=datetime(2003, 4, day, 12, tzinfo=UTC),
                    )
                    found.append(run)
    return [run for run in found if run.campaign == "second"]


def freeze(web: Client, page: str) -> str:
    """The address of a new frozen link about the later campaign."""
    response = web.post("/f/", {"page": page, "query": f"{ASKED[page]}&campaign=second"})
    assert response.status_code == 302
    return response.headers["Location"]


def shown(web: Client, address: str) -> list[object]:
    """All that a frozen link shows and exports, but for the word on what is newer."""
    source = web.get(address).content.decode()
    token = address.split("/")[2]
    result = source[source.index('<section id="result"') :]
    files = [web.get(f"/api/v1/frozen/{token}/tables.{form}").content for form in FORMS]
    body = web.get(f"/api/v1/frozen/{token}/").json()
    return [result, figures_of(source), files, body["tables"], body["comparison"]]


def changed(study: Study) -> None:
    """What whoever changes runs does as well."""
    touch_study(study)


@pytest.mark.parametrize("page", ASKED)
def test_a_frozen_answer_is_that_of_the_living_page(web: Client, runs: list[Run], page: str) -> None:
    living = web.get(f"{reverse(f'web:{page}')}?{ASKED[page]}&campaign=second")
    answer = web.get(freeze(web, page))

    assert answer.status_code == 200
    assert inline_code(answer) == []
    numbers = [re.findall(r"\d+\.\d+", text_of(each)) for each in (living, answer)]
    assert len(numbers[0]) > 6
    assert set(numbers[0]) <= set(numbers[1])
    assert figures_of(answer.content.decode()) == figures_of(living.content.decode())
    text = text_of(answer)
    assert "by ada" in text
    assert "Nothing has changed since" in text


@pytest.mark.parametrize("page", ASKED)
def test_it_does_not_move_a_digit_whatever_becomes_of_the_runs(web: Client, runs: list[Run], page: str) -> None:
    address = freeze(web, page)
    before = shown(web, address)

    Run.objects.filter(pk=runs[0].pk).update(status=Run.Status.WITHDRAWN)
    Run.objects.filter(pk=runs[1].pk).update(trans_per_s=1e6, values=[1e6])
    Note.objects.create(run=runs[2], text="Another adapter was plugged.")
    make_run("NEW", device="QDIO", users=20, campaign="second", level="second", values={"trans_per_s": 9e6})
    changed(runs[0].study)
    assert shown(web, address) == before
    assert "Data have changed since: 1 run added, 1 removed, 1 with other values" in text_of(web.get(address))

    Run.objects.all().delete()
    changed(runs[0].study)
    assert shown(web, address) == before
    assert "18 removed" in text_of(web.get(address))


def test_what_stands_beside_the_runs_is_frozen_too(web: Client, runs: list[Run]) -> None:
    Note.objects.create(run=runs[0], text="The switch was warm.")
    address = freeze(web, "charts")
    before = shown(web, address)

    Note.objects.all().delete()
    changed(runs[0].study)

    assert shown(web, address) == before
    assert "the same runs, but what stands beside them changed" in text_of(web.get(address))


def test_a_change_that_does_not_concern_it_is_none(web: Client, runs: list[Run]) -> None:
    address = freeze(web, "charts")
    make_run("ELSE", device="vCTC", campaign="third", level="third", values={"mb_per_s@server": 3.0})
    changed(runs[0].study)

    # The other campaign began later, and tells nothing about the noise; but the history is read with it.
    text = text_of(web.get(address))
    assert "run added" not in text
    assert "removed" not in text


def test_the_database_is_not_asked_for_runs(web: Client, runs: list[Run]) -> None:
    freeze(web, "maximum")
    link = FrozenLink.objects.get()
    Run.objects.all().delete()

    with frozen_links.open_link(link) as (_, answer):
        assert [len(best.runs) for best in answer.best] == [3, 3]
        assert answer.best[0].limit.sentence


def test_its_runs_are_there_as_they_were_when_the_database_has_them_no_more(web: Client, runs: list[Run]) -> None:
    address = freeze(web, "charts")
    source = web.get(address).content.decode()
    links = {each.replace("&amp;", "&") for each in re.findall(rf'href="({address}runs/[^"]*users=[^"]*)"', source)}
    assert len(links) == 6
    assert f'data-runs="{address}runs/"' in source
    one = Run.objects.get(pk=runs[0].pk)
    Run.objects.filter(pk=one.pk).delete()

    pages = [web.get(link) for link in links]
    assert [page.status_code for page in pages] == [200] * 6
    assert all("3 runs as of" in text_of(page) for page in pages)
    alone = text_of(web.get(f"{address}runs/{one.pk}/"))
    assert f"gone {one.run_id}" not in alone
    assert "gone" in alone
    assert repr(one.trans_per_s) in alone
    assert web.get(f"{address}runs/999999/").status_code == 404
    assert web.get(f"{address}runs/?colour=red").status_code == 404


def test_it_is_read_by_the_rules_of_the_living_page(
    web: Client, stranger: Client, runs: list[Run], settings: Settings
) -> None:
    address = freeze(web, "charts")
    settings.PUBLIC_READ = False
    for each in (address, f"{address}runs/", f"{address}runs/{runs[0].pk}/"):
        assert stranger.get(each).headers["Location"].startswith("/sign-in/")
    settings.PUBLIC_READ = True
    assert stranger.get(address).status_code == 200
    assert stranger.post("/f/", {"page": "charts", "query": ASKED["charts"]}).status_code == 302
    assert FrozenLink.objects.count() == 1


@pytest.mark.parametrize(
    ("page", "query", "message"),
    [
        ("charts", "colour=red", "'colour' is not a parameter"),
        ("compare", "dimension=device&old=QDIO", "which device is the new one?"),
        ("maximum", "workload=RR&workload=CRR", "about one workload"),
        ("table", "", "there is no page 'table'"),
    ],
)
def test_what_cannot_be_answered_is_not_frozen(
    web: Client, runs: list[Run], page: str, query: str, message: str
) -> None:
    response = web.post("/f/", {"page": page, "query": query})

    assert response.status_code == 400
    assert message in text_of(response)
    assert not FrozenLink.objects.exists()


def test_a_question_that_is_not_understood_any_more_is_said(web: Client, runs: list[Run]) -> None:
    address = freeze(web, "charts")
    FrozenLink.objects.update(query="metric=furlongs")

    response = web.get(address)

    assert response.status_code == 400
    assert "'furlongs' is not a metric" in text_of(response)


def test_an_unknown_link_is_not_found(web: Client) -> None:
    assert web.get("/f/nothing/").status_code == 404
