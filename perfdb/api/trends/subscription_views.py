"""Endpoints of subscriptions: who is told of which changes."""

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.api.permissions import signed_in
from perfdb.api.schema import describe
from perfdb.api.serializers import validate
from perfdb.api.trends.serializers import NewSubscriptionSerializer, SubscriptionListSerializer, SubscriptionSerializer
from perfdb.results.models import Subscription
from perfdb.results.trends.subscriptions import describe_filters, subscribe

_MOST_MESSAGES = 20


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
