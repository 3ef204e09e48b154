"""Endpoints of subscriptions: who is told of which changes."""

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.api.permissions import signed_in
from perfdb.api.schema import describe
from perfdb.api.serializers import validate
from perfdb.results.models import Subscription
from perfdb.results.trends.subscriptions import describe_filters, subscribe

_MOST_MESSAGES = 20


class NewSubscriptionSerializer(serializers.Serializer[Any]):
    """Whom to tell of which changes."""

    address = serializers.CharField(max_length=500, help_text="A mail address, or the URL of a webhook")
    study = serializers.CharField(required=False, allow_blank=True, help_text="Slug; all studies when left out")
    effect = serializers.CharField(
        required=False, allow_blank=True, help_text="`regressed` or `improved`; any change when left out"
    )
    only = serializers.CharField(
        required=False, allow_blank=True, max_length=400, help_text="Properties of the series: `device:OSA users:50`"
    )


class MessageSerializer(serializers.Serializer[Any]):
    """A message of a subscription."""

    id = serializers.IntegerField()
    event = serializers.IntegerField(allow_null=True, help_text="Null for a test")
    state = serializers.CharField(help_text="`waiting`, `sent` or `failed`")
    attempts = serializers.IntegerField()
    answer = serializers.CharField(help_text="How the last attempt ended")
    created = serializers.DateTimeField()
    due = serializers.DateTimeField(allow_null=True, help_text="When the next attempt is made")
    sent = serializers.DateTimeField(allow_null=True)


class SubscriptionSerializer(NewSubscriptionSerializer):
    """A subscription with the newest messages."""

    id = serializers.IntegerField()
    secret = serializers.CharField(allow_null=True, help_text="Signs the messages to a webhook")
    messages = MessageSerializer(many=True)


class SubscriptionListSerializer(serializers.Serializer[Any]):
    """All subscriptions of a person."""

    results = SubscriptionSerializer(many=True)


@describe("subscriptions", "Your subscriptions", SubscriptionListSerializer)
@describe("subscribe", "Subscribe to changes", {201: SubscriptionSerializer}, post=NewSubscriptionSerializer)
@api_view(["GET", "POST"])
def subscriptions(request: Request) -> Response:
    """List the subscriptions of the token's owner, or make one.

    Each confirmed event that matches is told once, by mail or to a webhook, which is signed as
    https://www.standardwebhooks.com describes.
    """
    owner = signed_in(request)
    if request.method == "GET":
        found = owner.subscriptions.select_related("study").prefetch_related("deliveries")
        return Response({"results": [_subscription(each) for each in found]})
    given = validate(NewSubscriptionSerializer, request.data)
    return Response(_subscription(subscribe(owner, **given)), status=201)


@describe("unsubscribe", "Delete a subscription", {204: None}, (404,), method="DELETE")
@describe("subscription", "One of your subscriptions", SubscriptionSerializer, (404,))
@api_view(["GET", "DELETE"])
def subscription(request: Request, pk: int) -> Response:
    """Return a subscription of the token's owner with the newest messages, or delete it."""
    found = get_object_or_404(Subscription, pk=pk, owner=signed_in(request))
    if request.method == "DELETE":
        found.delete()
        return Response(status=204)
    return Response(_subscription(found))


def _subscription(found: Subscription) -> dict[str, Any]:
    return {
        "id": found.pk,
        "address": found.address,
        "study": found.study and found.study.slug,
        "effect": found.effect,
        "only": describe_filters(found),
        "secret": found.secret or None,
        "messages": [
            {
                "id": each.pk,
                "event": each.event_id,
                "state": each.state,
                "attempts": each.attempts,
                "answer": each.answer,
                "created": each.created,
                "due": each.due if each.state == each.State.WAITING else None,
                "sent": each.sent,
            }
            for each in list(found.deliveries.all())[:_MOST_MESSAGES]
        ],
    }
