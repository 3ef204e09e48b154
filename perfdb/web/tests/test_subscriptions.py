"""The page of subscriptions: one's own, with the messages sent."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from perfdb.results.models import Delivery, Subscription
from perfdb.results.tests.builders import catch_messages, make_study
from perfdb.results.trends.subscriptions import subscribe
from perfdb.web.tests.pages import text_of

URL = "https://hooks.example.org/perfdb"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The messages of which any worker would be told."""
    return catch_messages(monkeypatch)


def test_a_person_subscribes_and_sees_it(web: Client, ada: User) -> None:
    make_study("nightly", owner=ada)
    asked = {"address": URL, "study": "nightly", "effect": "regressed", "only": "device:OSA"}

    text = text_of(web.post("/subscriptions/", asked, follow=True))

    assert "Regressions in Nightly" in text
    assert "only of series with device:OSA" in text
    assert "No message yet." in text
    (found,) = Subscription.objects.all()
    assert (found.owner, found.secret[:6]) == (ada, "whsec_")
    assert found.secret in text


def test_what_is_wrong_stays_in_the_form(web: Client) -> None:
    response = web.post("/subscriptions/", {"address": "nobody", "only": "device:OSA"})
    assert response.status_code == 400
    assert "'nobody' is neither a mail address nor an http or https URL." in text_of(response)
    assert 'value="nobody"' in response.content.decode()
    unknown = web.post("/subscriptions/", {"address": URL, "study": "nowhere"})
    assert "There is no study 'nowhere'." in text_of(unknown)
    assert not Subscription.objects.exists()


def test_a_test_and_a_failed_message_are_sent(web: Client, ada: User, sent: list[int]) -> None:
    subscription = subscribe(ada, URL)
    assert "a test" in text_of(web.post(f"/subscriptions/{subscription.pk}/test/", follow=True))
    message = Delivery.objects.get()
    assert sent == [message.pk]

    Delivery.objects.update(state="failed", attempts=7, answer="not reached: no such host", due=timezone.now())
    text = text_of(web.get("/subscriptions/"))
    assert "failed 7 not reached: no such host Send again" in text
    web.post(f"/subscriptions/messages/{message.pk}/again/")
    assert sent == [message.pk, message.pk]


def test_nobody_sees_or_touches_subscriptions_of_others(web: Client, stranger: Client, ada: User) -> None:
    subscription = subscribe(ada, URL)
    message = Delivery.objects.create(subscription=subscription, message={"type": "test"}, due=timezone.now())
    assert URL not in text_of(stranger.get("/subscriptions/", follow=True))
    for path in (f"{subscription.pk}/delete/", f"{subscription.pk}/test/", f"messages/{message.pk}/again/"):
        assert stranger.post(f"/subscriptions/{path}").status_code in {302, 404}
    assert Delivery.objects.count() == 1
    web.post(f"/subscriptions/{subscription.pk}/delete/")
    assert not Subscription.objects.exists()
