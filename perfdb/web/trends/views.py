"""Views of trends: what changed in a study, events, the history of one experiment, and subscriptions.

For other programs: the Atom feed of events, and the picture of a history for reports and issue trackers.
"""

import base64
import hashlib

from csp.decorators import csp_update
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.text import capfirst

from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import Query
from perfdb.analysis.trends.words import REASON_WORDS
from perfdb.results.models import Delivery, Study, Subscription, TrendChange, TrendEvent
from perfdb.results.runs import access
from perfdb.results.runs.access import ChangedMeanwhileError
from perfdb.results.trends import deliver
from perfdb.results.trends.acts import Act, act_on, act_on_change, judge_again
from perfdb.results.trends.read_trends import find_events, read_trends
from perfdb.results.trends.subscriptions import describe_filters, send_test, subscribe
from perfdb.web.questions.picture_views import read_colours
from perfdb.web.tables import filter_form
from perfdb.web.trends.event_lines import EventLine, build_event_page, event_line, series_address
from perfdb.web.trends.trends_page import SHOWN, build_page, read_asked_series
from perfdb.web.view_access import get_own_study, person_of, read_required, sign_in_required


@read_required()
def trends(request: HttpRequest) -> HttpResponse:
    """Show what changed in a study, by default in the one with the newest event, else the one that changed last."""
    studies = access.visible_studies(request.user).filter(activity__runs__gt=0).order_by("-activity__changed", "title")
    shown = request.GET.get("show", "")
    context: dict[str, object] = {"studies": studies, "choices": SHOWN.items(), "shown": shown}
    try:
        if shown not in SHOWN:
            raise QueryError("show", f"trends cannot show {shown!r}", list(filter(None, SHOWN)))
        study = _study(request, list(studies))
        context |= {"chosen": study, "may_change": study and access.may_change(request.user, study)}
        if study:
            context["trends"] = build_page(study, read_trends(study), shown, request.user.pk)
    except QueryError as error:
        return render(request, "web/trends.html", context | {"error": error}, status=filter_form.error_status(error))
    return render(request, "web/trends.html", context)


def _study(request: HttpRequest, known: list[Study]) -> Study | None:
    """Return the study asked for, or the most interesting one. Raise QueryError for an unknown one."""
    asked = request.GET.get("study", "")
    if asked:
        filter_form.check_studies(Query().with_filter("study", asked))
        return Study.objects.filter(slug=asked).first()
    newest = find_events(known).filter(changes__isnull=False).first()
    return newest.study if newest else next(iter(known), None)


@read_required()
def trend(request: HttpRequest) -> HttpResponse:
    """Show the history of one metric of one experiment."""
    try:
        study, page = read_asked_series(request)
    except QueryError as error:
        return render(request, "web/trend.html", {"error": error}, status=filter_form.error_status(error))
    if page is None or study is None:
        raise Http404
    context = {
        "study": study,
        "page": page,
        "may_change": access.may_change(request.user, study),
        "reasons": REASON_WORDS.items(),
        "picture": f"{reverse('web:trend-picture')}?{request.GET.urlencode()}",
    }
    return render(request, "web/trend.html", context)


def _event(request: HttpRequest, pk: int) -> TrendEvent:
    """Return an event of a study that the visitor can see. Raise Http404."""
    studies = access.visible_studies(request.user).filter(trend_events=pk)
    return get_object_or_404(find_events(studies), pk=pk)


