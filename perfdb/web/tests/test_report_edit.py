"""The editor of a report: items added, changed, moved, taken out and put back; prose with questions in it."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from perfdb.results.models import FrozenLink, ReportItem, SavedQuery, Study
from perfdb.results.queries import frozen_links
from perfdb.results.queries.questions import Question
from perfdb.results.studies import report_items
from perfdb.results.studies.report_items import ItemText
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import inline_code, text_of

LIST = "/studies/guest-lan/report/"
NEW = f"{LIST}new/"
RATE = "metric=trans_per_s&rows=users&columns=device"
PROSE = {
    "kind": "prose",
    "title": "What it costs",
    "prose": "Less.\r\n\r\n```chart Rate\r\n" + RATE + "\r\n```\r\nMore.",
}


@pytest.fixture
def study(ada: User) -> Study:
    """A study of Ada's with two runs."""
    study = make_study(owner=ada)
    for device, users in (("QDIO", 1), ("vCTC", 10)):
        make_run(f"A{users}", study=study, device=device, users=users, values={"trans_per_s": 900.0})
    return study


def titles(study: Study) -> list[str]:
    return [item.title for item in report_items.list_items(study)]


def add(study: Study, title: str, **more: str) -> ReportItem:
    return report_items.add_item(study, ItemText(title=title, **more))


def edit(web: Client, item: ReportItem, **form: object) -> Any:
    return web.post(f"{LIST}{item.pk}/", {"title": item.title, "version": 1, **form})


def test_a_question_in_prose_is_answered_in_its_place(web: Client, study: Study) -> None:
    page = web.post(NEW, PROSE, follow=True)
    assert "“What it costs” is in the report." in text_of(page)
    report = web.get("/studies/guest-lan/")
    source = report.content.decode()
    assert inline_code(report) == []
    assert source.index("<p>Less.</p>") < source.index("<perf-chart") < source.index("<p>More.</p>")
    assert "900.0" in source[source.index("<p>Less.</p>") : source.index("<p>More.</p>")]


def test_tables_comparisons_and_maxima_can_be_asked_too(web: Client, study: Study) -> None:
    asked = [
        f"/charts/?{RATE}",
        "/compare/?dimension=device&old=QDIO&new=vCTC&metric=trans_per_s",
        "/ranking/?workload=RR",
    ]
    prose = "\n".join(f"```table\nhttp://testserver{text}\n```" for text in asked)
    web.post(NEW, {"kind": "finding", "title": "All", "prose": prose})
    source = web.get("/studies/guest-lan/").content.decode()
    assert "This address asks for something perfdb cannot show" not in source
    assert source.count('<table class="grid printed">') >= 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("metric=speed", "&#x27;speed&#x27; is not a metric"),
        ("/runs/?device=x", "there is no page"),
        ("", "a question is to stand here"),
    ],
)
def test_what_cannot_be_asked_is_said_in_its_place(web: Client, study: Study, asked: str, message: str) -> None:
    web.post(NEW, {**PROSE, "prose": f"One.\n\n```chart\n{asked}\n```\nTwo."})
    source = web.get("/studies/guest-lan/").content.decode()
    assert (
        source.index("<p>One.</p>")
        < source.index(f"This address asks for something perfdb cannot show: {message}")
        < source.index("<p>Two.</p>")
    )


def test_a_chart_in_a_text_is_drawn_as_on_its_page(web: Client, study: Study) -> None:
    make_run("B", study=study, device="QDIO", users=1, values={"trans_per_s": 900.0, "cpu_ms_per_trans": 1.0})
    asked = "/charts/?metric=trans_per_s&metric=cpu_ms_per_trans&rows=users&columns=device"
    for drawing, charts in (("", 2), ("&draw=both", 1)):
        web.post(NEW, {**PROSE, "prose": f"```chart\n{asked}{drawing}\n```"})
        assert web.get("/studies/guest-lan/").content.decode().count("<perf-chart") == charts
        ReportItem.objects.all().delete()


