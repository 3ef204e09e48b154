"""The editor of a report: what its list and the form of an item offer."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import RemovedItem, ReportItem, SavedQuery, Study
from perfdb.results.studies.report_items import ItemText, Kind, choose_number, count_runs, list_items, parse_item
from perfdb.web.reports.report_page import Part, preview, stale

# So many of what was taken out are offered to be put back.
MOST_REMOVED = 10

KINDS = (
    (Kind.PROSE, "Prose"),
    (Kind.FINDING, "Finding"),
    (Kind.TABLE, "Table"),
    (Kind.FIGURE, "Figure"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """An item in the list of the editor; ``first`` and ``last`` cannot go further."""

    item: ReportItem
    place: int
    stale: str
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Theirs:
    """A field that somebody else changed meanwhile, as it is now."""

    title: str
    text: str


def lines(study: Study) -> list[Line]:
    """The items in their order."""
    items, runs = list_items(study), count_runs(study)
    return [
        Line(item, place, stale(item.written_with, runs), place == 1, place == len(items))
        for place, item in enumerate(items, 1)
    ]


def removed(study: Study) -> Sequence[RemovedItem]:
    """What was taken out last."""
    return list(study.removed_items.all()[:MOST_REMOVED])


def order(data: QueryDict) -> list[int]:
    """The order of ids that a form asks for: by the places typed in, one of them moved up or down by a button.

    ``item`` are the ids as shown and ``place`` beside each what was typed; ``move`` is ``ID:STEPS``. Raises QueryError.
    """
    try:
        shown = [int(text) for text in data.getlist("item")]
        places = [float(text) for text in data.getlist("place")]
        moved, _, steps = data.get("move", "0:0").partition(":")
        pk, by = int(moved), int(steps or 0)
    except ValueError:
        raise QueryError("place", "a place in the report is a number") from None
    typed = dict(zip(shown, places, strict=False))
    # What was typed anew goes before what stood there.
    found = sorted(shown, key=lambda each: (typed.get(each, 0), typed.get(each) == shown.index(each) + 1))
    if pk in found:
        place = found.index(pk)
        found.insert(max(0, place + by), found.pop(place))
    return found


def offered(study: Study, user: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """What a table or figure can be made of at once: named queries, each with the addresses that add it."""
    found = SavedQuery.objects.filter(owner=user).order_by("name")
    add = reverse("web:report-item-new", args=[study.slug])
    return [
        (saved.name, [(title, f"{add}?kind={kind}&saved={saved.pk}") for kind, title in KINDS if kind != Kind.FINDING])
        for saved in found
        if saved.study_id in (None, study.pk)
    ]


def begun(study: Study, data: QueryDict, user: Any) -> ItemText:
    """A new item as an address begins it: its kind, and the named query or the questions that it is to show."""
    kind = data.get("kind", Kind.PROSE)
    chosen = str(data.get("saved", ""))
    saved = SavedQuery.objects.filter(owner=user, pk=chosen).first() if chosen.isdecimal() else None
    asked = [f"/{saved.page}/?{saved.query}"] if saved else data.getlist("query")
    title = saved.name if saved else data.get("title", "")
    if kind in (Kind.PROSE, Kind.FINDING) and asked:
        return ItemText(kind, "", title, "", "\n\n".join(f"```chart\n{text}\n```" for text in asked))
    return ItemText(kind, "", title, "\n".join(asked), "")


def shown(study: Study, written: ItemText) -> Part | QueryError:
    """An item as it is being written, or what is wrong with it."""
    try:
        columns = parse_item(study, replace(written, title=written.title or "…"))
        columns["number"] = columns["number"] or choose_number(study, columns["kind"], "")
        return preview(ReportItem(study=study, position=0, **columns))
    except QueryError as error:
        return error


def differing(item: ReportItem, written: ItemText) -> list[Theirs]:
    """What others made of an item meanwhile, field by field where it is not what was written here."""
    theirs = ItemText.from_item(item)
    named = [(each.name, getattr(theirs, each.name)) for each in fields(ItemText)]
    return [Theirs(name.capitalize(), text) for name, text in named if text != getattr(written, name)]
