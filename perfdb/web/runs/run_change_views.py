"""What people do to a run from its page: notes, tags, withdrawing it and taking that back."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import withdraw as withdrawing
from perfdb.results.models import Note, Run
from perfdb.results.runs import access, notes, tags


@require_POST
@login_required
def note_add(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a note on a run."""
    run = get_object_or_404(Run.objects.select_related("study"), pk=pk)
    author = access.signed_in_user(request.user)
    return _done(request, pk, "notes", lambda: notes.add_note(author, run, request.POST.get("text", "")))


@require_POST
@login_required
def note_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Put another text in a note's place."""
    note = _own(request, pk)
    editor = access.signed_in_user(request.user)
    return _done(request, note.run_id, "notes", lambda: notes.edit_note(editor, note, request.POST.get("text", "")))


@require_POST
@login_required
def note_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a note; the run's history keeps its text."""
    note = _own(request, pk)
    editor = access.signed_in_user(request.user)
    return _done(request, note.run_id, "notes", lambda: notes.remove_note(editor, note))


@require_POST
@login_required
def tag(request: HttpRequest, pk: int) -> HttpResponse:
    """Put a tag on a run (``add``), or take one off (``remove``)."""
    run, user = _one(pk), access.signed_in_user(request.user)
    if name := request.POST.get("remove", ""):
        return _done(request, pk, "tags", lambda: tags.remove_tag(user, run, name))
    return _done(request, pk, "tags", lambda: tags.add_tag(user, run, request.POST.get("add", "")))


@require_POST
@login_required
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a run out of all tables, for a reason."""
    run, user = _one(pk), access.signed_in_user(request.user)
    return _done(request, pk, "", lambda: withdrawing.withdraw_runs(user, run, request.POST.get("reason", "")))


@require_POST
@login_required
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a withdrawn run count again."""
    run, user = _one(pk), access.signed_in_user(request.user)

    def again() -> None:
        if not withdrawing.restore_runs(user, run):
            raise QueryError("run", "another run took its place; it returns when that upload is undone")

    return _done(request, pk, "", again)


def _one(pk: int) -> QuerySet[Run]:
    get_object_or_404(Run, pk=pk)
    return Run.objects.filter(pk=pk)


def _own(request: HttpRequest, pk: int) -> Note:
    """The note, for those who may change it."""
    note = get_object_or_404(Note.objects.select_related("run__study"), pk=pk)
    if not notes.may_edit(request.user, note):
        raise PermissionDenied
    return note


def _done(request: HttpRequest, run: int, part: str, act: Callable[[], object]) -> HttpResponse:
    """Do it, and go back to where it was asked; what cannot be done is said there."""
    try:
        act()
    except QueryError as error:
        messages.error(request, f"{error.message[:1].upper()}{error.message[1:]}.")
        part = ""
    return redirect(f"{reverse('web:run', args=[run])}{f'#{part}' if part else ''}")
