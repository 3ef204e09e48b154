"""Editor of a report: its items in order, each in a form with preview."""

from dataclasses import asdict, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import RemovedItem, ReportItem, SavedQuery, Study
from perfdb.results.runs.access import ChangedMeanwhileError
from perfdb.results.studies import report_items
from perfdb.results.studies.report_items import ItemText, Kind, choose_number, count_runs, list_items, parse_item
from perfdb.web.reports.report_page import Part, build_report, preview_item
from perfdb.web.view_access import get_own_study, person_of, sign_in_required

# Removed items offered to be restored.
MOST_REMOVED = 10

HEADING = "heading"
"""The kind of a new text that is a heading alone."""
ADDING = (
    (Kind.PROSE, "Text"),
    (Kind.FIGURE, "Chart or table"),
    (Kind.FINDING, "Finding"),
    (HEADING, "Heading"),
)
_NAMES = {Kind.PROSE: "Text", Kind.FINDING: "Finding", Kind.TABLE: "Table", Kind.FIGURE: "Chart"}
_SHOWN_AS = ((Kind.FIGURE, "Chart"), (Kind.TABLE, "Table"))


def _parse_order(data: QueryDict) -> list[int]:
    """Return item ids in the order of a form. Raise QueryError.

    ``item``: ids as shown; ``place``: the number typed beside each; ``move``: ``ID:STEPS`` of a pressed button.
    """
    try:
        shown = [int(text) for text in data.getlist("item")]
        places = [float(text) for text in data.getlist("place")]
        moved, _, steps = data.get("move", "0:0").partition(":")
        pk, by = int(moved), int(steps or 0)
    except ValueError:
        raise QueryError("place", "a place in the report is a number") from None
    typed = dict(zip(shown, places, strict=False))
    # A new number goes before the item that had it.
    found = sorted(shown, key=lambda each: (typed.get(each, 0), typed.get(each) == shown.index(each) + 1))
    if pk in found:
        place = found.index(pk)
        found.insert(max(0, place + by), found.pop(place))
    return found


def offered_queries(study: Study, user: Any, kind: str, before: str) -> list[tuple[str, str]]:
    """Return (name, address to add) of a person's saved views that fit the study."""
    if kind not in (Kind.FIGURE, Kind.TABLE):
        return []
    found = SavedQuery.objects.filter(owner=user).order_by("name")
    add = f"{reverse('web:report-item-new', args=[study.slug])}?kind={kind}"
    add += f"&before={before}" if before else ""
    return [(saved.name, f"{add}&saved={saved.pk}") for saved in found if saved.study_id in (None, study.pk)]


def begin_item(data: QueryDict, user: Any) -> ItemText:
    """Return a new item as the address begins it.

    A named query or questions in the address become the queries of a table or figure, or charts in prose.
    """
    kind = data.get("kind", Kind.PROSE)
    if kind == HEADING:
        kind = Kind.PROSE
    chosen = str(data.get("saved", ""))
    saved = SavedQuery.objects.filter(owner=user, pk=chosen).first() if chosen.isdecimal() else None
    asked = [f"/{saved.page}/?{saved.query}"] if saved else data.getlist("query")
    title = saved.name if saved else data.get("title", "")
    if kind in (Kind.PROSE, Kind.FINDING) and asked:
        return ItemText(kind, "", title, "", "\n\n".join(f"```chart\n{text}\n```" for text in asked))
    return ItemText(kind, "", title, "\n".join(asked), "")


def preview_text(study: Study, written: ItemText) -> Part | QueryError:
    """Return an item answered, or the error in its text."""
    try:
        columns = parse_item(
            study, written if written.kind == Kind.PROSE else replace(written, title=written.title or "…")
        )
        columns["number"] = columns["number"] or choose_number(study, columns["kind"], "")
        return preview_item(ReportItem(study=study, position=0, **columns))
    except QueryError as error:
        return error


def _differences(item: ReportItem, written: ItemText) -> list[tuple[str, str]]:
    """Return (title, text) of the fields that somebody else has changed meanwhile."""
    mine = asdict(written)
    theirs = asdict(ItemText.from_item(item))
    return [(name.capitalize(), text) for name, text in theirs.items() if text != mine[name]]


@sign_in_required("GET", "POST")
def items_list(request: HttpRequest, slug: str) -> HttpResponse:
    """List the items of a report; POST changes their order."""
    study = get_own_study(request, slug)
    if request.method == "POST":
        try:
            report_items.reorder_items(study, _parse_order(request.POST))
        except QueryError as error:
            return _list(request, study, error)
        if not _in_place(request):
            return redirect("web:report-edit", slug=slug)
    return _list(request, study)


