"""Trends: what changed in a study over its campaigns, and the page of one series."""

import base64
import hashlib
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from defusedxml import ElementTree
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from perfdb.results.ingest import jobs
from perfdb.results.models import Job, RunEvidence, TrendAct, TrendChange, TrendEvent
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.trends.look import look_at, run_look, send_due_looks
from perfdb.web.tests.pages import inline_code, text_of

NIGHTS = 24
STEP = 14
START = datetime(2026, 8, 1, 2, tzinfo=UTC)


@pytest.fixture
def nightly(ada: User) -> None:
    """24 nights of three devices with two trials; the rates of two devices fall by 10% with a new kernel."""
    study = make_study("nightly", owner=ada)
    for night in range(NIGHTS):
        for device, factor in (("OSA", 0.9), ("vCTC", 0.9), ("IUCV", 1.0)):
            for trial in (1, 2):
                rate = 1000.0 * (factor if night >= STEP else 1.0)
                noise = 1 + 0.004 * (((night * 7 + trial * 3 + len(device)) % 11) / 5 - 1)
                run = make_run(
                    f"{device}{night}",
                    study=study,
                    device=device,
                    trial=trial,
                    started=START + timedelta(days=night, minutes=trial),
                    campaign=f"night {night:02}",
                    values={"trans_per_s": rate * noise},
                )
                kernel = "6.8" if night >= STEP else "6.4"
                fact = {"kernel": {"text": kernel, "artifact": 0, "line": 1}}
                RunEvidence.objects.filter(run=run).update(facts=fact)
    with transaction.atomic():
        look_at(study)


def test_an_event_names_what_its_series_share_and_what_changed_there(web: Client, nightly: None) -> None:
    response = web.get("/trends/?study=nightly")

    assert response.status_code == 200
    assert inline_code(response) == []
    text = text_of(response)
    assert "2 series regressed. 1 is stable." in text
    assert "15 Aug 2026 · Transactions per second" in text
    assert "Most series (2 of 3)" in text
    assert "kernel 6.4 → 6.8" in text
    assert "Candidates, not causes." in text
    assert text.count("% regressed") == 2
    assert re.search(
        r"OSA Transactions per second (regressed since 15 Aug 2026 )?898\.9 trans/s −(9\.\d|10)% regressed", text
    )
    assert "No change seen; a step of" in text


def test_the_page_of_a_series_has_its_levels_and_leads_to_both_sides(web: Client, nightly: None) -> None:
    source = web.get("/trends/?study=nightly").content.decode()
    links = [unescape(each) for each in re.findall(r'href="(/trends/series/[^"]+)"', source)]
    address = next(each for each in links if "device=OSA" in each)

    response = web.get(address)

    text = text_of(response)
    assert re.search(r"Regressed by −(9\.\d|10)% \(.* to .*\) since 15 Aug 2026; 10 campaigns after\.", text)
    source = response.content.decode()
    assert source.count('class="level"') == 2
    assert source.count('class="trial"') == 2 * NIGHTS
    assert "kernel 6.4 6.8" in text
    (compare,) = re.findall(r'href="(/compare/\?runs=[^"]+)"', source)
    compared = text_of(web.get(unescape(compare)))
    assert "Compare 4 runs" in compared
    assert "kernel" in compared


def test_few_campaigns_are_not_judged(web: Client) -> None:
    for night in range(4):
        make_run(f"R{night}", started=START + timedelta(days=night), campaign=f"night {night}")

    text = text_of(web.get("/trends/"))

    assert "The longest series has 4 campaigns." in text
    assert "at least 6 campaigns" in text


def test_without_runs_it_says_so(web: Client) -> None:
    assert "There are no complete runs yet." in text_of(web.get("/trends/"))


def test_unknown_studies_and_series_are_not_found(web: Client, nightly: None) -> None:
    assert web.get("/trends/?study=none").status_code == 404
    assert web.get("/trends/series/?study=nightly&metric=trans_per_s&device=none").status_code == 404
    assert web.get("/trends/series/?study=none&metric=trans_per_s").status_code == 404
    assert web.get("/trends/series/?metric=nosuch").status_code == 400


def test_one_odd_last_point_is_no_step(web: Client, nightly: None) -> None:
    odd = START + timedelta(days=NIGHTS)
    study = make_study("nightly")
    make_run("IUCVodd", study=study, device="IUCV", started=odd, campaign="night 99", values={"trans_per_s": 500.0})

    text = text_of(web.get("/trends/?study=nightly"))

    assert "The last point is far off: run it again." in text
    assert "2 series regressed." in text


def the_event() -> TrendEvent:
    """The only event."""
    return TrendEvent.objects.get()


def act(web: Client, **given: object) -> str:
    """Do an act on the only event, and return the page that follows."""
    response = web.post(f"/trends/events/{the_event().pk}/acts/", given, follow=True)
    assert response.status_code == 200
    return text_of(response)