def test_a_pasted_address_makes_a_table(web: Client, study: Study) -> None:
    queries = f"http://testserver/charts/?{RATE}&marks=bars&study=guest-lan"
    web.post(NEW, {"kind": "table", "title": "Rates", "queries": queries})
    item = ReportItem.objects.get()
    assert (item.number, item.queries, item.written_with) == ("1", [RATE], None)
    assert "Table 1. Rates" in text_of(web.get("/studies/guest-lan/"))
    web.post(NEW, {"kind": "table", "title": "Pairs", "queries": "/compare/?dimension=device&old=QDIO&new=vCTC"})
    (asked,) = ReportItem.objects.get(number="2").queries
    assert "baseline=device:QDIO" in asked
    assert "study=" not in asked


def test_a_named_query_begins_an_item(web: Client, ada: User, study: Study) -> None:
    saved = SavedQuery.objects.create(name="Rates", page="charts", query=RATE, owner=ada)
    assert f"?kind=figure&amp;saved={saved.pk}" in web.get(f"{NEW}?kind=figure").content.decode()
    assert RATE in web.get(f"{NEW}?kind=prose&saved={saved.pk}").context["written"].prose
    assert web.get(f"{NEW}?kind=figure&saved={saved.pk}").context["written"].title == "Rates"
    theirs = SavedQuery.objects.create(name="B", page="charts", query=RATE, owner=User.objects.create_user("grace"))
    assert web.get(f"{NEW}?kind=figure&saved={theirs.pk}").context["written"].title == ""


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"kind": "finding", "title": ""}, "an item needs a title"),
        ({"kind": "song", "title": "x"}, "is nothing that a report holds"),
        ({"kind": "table", "title": "x", "queries": "rows=speed"}, "is not a dimension"),
        ({"kind": "table", "title": "x", "number": "7"}, "there is a table 7 already"),
    ],
)
def test_what_is_no_item_is_said_and_stays_in_the_form(
    web: Client, study: Study, form: dict[str, str], message: str
) -> None:
    add(study, "There", kind="table", number="7")
    response = web.post(NEW, {**form, "prose": "Kept"})
    assert response.status_code == 400
    assert message in text_of(response)
    assert "Kept" in response.content.decode()
    assert titles(study) == ["There"]


def test_a_preview_keeps_nothing(web: Client, study: Study) -> None:
    response = web.post(NEW, {**PROSE, "preview": "1"})
    assert "<perf-chart" in response.content.decode()
    assert not ReportItem.objects.exists()


def test_a_preview_says_the_number_that_the_item_would_get(web: Client, study: Study) -> None:
    add(study, "One", kind="table", queries=RATE)
    table = {"kind": "table", "title": "Two", "queries": RATE, "preview": "1"}
    assert "Table 2. Two" in text_of(web.post(NEW, table))
    assert "Table 7. Two" in text_of(web.post(NEW, {**table, "number": "7"}))


def test_the_order_follows_places_and_arrows(web: Client, study: Study) -> None:
    one, two, three = (add(study, title) for title in ("One", "Two", "Three"))
    version = study.version
    web.post(LIST, {"item": [one.pk, two.pk, three.pk], "place": ["1", "2", "1"]})
    assert titles(study) == ["Three", "One", "Two"]
    web.post(LIST, {"item": [three.pk, one.pk, two.pk], "place": ["1", "2", "3"], "move": f"{two.pk}:-1"})
    assert titles(study) == ["Three", "Two", "One"]
    web.post(LIST, {"item": [three.pk, two.pk, one.pk], "place": ["1", "2", "3"], "move": f"{three.pk}:1"})
    assert titles(study) == ["Two", "Three", "One"]
    assert web.post(LIST, {"item": [one.pk], "place": ["first"]}).status_code == 400
    study.refresh_from_db()
    assert study.version > version


