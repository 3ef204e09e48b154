"""Views of the report editor: the list of items, and an item's form."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import RemovedItem, ReportItem, SavedQuery, Study
from perfdb.results.runs import access
from perfdb.results.studies import report_items
from perfdb.results.studies.report_items import (
    ChangedMeanwhileError,
    ItemText,
    Kind,
    choose_number,
    count_runs,
    list_items,
    parse_item,
)
from perfdb.web.reports.report_page import Part, preview, stale
from perfdb.web.studies.study_edit_views import study_to_change

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
    """An item in the editor's list; ``first`` and ``last`` are its ends."""

    item: ReportItem
    place: int
    stale: str
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Theirs:
    """A field changed by someone else, with its present text."""

    title: str
    text: str


def lines(study: Study) -> list[Line]:
    """Return the items in order."""
    items, runs = list_items(study), count_runs(study)
    return [
        Line(item, place, stale(item.written_with, runs), place == 1, place == len(items))
        for place, item in enumerate(items, 1)
    ]


def removed(study: Study) -> Sequence[RemovedItem]:
    """Return the items removed last."""
    return list(study.removed_items.all()[:MOST_REMOVED])


def order(data: QueryDict) -> list[int]:
    """Return the ids in a form's order: by typed places or a move.

    ``item`` are the ids as shown and ``place`` the typed places; ``move`` is ``ID:STEPS``. Raise QueryError.
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
    """Return saved queries that can become an item, with addresses."""
    found = SavedQuery.objects.filter(owner=user).order_by("name")
    add = reverse("web:report-item-new", args=[study.slug])
    return [
        (saved.name, [(title, f"{add}?kind={kind}&saved={saved.pk}") for kind, title in KINDS if kind != Kind.FINDING])
        for saved in found
        if saved.study_id in (None, study.pk)
    ]


def begun(study: Study, data: QueryDict, user: Any) -> ItemText:
    """Return a new item from an address: kind, and saved query or questions."""
    kind = data.get("kind", Kind.PROSE)
    chosen = str(data.get("saved", ""))
    saved = SavedQuery.objects.filter(owner=user, pk=chosen).first() if chosen.isdecimal() else None
    asked = [f"/{saved.page}/?{saved.query}"] if saved else data.getlist("query")
    title = saved.name if saved else data.get("title", "")
    if kind in (Kind.PROSE, Kind.FINDING) and asked:
        return ItemText(kind, "", title, "", "\n\n".join(f"```chart\n{text}\n```" for text in asked))
    return ItemText(kind, "", title, "\n".join(asked), "")


def shown(study: Study, written: ItemText) -> Part | QueryError:
    """Return the preview of an edited item, or its error."""
    try:
        columns = parse_item(study, replace(written, title=written.title or "…"))
        columns["number"] = columns["number"] or choose_number(study, columns["kind"], "")
        return preview(ReportItem(study=study, position=0, **columns))
    except QueryError as error:
        return error


def differing(item: ReportItem, written: ItemText) -> list[Theirs]:
    """Return the fields of an item that someone else changed."""
    theirs = ItemText.from_item(item)
    named = [(each.name, getattr(theirs, each.name)) for each in fields(ItemText)]
    return [Theirs(name.capitalize(), text) for name, text in named if text != getattr(written, name)]


@require_http_methods(["GET", "POST"])
@login_required
def items_list(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the items of a report; POST reorders them."""
    study = study_to_change(request, slug)
    if request.method == "POST":
        try:
            report_items.reorder_items(study, order(request.POST))
        except QueryError as error:
            return _list(request, study, error)
        if not request.headers.get("HX-Request"):
            return redirect("web:report-edit", slug=slug)
    return _list(request, study)


def _list(request: HttpRequest, study: Study, error: QueryError | None = None) -> HttpResponse:
    context = {
        "study": study,
        "lines": lines(study),
        "removed": removed(study),
        "kinds": KINDS,
        "offered": offered(study, request.user),
        "error": error,
    }
    return render(request, "web/report_edit.html", context, status=400 if error else 200)


@require_http_methods(["GET", "POST"])
@login_required
def item_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Show or store a new item, from ``kind``, ``title``, ``query`` or ``saved``."""
    study = study_to_change(request, slug)
    if request.method == "GET":
        written = begun(study, request.GET, request.user)
        return _form(request, study, written, reverse("web:report-item-new", args=[slug]))
    written = ItemText.from_form(request.POST.dict())
    context = {"action": reverse("web:report-item-new", args=[slug])}
    if "preview" in request.POST:
        return _form(request, study, written, **context)
    try:
        item = report_items.add_item(study, written)
    except QueryError as error:
        return _form(request, study, written, error=error, **context)
    messages.success(request, f"“{item.title}” is in the report.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{item.pk}")


@require_http_methods(["GET", "POST"])
@login_required
def item_edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show or store an item's form, with others' changes beside it."""
    study = study_to_change(request, slug)
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=study, pk=pk)
    action = reverse("web:report-item", args=[slug, pk])
    if request.method == "GET":
        return _form(request, study, ItemText.from_item(item), action, item=item, version=item.version)
    written = ItemText.from_form({"kind": item.kind, **request.POST.dict()})
    text = request.POST.get("version", "")
    version = int(text) if text.isdecimal() and len(text) < 10 else 0
    if "preview" in request.POST:
        return _form(request, study, written, action, item=item, version=version)
    try:
        report_items.change_item(item, written, version)
    except QueryError as error:
        return _form(request, study, written, action, item=item, version=version, error=error)
    except ChangedMeanwhileError:
        item.refresh_from_db()
        theirs = differing(item, written)
        return _form(request, study, written, action, item=item, version=item.version, theirs=theirs)
    messages.success(request, f"“{written.title}” was changed.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{pk}")


def _form(request: HttpRequest, study: Study, written: ItemText, action: str, **more: Any) -> HttpResponse:
    context = {"study": study, "written": written, "action": action, "kinds": KINDS, **more}
    found = shown(study, written)
    context |= {"wrong": found} if isinstance(found, QueryError) else {"part": found}
    status = 409 if more.get("theirs") is not None else 400 if more.get("error") else 200
    return render(request, "web/report_item_edit.html", context, status=status)


@require_POST
@login_required
def item_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Remove an item; the list offers to put it back."""
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=study_to_change(request, slug), pk=pk)
    report_items.remove_item(item, access.signed_in_user(request.user))
    messages.success(request, f"“{item.title}” was taken out. It can be put back below.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#removed")


@require_POST
@login_required
def item_put_back(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put back a removed item."""
    study = study_to_change(request, slug)
    item = report_items.restore_item(get_object_or_404(RemovedItem.objects.select_related("study"), study=study, pk=pk))
    messages.success(request, f"“{item.title}” is back in the report.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{item.pk}")
