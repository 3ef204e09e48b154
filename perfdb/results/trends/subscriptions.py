"""Subscriptions: who is told of which events."""

import base64
import secrets
import shlex
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, URLValidator
from django.urls import reverse
from django.utils import timezone

from perfdb.analysis.metrics import BY_NAME, Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import PARAMETERS, Query
from perfdb.analysis.trends.words import effect_text
from perfdb.results.models import Delivery, Study, Subscription, TrendChange, TrendEvent
from perfdb.results.runs import access
from perfdb.results.trends.event_rows import is_member, read_differences, read_parts

MOST_SUBSCRIPTIONS = 50


def subscribe(owner: User, address: str, *, study: str = "", effect: str = "", only: str = "") -> Subscription:
    """Store a subscription. Raise QueryError.

    ``study`` is a slug, empty for all studies; ``only`` narrows the series: ``device:OSA metric:trans_per_s``.
    """
    chosen = access.visible_studies(owner).filter(slug=study).first()
    if study and chosen is None:
        raise QueryError("study", f"there is no study {study!r}")
    address = address.strip()
    if effect not in Subscription.Effect.values:
        raise QueryError("effect", f"there are no {effect!r} changes", list(filter(None, Subscription.Effect.values)))
    if owner.subscriptions.count() >= MOST_SUBSCRIPTIONS:
        raise QueryError("address", f"a person has at most {MOST_SUBSCRIPTIONS} subscriptions; delete one first")
    found = Subscription(owner=owner, study=chosen, effect=effect, query=parse_filters(only).encode(), address=address)
    _check_address(found)
    if found.is_webhook:
        found.secret = f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}"
    found.save()
    return found


def _check_address(subscription: Subscription) -> None:
    check: Callable[[str], object] = URLValidator(["http", "https"]) if subscription.is_webhook else EmailValidator()
    try:
        check(subscription.address)
    except ValidationError as error:
        text = f"{subscription.address!r} is neither a mail address nor an http or https URL"
        raise QueryError("address", text) from error
    if not subscription.is_webhook and not settings.MAIL_IS_SET_UP:
        raise QueryError("address", "this perfdb sends no mail, for EMAIL_URL is not set; a webhook's URL works")


def parse_filters(text: str) -> Query:
    """Return the metrics and dimensions that a text like ``device:"Guest LAN" users:50`` names. Raise QueryError."""
    try:
        terms = [term.partition(":") for term in shlex.split(text)]
    except ValueError as error:
        raise QueryError("only", f"{text!r} has a quotation mark without its end") from error
    for name, colon, value in terms:
        if not (colon and value) or name == "study" or (name in PARAMETERS and name != "metric"):
            raise QueryError("only", f"{name + colon + value!r} is not of the form device:OSA or metric:trans_per_s")
    return Query.parse((name, value) for name, _, value in terms)


def describe_filters(subscription: Subscription) -> str:
    """Return the metrics and dimensions of a subscription as they were typed; empty if all count."""
    asked = Query.parse(parse_qsl(subscription.query))
    return " ".join(f"{name}:{shlex.quote(value)}" for name, value in asked.pairs())


def matches(subscription: Subscription, event: TrendEvent) -> bool:
    """Return whether an event holds a change that a subscription asks for, and the owner may see."""
    owner = subscription.owner
    if not owner.is_active or not access.visible_studies(owner).filter(pk=event.study_id).exists():
        return False
    if subscription.study_id not in (None, event.study_id):
        return False
    asked = Query.parse(parse_qsl(subscription.query))
    return any(_fits(row, asked, subscription.effect) for row in event.changes.all() if is_member(row))


def _fits(row: TrendChange, asked: Query, effect: str) -> bool:
    measure = Measure.parse(row.metric)
    if effect and effect != effect_text(BY_NAME[measure.metric], row.difference):
        return False
    if asked.metrics and measure not in asked.metrics:
        return False
    return all(row.dimensions.get(name) in values for name, values in asked.filters.items())


def announce_events(study: Study) -> list[Delivery]:
    """Write a message on each event not announced yet to each subscription that matches; return the messages.

    An event is announced once, with or without subscriptions; one found late, closed or gone never is.
    """
    waiting = TrendEvent.objects.filter(study=study, order=study.trend_order, announced=None)
    events = [each for each in waiting.prefetch_related("changes") if each.state in {"new", "open"} and not each.late]
    now = timezone.now()
    TrendEvent.objects.filter(pk__in=[each.pk for each in events]).update(announced=now)
    if not events:
        return []
    subscriptions = Subscription.objects.select_related("owner")
    return Delivery.objects.bulk_create(
        Delivery(subscription=each, event=event, message=describe_event(event, study), due=now)
        for event in events
        for each in subscriptions
        if matches(each, event)
    )


def describe_event(event: TrendEvent, study: Study) -> Mapping[str, Any]:
    """Return what a message tells of an event."""
    return {
        "type": "event.confirmed",
        "event": event.pk,
        "study": study.slug,
        "study_title": study.title,
        "began": event.began or None,
        "url": f"{settings.SITE_URL}{reverse('web:trend-event', args=[event.pk])}",
        "parts": [
            {"metric": part.metric, "title": part.title, "effect": part.effect, "said": part.said,
             "series": part.members}
            for part in read_parts(event)
        ],
        "differences": [{"key": each.key, "old": each.old, "new": each.new} for each in read_differences(event)],
    }  # fmt: skip


def send_test(subscription: Subscription) -> Delivery:
    """Write a message without an event to a subscription."""
    message = {"type": "test", "url": f"{settings.SITE_URL}{reverse('web:subscriptions')}"}
    return Delivery.objects.create(subscription=subscription, message=message, due=timezone.now())