def test_what_is_taken_out_can_be_put_back_where_it_was(web: Client, study: Study) -> None:
    add(study, "One")
    two = add(study, "Two", kind="table", prose="*Kept*", queries=RATE)
    add(study, "Three")
    page = web.post(f"{LIST}{two.pk}/remove/", follow=True)
    assert titles(study) == ["One", "Three"]
    assert "Put back" in text_of(page)
    add(study, "Four", kind="table")
    web.post(f"{LIST}removed/{study.removed_items.get().pk}/")
    assert titles(study) == ["One", "Two", "Three", "Four"]
    back = ReportItem.objects.get(title="Two")
    assert (back.number, back.prose, back.queries, back.written_with) == ("2", "*Kept*", [RATE], 2)
    assert not study.removed_items.exists()


def test_two_who_change_one_item_lose_nothing(web: Client, study: Study) -> None:
    item = add(study, "One", prose="First")
    assert edit(web, item, prose="Ada's").status_code == 302
    response = edit(web, item, prose="Grace's")
    text = text_of(response)
    assert response.status_code == 409
    assert "Someone else changed this" in text
    assert "Ada's" in text
    assert "Grace&#x27;s</textarea>" in response.content.decode()
    item.refresh_from_db()
    assert (item.prose, item.version) == ("Ada's", 2)
    assert edit(web, item, prose="Both", version=response.context["version"]).status_code == 302
    item.refresh_from_db()
    assert item.prose == "Both"


def test_prose_says_when_runs_came_since(web: Client, study: Study) -> None:
    item = add(study, "One", prose="First")
    assert "Written with" not in text_of(web.get("/studies/guest-lan/"))
    make_run("B", study=study)
    assert "Written with 2 runs; 1 was added since." in text_of(web.get("/studies/guest-lan/"))
    assert "Written with 2 runs; 1 was added since." in text_of(web.get(LIST))
    edit(web, item, prose="Second")
    assert "Written with" not in text_of(web.get("/studies/guest-lan/"))


def test_only_its_owner_and_staff_may(study: Study, stranger: Client) -> None:
    item = add(study, "One")
    assert stranger.get(LIST).status_code == 302
    grace = Client()
    grace.force_login(User.objects.create_user("grace"))
    addresses = (LIST, NEW, f"{LIST}{item.pk}/", f"{LIST}{item.pk}/remove/")
    assert {grace.post(address, PROSE).status_code for address in addresses} == {403}
    other = make_study("other", owner=User.objects.get(username="grace"))
    assert grace.post(f"/studies/{other.slug}/report/{item.pk}/remove/").status_code == 404


def test_a_text_needs_no_heading_and_a_heading_no_text(web: Client, study: Study) -> None:
    web.post(NEW, {"kind": "prose", "prose": "Alone."})
    web.post(NEW, {"kind": "prose", "title": "Costs"})
    assert web.post(NEW, {"kind": "prose"}).status_code == 400
    source = web.get("/studies/guest-lan/").content.decode()
    assert "<p>Alone.</p>" in source
    assert "Costs</h3>" in source
    assert "<h3></h3>" not in re.sub(r"<h3[^>]*>", "<h3>", source)


def test_a_part_is_added_before_another(web: Client, study: Study) -> None:
    one, _ = add(study, "One"), add(study, "Two")
    assert f'name="before" value="{one.pk}"' in web.get(f"{NEW}?kind=prose&before={one.pk}").content.decode()
    web.post(NEW, {"kind": "prose", "title": "First", "before": one.pk})
    assert titles(study) == ["First", "One", "Two"]


def test_a_form_has_the_fields_of_its_kind(web: Client, study: Study) -> None:
    def names(kind: str) -> set[str]:
        source = web.get(f"{NEW}?kind={kind}").content.decode()
        form = source[source.index('<form id="item"') :]
        return {name for name in ("title", "number", "queries", "prose") if f'name="{name}"' in form}

    assert names("prose") == {"title", "prose"}
    assert names("heading") == {"title"}
    assert names("finding") == {"title", "queries", "prose"}
    assert names("figure") == names("table") == {"title", "number", "queries", "prose"}


