"""Views of uploads: form, list, page with actions and corrections, and the re-import of stale runs."""

import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.base import File
from django.db import transaction
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from importers import formats
from importers.model import SourceFile
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import corrections
from perfdb.results.changes import reparse as reparsing
from perfdb.results.changes.corrections import WrongValueError
from perfdb.results.changes.reparse import Scope
from perfdb.results.ingest import artifacts, chunked_upload, upload_summary
from perfdb.results.ingest import uploads as intake
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import Artifact, Job, Study, Upload
from perfdb.results.models.dimensions import INBOX
from perfdb.results.published.published_records import FORMAT as PUBLISHED
from perfdb.results.queries.keyset_paging import Column, Ordering, read_page
from perfdb.web.runs import run_list
from perfdb.web.uploads import missing_facts, upload_page
from perfdb.web.uploads.missing_facts import NOTHING, Entered
from perfdb.web.uploads.upload_form import UploadForm
from perfdb.web.view_access import person_of, read_required, sign_in_required

_ORDERINGS = {"created": Column("created")}
_COLUMNS = {
    name: name for name in ("id", "created", "state", "owner__username", "study__title", "files_read", "runs_found")
}
# The part of the page that corrections lead to.
_RUNS = "#runs"
# Enough of a pasted text to tell its format.
_PASTED = 1024 * 1024


@require_http_methods(["GET", "POST"])
def uploads(request: HttpRequest) -> HttpResponse:
    """Show the list of uploads, newest first; POST uploads files."""
    return receive(request) if request.method == "POST" else _list(request)


@read_required()
def _list(request: HttpRequest) -> HttpResponse:
    try:
        ordering = Ordering.parse("-created", _ORDERINGS)
        found = read_page(Upload.objects.all(), _COLUMNS, ordering, request.GET.get("cursor", ""))
    except QueryError as error:
        return render(request, "web/uploads.html", {"error": error}, status=400)
    outcomes = upload_page.outcomes_of([row["id"] for row in found.rows])
    context = {
        "uploads": [row | {"outcomes": outcomes.get(row["id"], [])} for row in found.rows],
        "stale": Scope().runs.count(),
        "next": run_list.cursor_address(request.GET, found.next),
        "previous": run_list.cursor_address(request.GET, found.previous),
    }
    return render(request, "web/uploads.html", context)


@sign_in_required("GET")
def new(request: HttpRequest) -> HttpResponse:
    """Show the form for new files; ``study`` of the address is preselected."""
    return _form_page(request, UploadForm(owner=person_of(request), initial={"study": request.GET.get("study")}))


@sign_in_required()
def receive(request: HttpRequest) -> HttpResponse:
    """Store files for a preview. ``paths`` have the folders that browsers drop."""
    scripted = request.get_preferred_type(["text/html", "application/json"]) == "application/json"
    form = UploadForm(request.POST, owner=person_of(request))
    files = request.FILES.getlist("files")
    paths = request.POST.getlist("paths") or [file.name or "" for file in files]
    if len(paths) != len(files):
        form.add_error(None, f"{len(files)} files came with {len(paths)} paths; the transfer was cut off, try again.")
    if form.is_valid():
        try:
            upload = _received(form, list(zip(paths, files, strict=True)), request.POST.getlist("pieces"))
        except IntakeError as error:
            form.add_error(None, str(error))
        else:
            address = reverse("web:upload", args=[upload.pk])
            return JsonResponse({"url": address}, status=201) if scripted else redirect(address)
    if scripted:
        return JsonResponse({"errors": [text for texts in form.errors.values() for text in texts]}, status=400)
    return _form_page(request, form, status=400)


def _received(form: UploadForm, files: "list[tuple[str, File[bytes]]]", tokens: Sequence[str]) -> Upload:
    # One transaction: files that are refused must not leave a new study behind.
    with transaction.atomic():
        about: dict[str, Any] = {"study": form.study_for_runs(), "facts": form.facts(), "preview": True}
        return chunked_upload.receive(form.owner, files, tokens, **about)