def test_an_event_is_acknowledged_assigned_and_closed_with_a_note(web: Client, nightly: None) -> None:
    text = text_of(web.get(f"/trends/events/{the_event().pk}/"))
    assert "kernel 6.4 6.8 can explain it" in text
    assert text.count("< 0.001 new") == 2

    assert "acknowledged" in act(web, act="acknowledge")
    assert "Assigned to ada." in act(web, act="assign", user="ada")
    assert "https://example.org/7" in act(web, act="link", url="https://example.org/7")
    assert "Write in a few words why the change is closed." in act(web, act="close", reason="fixed")
    text = act(web, act="close", reason="expected", note="the new kernel checks more")

    assert "ada: Close as expected: the new kernel checks more" in text
    assert set(TrendChange.objects.values_list("phase", "reason", "frozen")) == {("closed", "expected", True)}
    listed = text_of(web.get("/trends/?study=nightly"))
    assert "Closed 1 event" in listed
    assert "Nothing changed" in listed
    assert "acknowledged" in act(web, act="reopen") or the_event().state == "new"


def test_an_act_on_an_event_that_changed_meanwhile_is_refused(web: Client, nightly: None) -> None:
    act(web, act="acknowledge")

    assert "was changed meanwhile" in act(web, act="close", reason="noise", note="slow disk", version=1)
    assert not TrendChange.objects.filter(phase="closed").exists()


def test_some_changes_of_an_event_are_split_off(web: Client, nightly: None) -> None:
    first, second = TrendChange.objects.order_by("pk")

    web.post(f"/trends/events/{the_event().pk}/acts/", {"act": "split", "changes": [first.pk]})

    first.refresh_from_db()
    assert first.event_id != second.event_id
    assert TrendEvent.objects.count() == 2


def test_strangers_see_events_and_decide_nothing(web: Client, stranger: Client, nightly: None) -> None:
    page = text_of(stranger.get(f"/trends/events/{the_event().pk}/"))

    assert "Decide" not in page
    assert stranger.post(f"/trends/events/{the_event().pk}/acts/", {"act": "acknowledge"}).status_code == 302
    assert "Decide" in text_of(web.get(f"/trends/events/{the_event().pk}/"))


def test_late_data_before_a_frozen_change_are_judged_only_when_asked(web: Client, nightly: None) -> None:
    study = make_study("nightly")
    make_run("OSAlate", study=study, device="OSA", started=START - timedelta(days=1), campaign="night -1",
             values={"trans_per_s": 1001.0})  # fmt: skip
    with transaction.atomic():
        look_at(study)
    change = TrendChange.objects.get(dimensions__device="OSA")
    assert (change.data_changed, change.k, change.frozen) == (True, STEP + 1, True)
    source = web.get("/trends/?study=nightly").content.decode()
    address = next(
        unescape(each) for each in re.findall(r'href="(/trends/series/[^"]+)"', source) if "device=OSA" in each
    )
    assert "data changed since" in text_of(web.get(address))

    response = web.post("/trends/judge/nightly/", follow=True)

    assert "All trends of Nightly were judged again." in text_of(response)
    change.refresh_from_db()
    assert (change.data_changed, change.k, change.frozen) == (False, STEP + 1, True)


def test_the_list_is_narrowed(web: Client, nightly: None) -> None:
    assert "15 Aug 2026" in text_of(web.get("/trends/?study=nightly&show=regressed"))
    assert "15 Aug 2026" not in text_of(web.get("/trends/?study=nightly&show=improved"))
    assert web.get("/trends/?study=nightly&show=nosuch").status_code == 400


def test_home_the_study_and_the_first_run_after_a_change_tell_of_it(web: Client, nightly: None) -> None:
    home, study = text_of(web.get("/")), text_of(web.get("/studies/nightly/"))

    for text in (home, study):
        assert "What changed" in text
        assert "Transactions per second regressed. Most series (2 of 3)" in text
        assert "kernel 6.4 → 6.8" in text
    first = TrendChange.objects.get(dimensions__device="OSA").run
    assert "This run is the first after a change: Transactions per second −" in text_of(web.get(f"/runs/{first}/"))
    assert "first after a change" not in text_of(web.get(f"/runs/{first - 1}/"))
    TrendChange.objects.update(phase="gone")
    assert "Nothing changed in 3 series." in text_of(web.get("/"))


@pytest.mark.parametrize("order", ["factor.kernel", "kernel"])
def test_points_follow_a_factor_in_the_order_of_versions(web: Client, ada: User, order: str) -> None:
    study = make_study("kernels", owner=ada, trend_order=order)
    for minor in range(1, 25):
        rate = 1000.0 + minor * 7 % 11 - (100 if minor >= 13 else 0)
        started = START + timedelta(days=(minor * 5) % 24)
        make_run(f"K{minor}", study=study, started=started, campaign=f"c{minor}", factors={"kernel": f"6.{minor}"},
                 values={"trans_per_s": rate})  # fmt: skip
    send_due_looks()
    run_look(claimed())

    source = web.get("/trends/?study=kernels").content.decode()

    (address,) = {unescape(each) for each in re.findall(r'href="(/trends/series/[^"]+)"', source)}
    assert "factor.kernel" not in address
    text = text_of(web.get(address))
    assert re.search(r"Regressed by −10\.0% \(.* to .*\) since 6\.13; 12 campaigns after", text)
    web.post("/studies/kernels/edit/", {"title": "Kernels", "trend_order": "date"})
    study.refresh_from_db()
    assert study.trend_order == "date"
    assert web.post("/studies/kernels/edit/", {"title": "Kernels", "trend_order": "nosuch"}).status_code == 400