def _list(request: HttpRequest, study: Study, error: QueryError | None = None) -> HttpResponse:
    # A text without a title is called by its beginning.
    lines = [
        {"item": item, "kind": _NAMES[Kind(item.kind)], "name": item.title or Truncator(item.prose).words(6)}
        for item in list_items(study)
    ]
    context = {
        "study": study,
        "blocks": list(zip(lines, build_report(study, [], count_runs(study))["parts"], strict=True)),
        "removed": list(study.removed_items.all()[:MOST_REMOVED]),
        "adding": ADDING,
        "error": error,
    }
    return render(request, "web/report_edit.html", context, status=400 if error else 200)


@sign_in_required("GET", "POST")
def item_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Add an item; the address may give ``kind``, ``title``, and ``query`` or ``saved``."""
    study = get_own_study(request, slug)
    if request.method == "GET":
        written, before = begin_item(request.GET, request.user), request.GET.get("before", "")
        more = {"heading": request.GET.get("kind") == HEADING, "before": before}
        offered = offered_queries(study, request.user, written.kind, before)
        return _form(request, study, written, reverse("web:report-item-new", args=[slug]), offered=offered, **more)
    written, before = ItemText.from_form(request.POST.dict()), request.POST.get("before", "")
    context = {"action": reverse("web:report-item-new", args=[slug]), "before": before}
    if "preview" in request.POST:
        return _form(request, study, written, **context)
    try:
        item = report_items.add_item(study, written, int(before) if before.isdecimal() else None)
    except QueryError as error:
        return _form(request, study, written, error=error, **context)
    messages.success(request, f"“{item.title or 'Text'}” is in the report.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{item.pk}")


@sign_in_required("GET", "POST")
def item_edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Edit an item; after a conflict, show the changes of others."""
    study = get_own_study(request, slug)
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=study, pk=pk)
    action = reverse("web:report-item", args=[slug, pk])
    if request.method == "GET":
        return _form(request, study, ItemText.from_item(item), action, item=item, version=item.version)
    written = ItemText.from_form({"kind": item.kind, **request.POST.dict()})
    text = request.POST.get("version", "")
    version = int(text) if text.isdecimal() and len(text) < 10 else 0
    if "preview" in request.POST:
        return _form(request, study, written, action, item=item, version=version)
    if "autosave" in request.POST:
        return _autosave(request, item, written, version)
    try:
        report_items.change_item(item, written, version)
    except QueryError as error:
        return _form(request, study, written, action, item=item, version=version, error=error)
    except ChangedMeanwhileError:
        item.refresh_from_db()
        theirs = _differences(item, written)
        return _form(request, study, written, action, item=item, version=item.version, theirs=theirs)
    messages.success(request, f"“{written.title or 'Text'}” was changed.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{pk}")


def _autosave(request: HttpRequest, item: ReportItem, written: ItemText, version: int) -> HttpResponse:
    """Save a part while it is written; return the state of saving and what the part becomes."""
    context: dict[str, Any] = {"id": item.pk, "autosaved": True, "saved_at": timezone.now(), "version": version}
    context |= {"study": item.study, "item": item, "written": written}
    try:
        report_items.change_item(item, written, version)
        context["version"] = version + 1
    except QueryError as error:
        context["error"] = error
    except ChangedMeanwhileError:
        item.refresh_from_db()
        context["their_version"] = item.version
    context |= _previewed(item.study, replace(written, number=item.number))
    return render(request, "web/parts/report_autosaved.html", context)


def _previewed(study: Study, written: ItemText) -> dict[str, Any]:
    """Return the template context of a part's preview: the part, or the error in its text."""
    found = preview_text(study, written)
    return {"wrong": found} if isinstance(found, QueryError) else {"part": found}


def _in_place(request: HttpRequest) -> bool:
    """Return whether the form is shown within the report."""
    return "HX-Request" in request.headers


def _form(request: HttpRequest, study: Study, written: ItemText, action: str, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "written": written,
        "action": action,
        "shown_as": _SHOWN_AS,
        "in_place": _in_place(request),
        **more,
        **_previewed(study, written),
    }
    status = 409 if more.get("theirs") is not None else 400 if more.get("error") else 200
    return render(request, "web/report_item_edit.html", context, status=status)


@sign_in_required()
def item_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Remove an item, which can be restored."""
    item = get_object_or_404(ReportItem.objects.select_related("study"), study=get_own_study(request, slug), pk=pk)
    report_items.remove_item(item, person_of(request))
    messages.success(request, f"“{item.title or 'Text'}” removed. You can put it back below.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#removed")


@sign_in_required()
def item_put_back(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put a removed item back into the report."""
    study = get_own_study(request, slug)
    item = report_items.restore_item(get_object_or_404(RemovedItem.objects.select_related("study"), study=study, pk=pk))
    messages.success(request, f"“{item.title or 'Text'}” is back in the report.")
    return redirect(f"{reverse('web:report-edit', args=[slug])}#item-{item.pk}")
