"""Changing a preview before it is accepted: facts of runs, the study, the files that are read, and their format."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from perfdb.results.changes import corrections
from perfdb.results.changes.corrections import WrongValueError
from perfdb.results.ingest import upload_summary
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import Upload
from perfdb.web.uploads import missing_facts
from perfdb.web.uploads.missing_facts import Entered
from perfdb.web.uploads.upload_form import UploadForm
from perfdb.web.uploads.views import own_upload, person_of, upload_page_of


@require_POST
@login_required
def correct(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what no file says, of the runs chosen; a text that is no value is answered beside its field."""
    found = own_upload(request, pk)
    posted = {name: str(value) for name, value in request.POST.items()}
    chosen = request.POST.getlist("run")
    runs = list(found.runs.all())
    upload_summary.fill_in(runs)
    try:
        corrections.add_corrections(found, missing_facts.corrections_in(posted, chosen, runs))
    except KeyError:
        messages.error(request, "The preview has changed meanwhile; look at it again.")
    except WrongValueError as error:
        fields = missing_facts.fields_of(posted, error.key, error.text)
        entered = Entered(posted, dict.fromkeys(fields, error.why), frozenset(chosen))
        return upload_page_of(request, found, entered, status=400)
    except IntakeError as error:
        messages.error(request, str(error))
    return _back(pk)


@require_POST
@login_required
def take_back(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Undo one correction."""
    return _change(request, pk, lambda found: corrections.remove_correction(found, number))


@require_POST
@login_required
def leave_out(request: HttpRequest, pk: int) -> HttpResponse:
    """Do not read a file, or read it after all."""
    excluded = "leave_out" in request.POST
    path = request.POST.get("leave_out" if excluded else "read", "")
    return _change(request, pk, lambda found: corrections.exclude_file(found, path, excluded=excluded))


@require_POST
@login_required
def choose_format(request: HttpRequest, pk: int) -> HttpResponse:
    """Read a file as what the person says it is."""
    path, name = request.POST.get("path", ""), request.POST.get("format", "")
    return _change(request, pk, lambda found: corrections.choose_format(found, path, name))


@require_POST
@login_required
def move(request: HttpRequest, pk: int) -> HttpResponse:
    """Put the runs of the preview into another study, a known or a new one, or the owner's inbox."""
    form = UploadForm(request.POST, owner=person_of(request))
    if not form.is_valid():
        for texts in form.errors.values():
            messages.error(request, " ".join(str(text) for text in texts))
        return _back(pk)
    return _change(request, pk, lambda found: corrections.move_upload(found, form.study_chosen()))


def _change(request: HttpRequest, pk: int, do: Callable[[Upload], None]) -> HttpResponse:
    found = own_upload(request, pk)
    try:
        # What is refused must not leave a new study behind.
        with transaction.atomic():
            do(found)
    except IntakeError as error:
        messages.error(request, str(error))
    return _back(pk)


def _back(pk: int) -> HttpResponse:
    return redirect(f"{reverse('web:upload', args=[pk])}#runs")
