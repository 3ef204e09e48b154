"""What holds for every page: it answers, obeys the content security policy, and asks strangers to sign in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from perfdb.results.models import Run, RunSource, Upload
from perfdb.web.tests.pages import inline_code, text_of

PAGES = (
    *("home", "search", "runs", "run", "charts", "trends", "compare", "maximum", "studies"),
    *("uploads", "upload-new", "upload", "artifact", "reparse"),
)


def address_of(name: str) -> str:
    """The address of a page, about the one run that there is."""
    if name == "run":
        return reverse("web:run", args=[Run.objects.get().pk])
    if name == "upload":
        return reverse("web:upload", args=[Upload.objects.get().pk])
    if name == "artifact":
        return reverse("web:artifact", args=[RunSource.objects.filter(format="awm").earliest("pk").artifact_id])
    return reverse(f"web:{name}")


@pytest.mark.parametrize("name", PAGES)
def test_it_works(web: Client, run: Run, name: str) -> None:
    response = web.get(address_of(name))

    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("name", PAGES)
def test_nothing_on_it_needs_more_than_the_policy_grants(web: Client, run: Run, name: str) -> None:
    response = web.get(address_of(name))

    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert inline_code(response) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_stranger_is_asked_to_sign_in(stranger: Client, run: Run, settings: Settings, name: str) -> None:
    settings.PUBLIC_READ = False
    address = address_of(name)

    response = stranger.get(address)

    assert response.status_code == 302
    assert response.headers["Location"] == f"/sign-in/?next={address}"


@pytest.mark.parametrize("name", [name for name in PAGES if name != "upload-new"])
def test_a_stranger_reads_where_reading_is_open(stranger: Client, run: Run, settings: Settings, name: str) -> None:
    settings.PUBLIC_READ = True

    assert stranger.get(address_of(name)).status_code == 200


@pytest.mark.parametrize("name", ["home", "runs", "charts", "compare", "maximum", "uploads"])
def test_an_empty_instance_says_what_to_do(web: Client, name: str) -> None:
    response = web.get(reverse(f"web:{name}"))

    assert response.status_code == 200
    assert reverse("web:upload-new") in response.content.decode()


@pytest.mark.parametrize("address", ["/runs/999999/", "/uploads/999999/", "/artifacts/999999/", "/no-such-page/"])
def test_what_is_not_there_is_said_in_the_same_style(web: Client, address: str) -> None:
    response = web.get(address)

    assert response.status_code == 404
    assert "Page not found" in text_of(response)
    assert inline_code(response) == []


def test_an_expired_form_is_explained(ada: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)

    response = strict.post(reverse("web:uploads"))

    assert response.status_code == 403
    assert "form has expired" in text_of(response)


def test_a_mistake_of_perfdb_is_explained(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("broken on purpose")

    web.raise_request_exception = False
    monkeypatch.setattr("perfdb.web.home.views.build_live_comparison", broken)

    response = web.get(reverse("web:home"))

    assert response.status_code == 500
    assert "Something went wrong" in text_of(response)
    assert inline_code(response) == []
