"""The Atom feed of events: one entry an event, never one found late."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from perfdb.results.runs import access
from perfdb.results.trends.read_trends import find_events
from perfdb.web.trends.event_lines import EventLine, event_line
from perfdb.web.view_access import read_required

_MOST = 100


@read_required()
def event_feed(request: HttpRequest) -> HttpResponse:
    """Return the newest events of all studies, or of the one that ``study`` names, as Atom."""
    studies = access.visible_studies(request.user)
    if slug := request.GET.get("study", ""):
        studies = studies.filter(slug=slug)
    address = request.build_absolute_uri(reverse("web:trends"))
    feed = Atom1Feed(title="What changed: perfdb", link=address, description="", feed_url=request.build_absolute_uri())
    for event in find_events(studies)[:_MOST]:
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
        updateddate=_newest(event.created, *(row.confirmed for row in event.changes.all())),
        categories=[event.study.slug, *sorted(line.effects)],
    )


def _newest(*moments: datetime | None) -> datetime:
    return max(moment for moment in moments if moment is not None)
