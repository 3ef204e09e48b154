"""Named queries, and questions that are put in a study's report."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from perfdb.results.models import ReportItem, Run, SavedQuery, Study
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import inline_code, text_of

ASKED = {
    "charts": "metric=trans_per_s&study=guest-lan&rows=users&columns=device&marks=bars",
    "compare": "dimension=device&old=QDIO&new=HiperSockets&study=guest-lan",
    "maximum": "study=guest-lan&workload=RR",
}


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices with 1 and 10 users."""
    return [
        make_run(f"{device}{users}", device=device, users=users, values={"trans_per_s": 100.0 * users})
        for device in ("QDIO", "HiperSockets")
        for users in (1, 10)
    ]


def save(web: Client, name: str = "Rates", page: str = "charts", **more: str) -> int:
    """Save a question; the status of the answer."""
    return web.post("/saved/", {"name": name, "page": page, "query": ASKED[page], **more}).status_code


@pytest.mark.parametrize("page", ASKED)
def test_a_question_is_saved_where_it_is_answered_and_opens_there(web: Client, runs: list[Run], page: str) -> None:
    source = web.get(f"{reverse(f'web:{page}')}?{ASKED[page]}").content.decode()
    (query,) = set(re.findall(r'name="query" value="([^"]*)"', source))
    sent = {"name": "Mine", "page": page, "query": query.replace("&amp;", "&")}

    response = web.post("/saved/", sent, follow=True)

    assert "Saved as “Mine”" in text_of(response)
    kept = SavedQuery.objects.get()
    assert (kept.page, kept.study) == (page, Study.objects.get(slug="guest-lan"))
    opened = web.get(f"/saved/{kept.pk}/", follow=True)
    assert opened.redirect_chain[-1][0] == f"{reverse(f'web:{page}')}?{kept.query}"
    assert text_of(opened).count("Mine") == 1
    assert "Mine" in text_of(web.get(f"{reverse(f'web:{page}')}?{ASKED[page]}"))
    assert f'<a href="/saved/{kept.pk}/">Mine</a>' in web.get("/studies/guest-lan/").content.decode()
    assert inline_code(opened) == []


def test_another_page_does_not_offer_it(web: Client, runs: list[Run]) -> None:
    save(web, "A rainy day", "charts")
    assert "A rainy day" in text_of(web.get(f"/charts/?{ASKED['charts']}"))
    assert "A rainy day" not in text_of(web.get(f"/ranking/?{ASKED['maximum']}"))


def test_a_name_that_is_taken_is_asked_about(web: Client, runs: list[Run]) -> None:
    save(web, "Rates", "charts")
    response = web.post("/saved/", {"name": " Rates ", "page": "maximum", "query": ASKED["maximum"]})

    assert response.status_code == 409
    assert "There is already a view called Rates" in text_of(response)
    assert SavedQuery.objects.get().page == "charts"
    sent = dict(re.findall(r'<input type="hidden" name="(name|page|query)" value="([^"]*)"', response.content.decode()))
    web.post("/saved/", {name: text.replace("&amp;", "&") for name, text in sent.items()} | {"replace": "1"})
    kept = SavedQuery.objects.get()
    assert (kept.name, kept.page) == ("Rates", "maximum")


def test_it_is_renamed_and_deleted(web: Client, runs: list[Run]) -> None:
    save(web, "One")
    save(web, "Two")
    one = SavedQuery.objects.get(name="One")

    clash = web.post(f"/saved/{one.pk}/rename/", {"name": "Two"}, follow=True)
    assert "There is a query called “Two” already" in text_of(clash)
    web.post(f"/saved/{one.pk}/rename/", {"name": "Three"})
    assert "Three" in text_of(web.get("/saved/"))
    web.post(f"/saved/{one.pk}/delete/")
    assert [each.name for each in SavedQuery.objects.all()] == ["Two"]