@pytest.mark.parametrize(("order", "since"), [("kernel", "6.13"), ("commit", "commit of minor 13")])
def test_points_follow_a_printed_version(web: Client, ada: User, order: str, since: str) -> None:
    """Kernels by their numbers, in whatever order they were run; commits by time, since hashes have no order."""
    study = make_study("printed", owner=ada, trend_order=order)
    for minor in range(1, 25):
        day = (minor * 5) % 24 if order == "kernel" else minor
        run = make_run(f"K{minor}", study=study, started=START + timedelta(days=day), campaign=f"c{minor}",
                       values={"trans_per_s": 1000.0 + minor * 7% 11 - (100 if minor >= 13 else 0)})  # fmt: skip
        said = {"kernel": f"6.{minor}", "commit": f"commit of minor {minor}"}
        facts = {key: {"text": text, "artifact": 0, "line": 1} for key, text in said.items()}
        RunEvidence.objects.filter(run=run).update(facts=facts)
    send_due_looks()
    run_look(claimed())

    source = web.get("/trends/?study=printed").content.decode()

    (address,) = {unescape(each) for each in re.findall(r'href="(/trends/series/[^"]+)"', source)}
    assert re.search(rf"Regressed by .* since {since}; 12 campaigns after", text_of(web.get(address)))


def claimed() -> Job:
    """The only job that waits, claimed."""
    (waiting,) = Job.objects.filter(state="queued")
    job = jobs.claim(waiting.pk)
    assert job is not None
    return job


def test_the_feed_has_one_entry_an_event_and_none_found_late(web: Client, nightly: None) -> None:
    response = web.get("/events.atom?study=nightly")

    assert response.headers["Content-Type"].startswith("application/atom+xml")
    feed = response.content.decode()
    assert feed.count("<entry>") == 1
    assert f"/trends/events/{the_event().pk}/" in feed
    assert "Changed here: kernel 6.4 → 6.8." in feed
    assert web.get("/events.atom?study=nosuch").content.count(b"<entry>") == 0
    TrendChange.objects.update(late=True)
    assert web.get("/events.atom").content.count(b"<entry>") == 0


def test_a_change_without_an_event_is_decided_on_the_page_of_its_series(
    web: Client, stranger: Client, nightly: None
) -> None:
    TrendEvent.objects.all().delete()
    change = TrendChange.objects.earliest("pk")
    TrendChange.objects.filter(pk=change.pk).update(phase="suspect", sure=False, frozen=False)
    acts = f"/trends/changes/{change.pk}/acts/"
    assert stranger.post(acts, {"act": "acknowledge"}).status_code in {302, 403}

    refused = web.post(acts, {"act": "close", "reason": "noise"}, follow=True)

    assert "Write in a few words why the change is closed." in text_of(refused)
    closed = text_of(web.post(acts, {"act": "close", "reason": "noise", "note": "a cable"}, follow=True))
    assert "ada: Close as noise: a cable" in closed
    assert "not a change" in closed
    change.refresh_from_db()
    assert (change.phase, change.reason, change.frozen) == ("closed", "noise", False)
    web.post(acts, {"act": "reopen"})
    change.refresh_from_db()
    assert change.phase == "suspect"
    assert "no act 'split'" in text_of(web.post(acts, {"act": "split"}, follow=True))


def test_an_act_on_one_change_of_an_event_is_the_events(web: Client, nightly: None) -> None:
    change = TrendChange.objects.exclude(event=None).earliest("pk")
    web.post(f"/trends/changes/{change.pk}/acts/", {"act": "acknowledge"})
    change.refresh_from_db()
    assert change.phase == "acknowledged"
    acts = TrendAct.objects.filter(event=change.event_id)
    assert list(acts.values_list("act", "changes")) == [("acknowledge", [change.pk])]


def test_a_history_is_a_picture_by_link(web: Client, nightly: None) -> None:
    source = web.get("/trends/?study=nightly").content.decode()
    address = unescape(re.findall(r'href="(/trends/series/[^"]+)"', source)[0])
    picture = address.replace("/series/", "/series.svg")

    assert "/trends/series.svg?" in web.get(address).content.decode()
    response = web.get(picture)
    assert response["Content-Type"] == "image/svg+xml; charset=utf-8"
    root = ElementTree.fromstring(response.content)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    svg = response.content.decode()
    assert svg.count("<circle") > NIGHTS
    assert "Regressed by" in svg
    style = root.findtext("{http://www.w3.org/2000/svg}style") or ""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in response["Content-Security-Policy"]
    assert web.get("/trends/series.svg?study=nightly&metric=mb_per_s").status_code == 404
    assert web.get("/trends/series.svg?colour=red").status_code == 400