@read_required()
def event(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an event: changes, circumstances around, and acts of people."""
    found = _event(request, pk)
    context = {
        "page": build_event_page(event_line(found)),
        "study": found.study,
        "reasons": REASON_WORDS.items(),
        "people": User.objects.filter(is_active=True).order_by("username"),
        "may_change": access.may_change(request.user, found.study),
    }
    return render(request, "web/trend_event.html", context)


@sign_in_required()
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """Do an act on an event, or on some of its changes."""
    found = _event(request, pk)
    get_own_study(request, found.study.slug)
    given = {name: request.POST.get(name, "") for name in ("reason", "note", "user", "url")}
    changes = [int(text) for text in request.POST.getlist("changes") if text.isdecimal()]
    version = request.POST.get("version", "")
    asked = Act(request.POST.get("act", ""), changes=changes, **given)
    try:
        found = act_on(found, asked, person_of(request), int(version) if version.isdecimal() else None)
    except (QueryError, ChangedMeanwhileError) as error:
        messages.error(request, f"{capfirst(str(error))}.")
    return redirect("web:trend-event", found.pk)


@sign_in_required()
def act_on_one(request: HttpRequest, pk: int) -> HttpResponse:
    """Do an act on a single change, also one that belongs to no event."""
    found = get_object_or_404(TrendChange.objects.select_related("study"), pk=pk)
    get_own_study(request, found.study.slug)
    asked = Act(request.POST.get("act", ""), request.POST.get("reason", ""), request.POST.get("note", ""))
    try:
        act_on_change(found, asked, person_of(request))
    except QueryError as error:
        messages.error(request, f"{capfirst(str(error))}.")
    return redirect(series_address(found.study, Measure.parse(found.metric), found.dimensions))


@sign_in_required()
def judge(request: HttpRequest, slug: str) -> HttpResponse:
    """Judge a study's histories anew, also before changes whose data changed since."""
    study = get_own_study(request, slug)
    judge_again(study)
    messages.success(request, f"All trends of {study.title} were judged again.")
    return redirect(f"{reverse('web:trends')}?study={study.slug}")


# The most events of a feed.
_MOST_EVENTS = 100


@read_required()
def event_feed(request: HttpRequest) -> HttpResponse:
    """Return the newest events of all studies, or of the one that ``study`` names, as Atom; none found late."""
    studies = access.visible_studies(request.user)
    if slug := request.GET.get("study", ""):
        studies = studies.filter(slug=slug)
    address = request.build_absolute_uri(reverse("web:trends"))
    feed = Atom1Feed(title="What changed: perfdb", link=address, description="", feed_url=request.build_absolute_uri())
    for event in find_events(studies)[:_MOST_EVENTS]:
        if event.state != "gone" and not event.late:
            _add(feed, request, event_line(event))
    return HttpResponse(feed.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def _add(feed: Atom1Feed, request: HttpRequest, line: EventLine) -> None:
    told = [f"{part.title} {part.effect}. {part.said}" for part in line.parts]
    told += [f"Changed here: {each.title} {each.old} → {each.new}." for each in line.differs]
    event = line.event
    feed.add_item(
        title=f"{event.study.title}, {line.day}: {line.title}",
        link=request.build_absolute_uri(line.address),
        description=" ".join(told),
        pubdate=event.created,
        updateddate=max(filter(None, (event.created, *(row.confirmed for row in event.changes.all())))),
        categories=[event.study.slug, *sorted(line.effects)],
    )


# The rules of the page's style sheet; a file of its own does not know the variables.
STYLE = (
    "svg{{font:12px sans-serif;color:{text}}}text{{fill:{muted}}}"
    "text.title{{fill:{text};font-weight:bold;font-size:14px}}"
    "circle{{fill:{surface};stroke:currentColor}}.trial{{fill:{line-strong};stroke:none}}"
    ".level{{stroke:{accent};stroke-width:2}}.axis{{stroke:{line}}}.place{{fill:{mark}}}"
    ".band{{fill:{series-0};opacity:.08}}.mark{{fill:{muted};stroke:{muted}}}"
    ".mark.better{{fill:{good};stroke:{good}}}.mark.worse{{fill:{bad};stroke:{bad}}}.mark.hollow{{fill:none}}"
).format_map(read_colours("light"))
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_HEAD = 52


@read_required()
@csp_update({"style-src": [f"'sha256-{_HASH}'"]})
def trend_picture(request: HttpRequest) -> HttpResponse:
    """Return the history that the page of the same address shows, as SVG."""
    try:
        study, page = read_asked_series(request)
    except QueryError as error:
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=filter_form.error_status(error))
    if study is None or page is None:
        raise Http404
    height = page["plot"].height + _HEAD
    context = {"page": page, "study": study, "style": STYLE, "height": height, "head": _HEAD}
    return HttpResponse(render_to_string("web/trend.svg", context), "image/svg+xml; charset=utf-8")


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


def _own_subscription(request: HttpRequest, pk: int) -> Subscription:
    return get_object_or_404(Subscription, pk=pk, owner=person_of(request))


@sign_in_required()
def unsubscribe(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a subscription with its messages."""
    _own_subscription(request, pk).delete()
    messages.success(request, "Deleted.")
    return redirect("web:subscriptions")


@sign_in_required()
def test_subscription(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a message without an event."""
    send_test(_own_subscription(request, pk))
    deliver.send_due()
    messages.success(request, "A test is on its way.")
    return redirect("web:subscriptions")


@sign_in_required()
def send_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Start the attempts of a failed message anew."""
    deliver.send_again(get_object_or_404(Delivery, pk=pk, subscription__owner=person_of(request)))
    deliver.send_due()
    return redirect("web:subscriptions")