def test_only_who_saved_it_changes_it(web: Client, runs: list[Run]) -> None:
    save(web)
    kept = SavedQuery.objects.get()
    other = Client()
    other.force_login(User.objects.create_user("bob"))

    assert other.post(f"/saved/{kept.pk}/delete/").status_code == 403
    assert other.post(f"/saved/{kept.pk}/rename/", {"name": "Mine"}).status_code == 403
    page = other.get("/saved/")
    assert "Rates" in text_of(page)
    assert "Delete" not in text_of(page)
    # The name is taken for its owner only.
    assert save(other) == 302


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"query": "colour=red"}, "'colour' is not a parameter"),
        ({"page": "compare", "query": "dimension=device"}, "which device is the old one?"),
        ({"page": "maximum", "query": "workload=RR&workload=CRR"}, "about one workload, and not 2"),
        ({"name": "  "}, "a query needs a name"),
        ({"page": "elsewhere"}, "there is no page 'elsewhere'"),
    ],
)
def test_what_its_page_would_not_answer_is_not_saved(
    web: Client, runs: list[Run], sent: dict[str, str], message: str
) -> None:
    response = web.post("/saved/", {"name": "Rates", "page": "charts", "query": ASKED["charts"], **sent})

    assert response.status_code == 400
    assert message in text_of(response)
    assert not SavedQuery.objects.exists()


def test_one_that_is_not_understood_any_more_says_so(web: Client, runs: list[Run]) -> None:
    save(web)
    SavedQuery.objects.update(query="metric=furlongs")
    kept = SavedQuery.objects.get()

    assert "not understood" in text_of(web.get("/saved/"))
    response = web.get(f"/saved/{kept.pk}/")
    assert response.status_code == 400
    assert "'furlongs' is not a metric" in text_of(response)
    assert web.get(f"/charts/?{ASKED['charts']}").status_code == 200


@pytest.mark.parametrize("page", ASKED)
@pytest.mark.parametrize("kind", ["table", "figure"])
def test_a_question_is_put_in_a_report(web: Client, ada: User, runs: list[Run], page: str, kind: str) -> None:
    study = runs[0].study
    Study.objects.filter(pk=study.pk).update(owner=ada)
    ReportItem.objects.create(study=study, kind=kind, position=7, number="3", title="First", queries=[])
    form = web.get(f"/put-in-report/?page={page}&query={ASKED[page].replace('&', '%26')}")
    assert '<option value="guest-lan" selected>' in form.content.decode()

    sent = {"page": page, "query": ASKED[page], "study": "guest-lan", "kind": kind, "title": "The rates"}
    response = web.post("/put-in-report/", sent, follow=True)

    assert response.status_code == 200
    item = ReportItem.objects.get(title="The rates")
    assert (item.kind, item.position, item.number) == (kind, 8, "4")
    assert "study=" not in item.queries[0]
    assert response.redirect_chain[-1][0] == f"/studies/guest-lan/#{kind}-4"
    assert "This address asks for something perfdb cannot show" not in text_of(response)
    assert f"{kind.capitalize()} 4. The rates" in text_of(response)


def test_a_name_and_a_title_are_offered_in_the_words_of_the_question(web: Client, ada: User, runs: list[Run]) -> None:
    Study.objects.filter(pk=runs[0].study.pk).update(owner=ada)
    page = "/charts/?metric=trans_per_s&study=guest-lan&workload=RR&rows=users"
    source = web.get(page).content.decode()
    (address,) = re.findall(r'href="(/put-in-report/[^"]+)"', source)
    report = web.get(unescape(address)).content.decode()

    assert re.findall(r'name="name" value="([^"]*)"', source) == ["Transactions per second · Guest Lan · RR"]
    assert re.findall(r'name="title" value="([^"]*)"', report) == ["Transactions per second · RR"]


def test_only_reports_that_one_may_write_are_offered(web: Client, ada: User, runs: list[Run]) -> None:
    make_study("mine", owner=ada)
    asked = f"page=charts&query={ASKED['charts'].replace('&', '%26')}"
    assert re.findall(r'<option value="([^"]*)"', web.get(f"/put-in-report/?{asked}").content.decode()) == ["mine"]

    sent = {"page": "charts", "query": ASKED["charts"], "kind": "table", "title": "Rates"}
    assert web.post("/put-in-report/", sent | {"study": "guest-lan"}).status_code == 404
    response = web.post("/put-in-report/", sent | {"study": "mine"})
    assert response.status_code == 400
    assert "asked of the runs of guest-lan, and not of Mine" in text_of(response)
    assert not ReportItem.objects.exists()
