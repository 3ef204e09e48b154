"""Who is told of an event, once; and messages that reach their servers, signed, or are tried again."""

import json
import socket
from collections.abc import Iterator, Mapping
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Delivery, Study, Subscription, TrendChange, TrendEvent
from perfdb.results.tests.builders import catch_messages, make_study
from perfdb.results.trends import deliver
from perfdb.results.trends.subscriptions import announce_events, describe_filters, matches, send_test, subscribe

SUMMARY = {
    "parts": [
        {
            "metric": "trans_per_s",
            "better": False,
            "neutral": False,
            "rule": {"terms": [["device", "OSA"]], "f1": 1.0, "hits": 3, "matching": 3},
            "members": 3,
            "series": 6,
            "logarithmic": True,
            "size": [-0.06, -0.065, -0.055],
            "agreeing": 0,
        }
    ],
    "differs": [{"key": "kernel", "old": ["6.8"], "new": ["6.9"], "weight": "can explain it", "why": "other software"}],
    "sides": ["campaign", "night 41", "night 42"],
}


class Receiver:
    """An HTTP server that keeps what is posted, and answers with ``status``."""

    def __init__(self) -> None:
        self.status = 204
        self.got: list[tuple[Mapping[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    thread = Thread(target=found.server.serve_forever, daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The messages of which any worker would be told."""
    return catch_messages(monkeypatch)


@pytest.fixture
def study(owner: User) -> Study:
    return make_study("nightly", owner=owner)


def make_event(study: Study, *, metric: str = "trans_per_s", difference: float = -0.06, **more: Any) -> TrendEvent:
    """Return an event with one confirmed change of OSA at 10 users."""
    event = TrendEvent.objects.create(study=study, run=1, began="2026-10-20T02:00:00+00:00", summary=SUMMARY)
    values: dict[str, Any] = {
        "series": "0" * 16,
        "metric": metric,
        "dimensions": {"device": "OSA", "users": 10},
        "run": 1,
        "k": 20,
        "first": 19,
        "last": 21,
        "points": 30,
        "shape": "step",
        "logarithmic": True,
        "difference": difference,
        "low": difference - 0.01,
        "high": difference + 0.01,
        "p": 0.001,
        "q": 0.002,
        "phase": "confirmed",
        "sure": True,
    }
    TrendChange.objects.create(study=study, event=event, **values | more)
    return event


def announce(study: Study) -> list[Delivery]:
    with transaction.atomic():
        return announce_events(study)


URL = "https://hooks.example.org/perfdb"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, True),
        ({"effect": "regressed"}, True),
        ({"effect": "improved"}, False),
        ({"only": "device:OSA users:10"}, True),
        ({"only": "device:OSA device:vCTC"}, True),
        ({"only": "device:vCTC"}, False),
        ({"only": "mtu:1500"}, False),
        ({"only": "metric:trans_per_s"}, True),
        ({"only": "metric:cpu_ms_per_trans"}, False),
    ],
)
def test_a_subscription_asks_for_changes_by_effect_metric_and_dimension(
    owner: User, study: Study, asked: dict[str, str], told: bool
) -> None:
    subscription = subscribe(owner, URL, study=study.slug, **asked)
    assert matches(subscription, make_event(study)) is told


def test_lower_is_better_for_a_cost(owner: User, study: Study) -> None:
    subscription = subscribe(owner, URL, effect="improved")
    assert matches(subscription, make_event(study, metric="cpu_ms_per_trans"))


def test_another_study_and_a_person_who_left_are_not_told(owner: User, study: Study) -> None:
    elsewhere = subscribe(owner, URL, study=make_study("other", owner=owner).slug)
    here, event = subscribe(owner, URL, study=study.slug), make_event(study)
    assert not matches(elsewhere, event)
    assert matches(here, event)
    here.owner.is_active = False
    assert not matches(here, event)


def test_an_event_is_announced_once(owner: User, study: Study) -> None:
    subscribe(owner, URL, study=study.slug)
    event = make_event(study)

    (message,) = announce(study)

    assert announce(study) == []
    event.refresh_from_db()
    assert event.announced is not None
    assert message.message["parts"][0]["said"] == "All Device OSA (3 of 3): −5.8% (−6.3% to −5.4%)."
    assert message.message["url"] == f"http://localhost:8000/trends/events/{event.pk}/"
    subscribe(owner, URL)
    assert announce(study) == []


@pytest.mark.parametrize("more", [{"late": True}, {"phase": "closed", "reason": "fixed"}, {"phase": "gone"}])
def test_a_late_closed_or_gone_event_is_not_announced(owner: User, study: Study, more: dict[str, Any]) -> None:
    subscribe(owner, URL)
    make_event(study, **more)
    assert announce(study) == []


@pytest.mark.parametrize(
    ("asked", "parameter"),
    [
        ({"address": "nobody"}, "address"),
        ({"address": "ftp://example.org/"}, "address"),
        ({"address": "http://"}, "address"),
        ({"address": "ada@example.org"}, "address"),
        ({"address": URL, "only": "OSA"}, "only"),
        ({"address": URL, "only": 'device:"OSA'}, "only"),
        ({"address": URL, "only": "study:nightly"}, "only"),
        ({"address": URL, "only": "rows:device"}, "only"),
        ({"address": URL, "only": "colour:red"}, "colour"),
        ({"address": URL, "effect": "worse"}, "effect"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(owner: User, asked: dict[str, str], parameter: str) -> None:
    with pytest.raises(QueryError) as caught:
        subscribe(owner, asked["address"], effect=asked.get("effect", ""), only=asked.get("only", ""))
    assert caught.value.parameter == parameter
    assert not Subscription.objects.exists()


def test_filters_are_shown_as_they_were_typed(owner: User) -> None:
    subscription = subscribe(owner, URL, only='users:50 device:"Guest LAN"')
    assert describe_filters(subscription) == "device:'Guest LAN' users:50"


def test_the_signature_is_that_of_the_standard() -> None:
    """The example of the specification's own libraries."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    found = deliver.sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def send(sent: list[int], message: Delivery) -> Delivery:
    """Send what is due, as sweep and worker would."""
    deliver.send_due()
    for pk in sent:
        deliver.deliver(pk)
    sent.clear()
    message.refresh_from_db()
    return message


def test_a_webhook_gets_a_signed_message(owner: User, study: Study, receiver: Receiver, sent: list[int]) -> None:
    subscription = subscribe(owner, receiver.url, study=study.slug)
    event = make_event(study)

    message = send(sent, *announce(study))

    assert (message.state, message.attempts, message.answer) == ("sent", 1, "accepted")
    ((headers, body),) = receiver.got
    told = json.loads(body)
    assert (told["type"], told["event"], told["differences"][0]["new"]) == ("event.confirmed", event.pk, ["6.9"])
    stamp = int(headers["webhook-timestamp"])
    signature = deliver.sign(subscription.secret, f"perfdb-{message.pk}", stamp, body)
    assert headers["webhook-signature"] == signature
    assert headers["webhook-id"] == f"perfdb-{message.pk}"
    deliver.deliver(message.pk)
    assert len(receiver.got) == 1


@pytest.mark.parametrize(("status", "answer"), [(503, "503 Service Unavailable"), (302, "302 Found"), (404, "404")])
def test_a_refused_message_is_tried_again_later(
    owner: User, receiver: Receiver, sent: list[int], status: int, answer: str
) -> None:
    receiver.status = status
    message = send(sent, send_test(subscribe(owner, receiver.url)))
    assert (message.state, message.attempts) == ("waiting", 1)
    assert answer in message.answer
    assert timedelta(0) < message.due - timezone.now() <= deliver.WAITS[0]
    assert send(sent, message).attempts == 1

    receiver.status = 200
    Delivery.objects.update(due=timezone.now())
    assert send(sent, message).state == "sent"
    assert [headers["webhook-id"] for headers, _ in receiver.got] == [f"perfdb-{message.pk}"] * 2


def test_a_message_fails_after_the_last_attempt_and_can_be_sent_again(
    owner: User, receiver: Receiver, sent: list[int]
) -> None:
    receiver.server.server_close()
    message = send_test(subscribe(owner, receiver.url))
    for _ in range(len(deliver.WAITS) + 1):
        assert message.state == "waiting"
        Delivery.objects.update(due=timezone.now())
        send(sent, message)
    assert (message.state, message.attempts) == ("failed", len(deliver.WAITS) + 1)
    assert "not reached" in message.answer

    deliver.send_again(message)
    assert send(sent, message).attempts == 1


class Mailbox:
    """Keep what an SMTP server receives."""

    def __init__(self) -> None:
        self.got: list[EmailMessage] = []

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: N802
        """Keep a message."""
        self.got.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 kept"


def test_mail_reaches_a_mail_server(owner: User, study: Study, settings: Settings, sent: list[int]) -> None:
    mailbox = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Controller(mailbox, hostname="127.0.0.1", port=port)
    server.start()
    try:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        settings.MAIL_IS_SET_UP = True
        subscription = subscribe(owner, "team@example.org", study=study.slug)
        make_event(study)
        message = send(sent, *announce(study))
    finally:
        server.stop()
    assert subscription.secret == ""
    assert (message.state, message.answer) == ("sent", "accepted")
    (mail,) = mailbox.got
    assert mail["Subject"] == "Nightly, 20 Oct 2026: Transactions per second regressed"
    assert mail["To"] == "team@example.org"
    text = mail.get_content()
    assert "All Device OSA (3 of 3): −5.8%" in text
    assert "kernel 6.8 → 6.9" in text
    assert message.message["url"] in text


def test_a_mail_server_that_is_away_is_asked_again(owner: User, settings: Settings, sent: list[int]) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.MAIL_IS_SET_UP = "127.0.0.1", 9, True
    message = send(sent, send_test(subscribe(owner, "team@example.org")))
    assert (message.state, message.attempts) == ("waiting", 1)
    assert "mail server did not accept" in message.answer
