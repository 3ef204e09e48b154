"""The start page."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from perfdb.results.ingest import uploads
from perfdb.results.models import DimensionCount, Job, Run, Study, StudyActivity, Upload
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.conftest import Bring, case
from perfdb.web.tests.pages import text_of

HTMX = {"HX-Request": "true"}


def home(web: Client, **more: str) -> str:
    return web.get(reverse("web:home"), headers=more).content.decode()


def received(ada: User) -> Upload:
    """An upload that no worker has looked at yet."""
    files = [(path.name, ContentFile(path.read_bytes())) for path in case("awm/three_runs")]
    return uploads.receive(ada, files, preview=True)


def test_a_study_says_what_it_holds(web: Client) -> None:
    study = make_study("spring", purpose="Whether the adapter beats the switch.")
    for number, device in enumerate(("OSA", "OSA", "HiperSockets")):
        make_run(f"R{number}", study=study, device=device)
    make_run("gone", study=study, status="withdrawn")

    text = " ".join(text_of(web.get(reverse("web:home"))).split())

    assert "Whether the adapter beats the switch." in text
    assert "3 runs over 2 devices in 1 study" in text
    assert "HiperSockets · OSA" in text


def test_thousands_of_runs_are_set_apart(web: Client, run: Run) -> None:
    StudyActivity.objects.update(runs=12345)
    DimensionCount.objects.filter(name="").update(runs=12345)
    assert "12,345 runs" in text_of(web.get(reverse("web:home")))
    assert "12,345" in text_of(web.get(reverse("web:studies")))


def test_a_study_leads_to_the_questions_of_its_workloads(web: Client, bring: Bring) -> None:
    study = Study.objects.create(slug="spring", title="Spring")
    bring(study=study)
    bring("awm/three_runs", study=study)
    workloads = Run.objects.order_by("workload__name").values_list("workload__name", flat=True).distinct()

    source = home(web)

    named = [f"Charts of Spring, {workload}" for workload in workloads]
    for name in (*named, "Compare: Spring", "Ranking: Spring"):
        (address,) = re.findall(rf'<a href="([^"]+)" aria-label="{re.escape(name)}">', source)
        assert web.get(address.replace("&amp;", "&")).status_code == 200
        assert "study=spring" in address


def test_the_study_in_which_something_happened_last_comes_first(web: Client) -> None:
    for year, slug in ((2003, "autumn"), (2005, "spring"), (2004, "winter")):
        make_run(study=make_study(slug))
        StudyActivity.objects.filter(study__slug=slug).update(changed=datetime(year, 1, 1, tzinfo=UTC))

    assert re.findall(r'<th scope="row"><a href="/studies/(\w+)/">', home(web)) == ["spring", "winter", "autumn"]


def test_a_study_without_runs_is_left_out(web: Client, run: Run) -> None:
    Study.objects.create(slug="empty", title="Nothing in it")

    assert "Nothing in it" not in text_of(web.get(reverse("web:home")))


def test_an_upload_in_progress_is_watched_until_it_is_done(web: Client, ada: User, bring: Bring) -> None:
    upload = received(ada)
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.PARSING, files_read=1)

    source = home(web)
    assert 'hx-trigger="every' in source
    assert '<progress max="3" value="1"' in source or "1 of " in source
    watching = web.get(reverse("web:home"), headers=HTMX)
    assert "HX-Retarget" not in watching.headers

    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.PREVIEW, runs_found=3)
    done = web.get(reverse("web:home"), headers=HTMX)
    assert done.headers["HX-Retarget"] == "#home"
    assert 'hx-trigger="every' not in done.content.decode()
    assert "Look at 3 runs and decide" in done.content.decode()


def test_an_upload_that_stores_runs_says_how_many(web: Client, ada: User) -> None:
    upload = received(ada)
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.LOADING, runs_found=240, runs_loaded=60)

    assert "60 of 240" in home(web)


def test_a_failure_is_told_for_some_days(web: Client, ada: User) -> None:
    upload = received(ada)
    Upload.objects.filter(pk=upload.pk).update(state=Upload.State.FAILED)
    assert "1 upload failed in the last 7 days" in home(web)
    assert "see why" in home(web)

    Upload.objects.filter(pk=upload.pk).update(created=timezone.now() - timedelta(days=30))
    assert "see why" not in home(web)


def test_nothing_is_watched_where_nothing_is_in_progress(web: Client, run: Run) -> None:
    source = home(web)

    assert 'hx-trigger="every' not in source
    assert "aria-busy" not in source


def test_more_studies_uploads_and_devices_cost_no_more_queries(
    web: Client, ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    received(ada)
    for number in range(5):
        make_run(f"R{number}", study=make_study(f"study-{number}"), device=f"device {number}")
    # The session and its user; uploads open, stored and failed, files of those in progress; studies, their values,
    # totals; own uploads; the experiments of three studies; events and looks of trends.
    with django_assert_num_queries(15):
        home(web)


def test_of_many_studies_those_that_changed_last_are_shown(web: Client, ada: User) -> None:
    for number in range(14):
        make_run(f"R{number}", study=make_study(f"study-{number:02}"))
    page = web.get(reverse("web:home"))
    assert page.content.count(b'<th scope="row"><a href="/studies/') == 12
    assert "14 runs over 1 device in 14 studies" in text_of(page)


@pytest.mark.parametrize("staff", [True, False])
def test_an_empty_instance_offers_staff_a_demonstration(web: Client, ada: User, staff: bool) -> None:
    User.objects.filter(pk=ada.pk).update(is_staff=staff)
    address = reverse("web:demonstration")

    assert (f'action="{address}"' in home(web)) == staff
    answer = web.post(address)

    assert answer.status_code == (302 if staff else 403)
    assert Upload.objects.filter(study__slug="demo").exists() == staff
    assert Job.objects.filter(kind="studies").exists() == staff


def test_a_reader_who_is_not_signed_in_is_asked_to_before_a_demonstration(
    db: None, client: Client, settings: Settings
) -> None:
    settings.PUBLIC_READ = True

    answer = client.post(reverse("web:demonstration"))

    assert answer["Location"].startswith("/sign-in/")
    assert not Job.objects.filter(kind="studies").exists()


def test_a_demonstration_that_was_undone_comes_back_when_it_is_asked_for(web: Client, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    web.post(reverse("web:demonstration"))
    web.post(reverse("web:demonstration"))
    assert Upload.objects.filter(study__slug="demo").count() == 1

    Upload.objects.update(state=Upload.State.UNDONE)
    web.post(reverse("web:demonstration"))

    assert Upload.objects.filter(study__slug="demo").count() == 2


def test_it_asks_the_question_and_opens_three_doors(web: Client) -> None:
    for device, rate in (("QDIO", 100.0), ("HiperSockets", 130.0)):
        for users in (1, 10):
            for trial, change in enumerate((0.99, 1.0, 1.01), start=1):
                values = {"trans_per_s": rate * users * change, "cpu_ms_per_trans": 0.1}
                make_run(f"{device}{users}", device=device, users=users, trial=trial, values=values)
    page = web.get(reverse("web:home"))

    text = text_of(page)
    assert "Which network setup is faster, what does it cost in CPU, and is the difference real?" in text
    assert "QDIO against HiperSockets: 2 matched pairs, one sentence, every trial." in text
    assert "HiperSockets is fastest of 2 devices: 1300 transactions per second (MTU 1492 · 10 users)." in text
    assert "QDIO follows at −23%." in text
    (address,) = re.findall(r'<a href="([^"]+)"><strong>See a comparison', page.content.decode())
    assert "in both matched pairs" in text_of(web.get(unescape(address)))


def test_without_two_devices_there_is_no_live_comparison(web: Client, run: Run) -> None:
    text = text_of(web.get(reverse("web:home")))

    assert "Which device is fastest?" not in text
    assert "Upload logs" in text


def test_an_upload_that_stored_runs_is_one_line(web: Client, bring: Bring) -> None:
    bring("awm/three_runs")

    assert re.search(r"Upload \d+ \d+ runs stored", " ".join(text_of(web.get(reverse("web:home"))).split()))
