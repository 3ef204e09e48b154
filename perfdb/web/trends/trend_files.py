"""Trends for other programs: the Atom feed of events, and the picture of a history for reports and issue trackers."""

import base64
import hashlib

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.runs import access
from perfdb.results.trends.read_trends import find_events
from perfdb.web.questions.picture_views import read_colours
from perfdb.web.tables.filter_form import error_status
from perfdb.web.trends.event_lines import EventLine, event_line
from perfdb.web.trends.trends_page import read_asked_series
from perfdb.web.view_access import read_required

_MOST = 100


@read_required()
def event_feed(request: HttpRequest) -> HttpResponse:
    """Return the newest events of all studies, or of the one that ``study`` names, as Atom; none found late."""
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
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=error_status(error))
    if study is None or page is None:
        raise Http404
    height = page["plot"].height + _HEAD
    context = {"page": page, "study": study, "style": STYLE, "height": height, "head": _HEAD}
    return HttpResponse(render_to_string("web/trend.svg", context), "image/svg+xml; charset=utf-8")
