"""Views of subscriptions: who is told of which changes, and the messages sent."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Delivery, Subscription
from perfdb.results.runs import access
from perfdb.results.trends import deliver
from perfdb.results.trends.subscriptions import describe_filters, send_test, subscribe
from perfdb.web.view_access import person_of, sign_in_required

_MOST_MESSAGES = 10


@sign_in_required("GET", "POST")
def subscriptions(request: HttpRequest) -> HttpResponse:
    """List the person's subscriptions with their messages; POST makes one."""
    error = None
    given = request.POST if request.method == "POST" else request.GET
    if request.method == "POST":
        try:
            chosen = {name: given.get(name, "") for name in ("study", "effect", "only")}
            subscribe(person_of(request), given.get("address", ""), **chosen)
        except QueryError as problem:
            error = problem
        else:
            messages.success(request, "Subscribed. Confirmed changes will be told at this address; try it with a test.")
            return redirect("web:subscriptions")
    own = person_of(request).subscriptions.select_related("study")
    context = {
        "lines": [
            {
                "subscription": each,
                "only": describe_filters(each),
                "messages": list(each.deliveries.all()[:_MOST_MESSAGES]),
            }
            for each in own
        ],
        "studies": access.visible_studies(request.user).order_by("title"),
        "effects": Subscription.Effect.choices,
        "given": given,
        "error": error,
        "mail": settings.MAIL_IS_SET_UP,
    }
    return render(request, "web/subscriptions.html", context, status=400 if error else 200)


def _own(request: HttpRequest, pk: int) -> Subscription:
    return get_object_or_404(Subscription, pk=pk, owner=person_of(request))


@sign_in_required()
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a subscription with its messages."""
    _own(request, pk).delete()
    messages.success(request, "Deleted.")
    return redirect("web:subscriptions")


@sign_in_required()
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a message without an event."""
    send_test(_own(request, pk))
    deliver.send_due()
    messages.success(request, "A test is on its way.")
    return redirect("web:subscriptions")


@sign_in_required()
def send_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Start the attempts of a failed message anew."""
    deliver.send_again(get_object_or_404(Delivery, pk=pk, subscription__owner=person_of(request)))
    deliver.send_due()
    return redirect("web:subscriptions")
