"""Signing in by one-time link and by password, and signing out."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from perfdb.results.models import SignInLink
from perfdb.results.runs import access
from perfdb.web.tests.pages import text_of

PASSWORD = "correct horse battery"


@pytest.fixture
def with_password(ada: User) -> User:
    """Ada, who may sign in by a password too; hashing one takes its time."""
    ada.set_password(PASSWORD)
    ada.save()
    return ada


def link_of(user: User) -> str:
    """A fresh one-time link."""
    return reverse("web:sign-in-link", args=[access.make_sign_in_link(user)])


def test_a_link_signs_in(stranger: Client, ada: User) -> None:
    response = stranger.get(link_of(ada), follow=True)

    assert response.redirect_chain == [("/", 302)]
    assert "Sign out" in text_of(response)


def test_a_used_link_is_refused(ada: User) -> None:
    link = link_of(ada)
    Client().get(link)

    response = Client().get(link)

    assert response.status_code == 403
    assert "no longer works" in text_of(response)


def test_an_expired_link_is_refused(stranger: Client, ada: User) -> None:
    link = link_of(ada)
    SignInLink.objects.update(expires=timezone.now() - timedelta(seconds=1))

    assert stranger.get(link).status_code == 403


def test_who_is_signed_in_may_open_a_used_link_again(stranger: Client, ada: User) -> None:
    link = link_of(ada)
    stranger.get(link)

    assert stranger.get(link).headers["Location"] == "/"


def test_looking_at_a_link_does_not_use_it(stranger: Client, ada: User) -> None:
    link = link_of(ada)

    assert stranger.head(link).status_code == 405
    assert stranger.get(link).status_code == 302


def test_a_password_signs_in_and_leads_on(stranger: Client, with_password: User) -> None:
    given = {"username": "ada", "password": PASSWORD, "next": "/runs/"}

    response = stranger.post(reverse("web:sign-in"), given)

    assert response.headers["Location"] == "/runs/"


@pytest.mark.parametrize("elsewhere", ["https://example.com/", "//example.com/", "javascript:alert(1)"])
def test_it_never_leads_to_another_site(stranger: Client, with_password: User, elsewhere: str) -> None:
    given = {"username": "ada", "password": PASSWORD, "next": elsewhere}

    assert stranger.post(reverse("web:sign-in"), given).headers["Location"] == "/"


def test_a_wrong_password_is_refused(stranger: Client, with_password: User) -> None:
    response = stranger.post(reverse("web:sign-in"), {"username": "ada", "password": "wrong"})

    assert response.status_code == 200
    assert "correct username and password" in text_of(response)
    assert "_auth_user_id" not in stranger.session


def test_signing_out_ends_the_session(web: Client) -> None:
    assert web.get(reverse("web:sign-out")).status_code == 405

    web.post(reverse("web:sign-out"))

    assert "_auth_user_id" not in web.session
