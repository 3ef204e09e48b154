"""Sending messages: signed webhooks and mail, tried again until a server accepts them.

Webhooks follow https://www.standardwebhooks.com: a receiver checks `webhook-signature` with the secret, and knows a
message that comes twice by `webhook-id`. Messages are no jobs: a job is tried again within seconds and then given up,
a message over two days.
"""

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from smtplib import SMTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from perfdb.analysis.insights.circumstances import values_text
from perfdb.analysis.trends.words import day_text
from perfdb.results.models import Delivery

logger = logging.getLogger(__name__)

TASK = "perfdb.results.tasks.deliver_message"
# The wait after each attempt; after the last one the message has failed.
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480, 1440))
TIMEOUT_S = 10


class _NoRedirects(HTTPRedirectHandler):
    """Leave redirects alone, so that a message goes nowhere but to the given address."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Return no further request."""


_OPENER = build_opener(_NoRedirects)


def send_due() -> None:
    """Send each due message to the workers; its next attempt is due after the next wait."""
    now = timezone.now()
    with transaction.atomic():
        due = Delivery.objects.select_for_update(skip_locked=True).filter(state=Delivery.State.WAITING, due__lte=now)
        found = list(due.order_by("due")[:100])
        for each in found:
            each.due = now + WAITS[min(each.attempts, len(WAITS) - 1)]
            each.attempts += 1
        Delivery.objects.bulk_update(found, ["due", "attempts"])
    for each in found:
        try:
            current_app.send_task(TASK, [each.pk])
        except OperationalError as error:
            logger.warning("%s waits, for the broker is away: %s", each, error)


def deliver(pk: int) -> None:
    """Send one message, and note how that went."""
    found = Delivery.objects.select_related("subscription").filter(pk=pk, state=Delivery.State.WAITING).first()
    if found is None:
        return
    problem = _post(found) if found.subscription.is_webhook else _mail(found)
    found.answer = problem or "accepted"
    if not problem:
        found.state, found.sent = Delivery.State.SENT, timezone.now()
    elif found.attempts > len(WAITS):
        found.state = Delivery.State.FAILED
    Delivery.objects.filter(pk=pk).update(answer=found.answer, state=found.state, sent=found.sent)


def send_again(delivery: Delivery) -> None:
    """Start the attempts of a failed message anew."""
    failed = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.FAILED)
    failed.update(state=Delivery.State.WAITING, attempts=0, due=timezone.now())


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a webhook's message; ``secret`` as in ``whsec_MfKQ9r8G…``."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(signed).decode()}"


def _post(delivery: Delivery) -> str:
    """Post a message; return what went wrong, else an empty text."""
    body = json.dumps(delivery.message, ensure_ascii=False).encode()
    message_id, moment = f"perfdb-{delivery.pk}", int(timezone.now().timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"perfdb/{settings.VERSION}",
        "webhook-id": message_id,
        "webhook-timestamp": str(moment),
        "webhook-signature": sign(delivery.subscription.secret, message_id, moment, body),
    }
    request = Request(delivery.subscription.address, body, headers, method="POST")
    try:
        with _OPENER.open(request, timeout=TIMEOUT_S):
            return ""
    except HTTPError as error:
        phrase = HTTPStatus(error.code).phrase if error.code in list(HTTPStatus) else ""
        return f"the server answered {error.code} {phrase}".strip()
    except (URLError, OSError, ValueError) as error:
        return f"not reached: {getattr(error, 'reason', error)}"


def _mail(delivery: Delivery) -> str:
    """Mail a message; return what went wrong, else an empty text."""
    host = urlsplit(settings.SITE_URL).hostname or "localhost"
    headers, to = {"Message-ID": f"<perfdb-{delivery.pk}@{host}>"}, [delivery.subscription.address]
    try:
        EmailMessage(write_subject(delivery.message), write_text(delivery.message), to=to, headers=headers).send()
    except (SMTPException, OSError) as error:
        return f"the mail server did not accept the message: {error}"
    return ""


def write_subject(message: Mapping[str, Any]) -> str:
    """Return a mail's subject: ``Nightly, 20 Oct 2026: Transactions per second regressed``."""
    if message["type"] == "test":
        return "perfdb: a test"
    told = ", ".join(f"{part['title']} {part['effect']}" for part in message["parts"])
    return f"{message['study_title']}, {day_text(message['began'] or '') or 'new campaign'}: {told}"


def write_text(message: Mapping[str, Any]) -> str:
    """Return a mail's text."""
    if message["type"] == "test":
        lines = ["This is a test of a subscription. Confirmed changes will be told at this address."]
    else:
        lines = [f"{part['title']} {part['effect']}. {part['said']}" for part in message["parts"]]
        changed = [
            f"{each['key']} {values_text(each['old'])} → {values_text(each['new'])}" for each in message["differences"]
        ]
        lines += ["", f"Changed at this place (candidates, not causes): {', '.join(changed) or 'nothing recorded'}."]
    end = f"Change what you are told: {settings.SITE_URL}/subscriptions/"
    return "\n".join([*lines, "", message["url"], "", end, ""])