def _form_page(request: HttpRequest, form: UploadForm, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "unfinished": chunked_upload.unfinished(form.owner),
        "studies": Study.objects.exclude(slug=INBOX).order_by("title"),
        # The script refuses too much before it is sent, which may take long.
        "most_files": settings.DATA_UPLOAD_MAX_NUMBER_FILES,
        "most_bytes": settings.UPLOAD_LIMIT_BYTES,
    }
    return render(request, "web/upload_new.html", context, status=status)


@sign_in_required()
def recognise(request: HttpRequest) -> HttpResponse:
    """Return as JSON the format of a file's beginning, "" if unclear."""
    name = request.GET.get("name", "pasted.txt")
    (reading,) = formats.read_files([SourceFile(name, request.read(_PASTED))])
    title = next((each.TITLE for each in formats.FORMATS if reading.format == each.NAME), "")
    return JsonResponse({"format": reading.format or "", "title": title})


@read_required()
def upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one upload: its progress, preview, or outcomes."""
    return upload_page_of(request, get_object_or_404(Upload.objects.select_related("study", "owner"), pk=pk))


def upload_page_of(request: HttpRequest, found: Upload, entered: Entered = NOTHING, status: int = 200) -> HttpResponse:
    """Return the page of an upload. ``entered``: input that was refused."""
    context = upload_page.context(found, may_change=_may_change(request, found), entered=entered)
    return render(request, "web/upload.html", context, status=status)


def _may_change(request: HttpRequest, found: Upload) -> bool:
    return request.user.is_authenticated and (found.owner_id == request.user.pk or request.user.is_superuser)


def own_upload(request: HttpRequest, pk: int) -> Upload:
    """Return the upload. Raise PermissionDenied for others than owner and superusers."""
    found = get_object_or_404(Upload.objects.select_related("study", "owner"), pk=pk)
    if not _may_change(request, found):
        raise PermissionDenied
    return found


@sign_in_required()
def accept(request: HttpRequest, pk: int) -> HttpResponse:
    """Store the runs of a preview, and resolve conflicts as decided."""
    found = own_upload(request, pk)
    return _done(request, pk, lambda: intake.accept(found, upload_page.read_decisions(request.POST)))


@sign_in_required()
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo an upload or discard its preview; files stay."""
    found = own_upload(request, pk)
    return _done(request, pk, lambda: intake.undo(found))


def _done(request: HttpRequest, pk: int, act: Callable[[], object], part: str = "") -> HttpResponse:
    """Run the action and return to the page; show an IntakeError there."""
    try:
        act()
    except IntakeError as error:
        messages.error(request, str(error))
    return _back(pk, part)


def _back(pk: int, part: str) -> HttpResponse:
    return redirect(f"{reverse('web:upload', args=[pk])}{part}")


class _Kept(File):  # type: ignore[type-arg] # generic for the type checker alone
    """A stored file, open only during reads, since processes limit open files."""

    def __init__(self, artifact: Artifact) -> None:
        super().__init__(None, artifact.sha256)
        self.artifact = artifact
        self.size = artifact.size

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the bytes in chunks."""
        with File(artifacts.open_artifact(self.artifact)) as stream:
            yield from stream.chunks(chunk_size)


@sign_in_required()
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """Upload the same files again for a preview, with study, facts and corrections."""
    found = own_upload(request, pk)
    if found.files.filter(format=PUBLISHED).exists():
        # Pasted tables are no log: what their headings mean is said on their own page.
        return redirect(f"{reverse('web:table-import')}?upload={pk}")
    kept = found.files.filter(container=None).select_related("artifact").order_by("pk")
    files = [(file.path, _Kept(file.artifact)) for file in kept]
    try:
        about: dict[str, Any] = {"study": found.study, "facts": found.facts, "corrections": found.corrections}
        new = intake.receive(found.owner, files, preview=True, **about)
    except IntakeError as error:
        messages.error(request, str(error))
        return redirect("web:upload", pk=pk)
    return redirect("web:upload", pk=new.pk)


@read_required()
def download(request: HttpRequest, pk: int) -> FileResponse:
    """Return an upload's files as received, in one zip."""
    found = get_object_or_404(Upload, pk=pk)
    # The response closes it; a spooled file would hold all of a small upload in memory, and none is small.
    packed = tempfile.TemporaryFile()  # noqa: SIM115
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in found.files.filter(container=None).select_related("artifact").order_by("path"):
            with artifacts.open_artifact(file.artifact) as source, archive.open(file.path, "w") as target:
                while chunk := source.read(1024 * 1024):
                    target.write(chunk)
    packed.seek(0)
    return FileResponse(packed, as_attachment=True, filename=f"upload-{pk}.zip", content_type="application/zip")


