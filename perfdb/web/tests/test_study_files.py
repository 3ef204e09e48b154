"""A report to take away: one file that needs nothing from elsewhere, and a PDF."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.test import Client

from frontend.tests.browser import system_browser
from perfdb.results import tasks
from perfdb.results.models import Job
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.studies import study_details
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.pages import text_of
from perfdb.web.tests.test_studies import HIPERSOCKETS, load

# What makes a browser fetch something; links and data do not.
_FETCHING = {"src", "srcset", "action", "formaction", "poster", "background", "ping"}


class References(HTMLParser):
    """Collects what a page would fetch, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in _FETCHING or (name == "href" and tag != "a") or name.startswith(("hx-get", "hx-post")):
                self.fetched.append(f"<{tag} {name}={value}>")
            elif name == "href" and value:
                self.links.append(value)


def test_it_needs_nothing_from_elsewhere_and_leads_back(web: Client) -> None:
    load(HIPERSOCKETS)
    response = web.get(f"/studies/{HIPERSOCKETS}/report.html")
    source = response.content.decode()
    assert response.headers["Content-Disposition"] == f'attachment; filename="{HIPERSOCKETS}.html"'
    found = References()
    found.feed(source)
    assert found.fetched == []
    inside = {link for link in found.links if link.startswith("#")}
    assert len(found.links) > 500
    assert all(link.startswith("http://testserver/") for link in found.links if link not in inside)
    anchors = set(re.findall(r' id="([^"]+)"', source))
    assert {link.removeprefix("#") for link in inside} <= anchors
    styles = source[source.index("<style>") : source.index("</style>")]
    assert "url(" not in styles
    assert "@import" not in styles
    assert source.count('<perf-chart data-figure="figure-of') == 6
    assert "default-src 'none'" in source


def test_texts_that_look_like_links_or_scripts_stay_as_they_are(web: Client) -> None:
    study = make_study(purpose='x href="/y" </script><script>z')
    make_run(study=study)
    source = web.get("/studies/guest-lan/report.html").content.decode()
    assert "x href=&quot;/y&quot; &lt;/script&gt;&lt;script&gt;z" in source


def test_its_plan_has_no_form(web: Client) -> None:
    study = make_study(plan=[{"device": ["A"]}])
    found = References()
    found.feed(web.get(f"/studies/{study.slug}/report.html").content.decode())
    assert found.fetched == []


def worked() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        tasks.run_job(job.pk)


def test_as_pdf(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    program = system_browser()
    if program is None:
        pytest.skip("no browser on this machine")
    monkeypatch.setenv("PERFDB_CHROMIUM", program)
    load(HIPERSOCKETS)
    address = f"/studies/{HIPERSOCKETS}/report.pdf"
    waiting = web.get(address)
    assert waiting.status_code == 202
    assert "is being printed" in text_of(waiting)
    web.get(address)
    worked()
    assert "The PDF is ready" in text_of(web.get(f"{address}?look"))
    response = web.get(address)
    assert response.headers["Content-Type"] == "application/pdf"
    assert response.content.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", response.content)) > 5
    assert Job.objects.exclude(kind="trends").count() == 1


def test_a_report_that_changed_is_printed_anew(web: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.write_text(
        '#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) echo %PDF- > "${word#*=}";; esac; done\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PERFDB_CHROMIUM", str(program))
    study = make_study()
    address = "/studies/guest-lan/report.pdf"
    web.get(address)
    worked()
    first = Job.objects.get().outcome["file"]
    assert default_storage.exists(first)
    touch_study(study)
    assert web.get(address).status_code == 202
    worked()
    assert web.get(address).status_code == 200
    assert not default_storage.exists(first)
    assert Job.objects.count() == 1
    default_storage.delete(Job.objects.get().outcome["file"])
    assert web.get(address, follow=True).status_code == 202


def test_a_published_report_is_printed_without_signing_in(stranger: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFDB_CHROMIUM", "/no/such/browser")
    token = study_details.publish_study(make_study())
    assert stranger.get(f"/shared/{token}/report.pdf").status_code == 202
    assert stranger.get("/studies/guest-lan/report.pdf").status_code == 302
    worked()
    response = stranger.get(f"/shared/{token}/report.pdf")
    assert response.status_code == 500
    assert f"/shared/{token}/" in response.content.decode()


def test_without_a_browser_on_the_server_the_visitor_has_one(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study()
    monkeypatch.delenv("PERFDB_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    web.get("/studies/guest-lan/report.pdf")
    worked()
    response = web.get("/studies/guest-lan/report.pdf")
    assert response.status_code == 501
    assert "Print the page of Guest Lan in your browser" in text_of(response)


def test_a_browser_that_fails_is_quoted_and_may_be_tried_again(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study()
    monkeypatch.setenv("PERFDB_CHROMIUM", "/no/such/browser")
    web.get("/studies/guest-lan/report.pdf")
    worked()
    response = web.get("/studies/guest-lan/report.pdf")
    assert response.status_code == 500
    assert "/no/such/browser cannot be run" in text_of(response)
    assert web.post("/studies/guest-lan/report.pdf", follow=True).status_code == 202