def test_a_part_is_saved_while_it_is_written(web: Client, study: Study) -> None:
    item = add(study, "One", prose="First")
    saved = edit(web, item, prose="*Second*", autosave="1")
    source = saved.content.decode()
    assert (saved.status_code, ReportItem.objects.get().prose) == (200, "*Second*")
    assert re.search(r"Saved \d\d:\d\d UTC", source)
    assert 'name="version" value="2"' in source
    assert "<em>Second</em>" in source
    wrong = edit(web, item, kind="prose", title="", prose="", version=2, autosave="1").content.decode()
    assert "Not saved: an item needs a title" in wrong
    assert ReportItem.objects.get().prose == "*Second*"


def test_a_conflict_while_saving_keeps_both(web: Client, study: Study) -> None:
    item = add(study, "One", prose="First")
    edit(web, item, prose="Ada's")
    source = edit(web, item, prose="Grace's", autosave="1").content.decode()
    assert "Someone else changed this." in source
    assert ReportItem.objects.get().prose == "Ada's"
    # Further typing saves nothing before a side is chosen.
    assert 'type="hidden" name="version" value="1"' in source
    assert '<button class="button small" type="submit" name="version" value="2">Keep mine</button>' in source
    edit(web, item, prose="Grace's", version=2)
    assert ReportItem.objects.get().prose == "Grace's"


def test_a_chart_keeps_its_numbers_while_frozen(web: Client, study: Study) -> None:
    web.post(NEW, {"kind": "table", "title": "Rates", "queries": RATE})
    item = ReportItem.objects.get()
    change = {"title": "Rates", "number": "1", "queries": RATE}

    def numbers(state: str) -> str:
        item.refresh_from_db()
        web.post(f"{LIST}{item.pk}/", {**change, "numbers": state, "version": str(item.version)})
        item.refresh_from_db()
        return str(item.queries[0])

    frozen = numbers("frozen")
    make_run("LATER", study=study, device="QDIO", users=50, values={"trans_per_s": 4321.0})
    shown = text_of(web.get("/studies/guest-lan/"))
    token = frozen.removeprefix("frozen=")

    assert FrozenLink.objects.get().token == token
    assert "4321" not in shown
    assert f"as of {FrozenLink.objects.get().created:%Y-%m-%d}" in shown
    assert f"/f/{token}/" in web.get(f"{LIST}{item.pk}/").content.decode()
    # Saving again keeps the numbers, also where the form still has the question.
    assert numbers("frozen") == frozen
    assert numbers("live") == RATE
    assert "4321" in text_of(web.get("/studies/guest-lan/"))


def test_an_address_of_a_frozen_link_is_a_source(web: Client, ada: User, study: Study) -> None:
    link = frozen_links.freeze_question(Question.parse("charts", f"{RATE}&study=guest-lan"), ada)
    web.post(NEW, {"kind": "figure", "title": "Then", "queries": f"http://testserver/f/{link.token}/"})
    assert ReportItem.objects.get().queries == [f"frozen={link.token}"]
    assert "<perf-chart" in web.get("/studies/guest-lan/").content.decode()
    response = web.post(NEW, {"kind": "figure", "title": "Then", "queries": "/f/none/"})
    assert (response.status_code, "there is no frozen link /f/none/" in text_of(response)) == (400, True)


def test_figures_take_half_the_width(web: Client, study: Study) -> None:
    web.post(NEW, {"kind": "figure", "title": "Rates", "queries": RATE, "width": "half"})
    assert ReportItem.objects.get().half
    assert 'class="item stack half"' in web.get("/studies/guest-lan/").content.decode()
    removed = web.post(f"{LIST}{ReportItem.objects.get().pk}/remove/", follow=True)
    (taken,) = removed.context["removed"]
    web.post(f"{LIST}removed/{taken.pk}/")
    assert ReportItem.objects.get().half