@sign_in_required()
def correct(request: HttpRequest, pk: int) -> HttpResponse:
    """Store facts of chosen runs; show an error beside an invalid field."""
    found = own_upload(request, pk)
    posted = {name: str(value) for name, value in request.POST.items()}
    # A box stands for all trials of an experiment.
    chosen = " ".join(request.POST.getlist("run")).split()
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
    return _back(pk, _RUNS)


@sign_in_required()
def take_back(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Undo one correction."""
    return _change(request, pk, lambda found: corrections.remove_correction(found, number))


@sign_in_required()
def leave_out(request: HttpRequest, pk: int) -> HttpResponse:
    """Exclude a file of a preview from reading, or include the file again."""
    excluded = "leave_out" in request.POST
    path = request.POST.get("leave_out" if excluded else "read", "")
    return _change(request, pk, lambda found: corrections.exclude_file(found, path, excluded=excluded))


@sign_in_required()
def choose_format(request: HttpRequest, pk: int) -> HttpResponse:
    """Read a file in the format that the person chooses."""
    path, name = request.POST.get("path", ""), request.POST.get("format", "")
    return _change(request, pk, lambda found: corrections.choose_format(found, path, name))


@sign_in_required()
def move(request: HttpRequest, pk: int) -> HttpResponse:
    """Move a preview's runs to another study or the owner's inbox."""
    form = UploadForm(request.POST, owner=person_of(request))
    if not form.is_valid():
        for texts in form.errors.values():
            messages.error(request, " ".join(str(text) for text in texts))
        return _back(pk, _RUNS)
    return _change(request, pk, lambda found: corrections.move_upload(found, form.study_chosen()))


def _change(request: HttpRequest, pk: int, do: Callable[[Upload], None]) -> HttpResponse:
    found = own_upload(request, pk)

    def act() -> None:
        # What is refused must not leave a new study behind.
        with transaction.atomic():
            do(found)

    return _done(request, pk, act, _RUNS)


# So many runs are read again for one page of the preview.
MOST_REVIEWED = 20
_WORKING = (Job.State.QUEUED, Job.State.RUNNING)


@require_http_methods(["GET", "POST"])
def reparse(request: HttpRequest) -> HttpResponse:
    """Preview the changes of stale runs; POST starts the re-import of all of them."""
    return _start_reparse(request) if request.method == "POST" else _show_stale(request)


@read_required()
def _show_stale(request: HttpRequest) -> HttpResponse:
    last = Job.objects.filter(kind=reparsing.KIND).order_by("-pk").first()
    working = last is not None and last.state in _WORKING
    runs = Scope().runs
    asked = request.GET.get("page", "")
    page = max(1, int(asked)) if asked.isdecimal() and asked.isascii() and len(asked) < 8 else 1
    first = (page - 1) * MOST_REVIEWED
    # While runs are being changed, reading them here as well would only slow that down.
    reviews = [] if working else list(reparsing.review_runs(runs[first : first + MOST_REVIEWED]))
    total = runs.count()
    context = {
        "stale": reparsing.count_stale_runs(),
        "total": total,
        "reviews": reviews,
        "first": first + 1,
        "last_shown": first + len(reviews),
        "previous": page - 1,
        "next": page + 1 if first + MOST_REVIEWED < total else 0,
        "job": last,
        "working": working,
        "may_apply": request.user.is_authenticated and request.user.is_staff,
    }
    return render(request, "web/reparse.html", context)


@sign_in_required()
def _start_reparse(request: HttpRequest) -> HttpResponse:
    if not person_of(request).is_staff:
        raise PermissionDenied
    if reparsing.enqueue_reparse(Scope(), person_of(request)) is None:
        messages.error(request, "Runs are being read again already.")
    return redirect("web:reparse")
