"""Changes of an upload in preview: supplied facts, study, files and formats.

Each change is stored with the upload, and the files are read again.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Q

from importers import formats
from perfdb.analysis.dimensions import dimension
from perfdb.results.ingest import jobs, uploads
from perfdb.results.ingest.supplied_facts import Correction, Place
from perfdb.results.ingest.uploads import IntakeError
from perfdb.results.models import RunSource, Study, Upload
from perfdb.results.published.published_records import FORMAT as PUBLISHED
from perfdb.results.runs.normalize.configuration import GIVEN_FACTS, RUN_ID, TRIAL, check_given

State = Upload.State
CORRECTABLE = (RUN_ID, TRIAL, *GIVEN_FACTS)


class WrongValueError(IntakeError):
    """A text is not a value of the fact."""

    def __init__(self, key: str, text: str, why: str) -> None:
        super().__init__(f"{text!r} is no value of {key}: {why}.")
        self.key, self.text, self.why = key, text, why


def add_corrections(upload: Upload, corrections: Sequence[Correction]) -> None:
    """Add supplied facts of runs, and read the files again.

    A supplied fact counts if no file has a readable one, and replaces the same fact supplied before. Raise
    WrongValueError, and IntakeError for an unknown fact or an upload that is not open to changes.
    """
    for correction in corrections:
        for key, value in uploads.checked_facts(correction.facts, CORRECTABLE).items():
            try:
                check_given(key, str(value))
            except ValueError as error:
                raise WrongValueError(key, str(value), str(error)) from error
    if not corrections:
        raise IntakeError("Nothing was entered: write a value first.")
    with _changing(upload, "correct", "corrections") as held:
        held.corrections = [*held.corrections, *(correction.to_json() for correction in corrections)]


def remove_correction(upload: Upload, number: int) -> None:
    """Remove a correction (counted from 0), and read the files again. Raise IntakeError."""
    with _changing(upload, "correct", "corrections") as held:
        if not 0 <= number < len(held.corrections):
            raise IntakeError("This correction was taken back already.")
        del held.corrections[number]


def move_upload(upload: Upload, study: Study) -> None:
    """Move a preview to another study. Raise IntakeError for other uploads."""
    with _changing(upload, "move", "study") as held:
        held.study = study


def exclude_file(upload: Upload, path: str, *, excluded: bool = True) -> None:
    """Exclude or include a file of a preview. Raise IntakeError for unknown ones."""
    with _changing(upload, "change the files of") as held:
        # The members of an archive go with it.
        if not held.files.filter(Q(path=path) | Q(container__path=path)).update(excluded=excluded):
            raise IntakeError(f"The upload has no file {path!r}.")


def choose_format(upload: Upload, path: str, format_name: str) -> None:
    """Read a file as a chosen format, if recognition found none or two.

    Raise IntakeError for an unknown format or file, or an upload that is not open to changes.
    """
    known = [each.NAME for each in formats.FORMATS]
    if format_name not in known:
        raise IntakeError(f"{format_name!r} is no format. Known are: {', '.join(known)}.")
    with _changing(upload, "choose a format for") as held:
        if not held.files.filter(path=path).update(forced_format=format_name):
            raise IntakeError(f"The upload has no file {path!r}.")


def parse_place(kept: Sequence[object]) -> Place:
    """Return the place of a run from the row of a preview."""
    path, first, last = kept
    return Place(str(path), int(str(first)), int(str(last)))


def fact_title(key: str) -> str:
    """Return the title of a fact that can be corrected."""
    return _TITLES.get(key) or dimension(key).title


_TITLES = {
    TRIAL: "Trial",
    RUN_ID: "Run id",
    "request_bytes": "Request, bytes",
    "response_bytes": "Response, bytes",
    "machine": "Machine",
    "node": "Host or LPAR",
    "memory": "Memory",
    "processors": "Processors",
    "roles": "Roles of guests",
    "client": "Client’s host",
    "server": "Server’s host",
    "client_cpus": "Client’s processors",
    "server_cpus": "Server’s processors",
    "utc_offset": "Time zone",
}


@contextmanager
def _changing(upload: Upload, verb: str, *columns: str) -> Iterator[Upload]:
    """Lock an upload without stored runs; then save columns, and read the files again. Raise IntakeError."""
    with transaction.atomic():
        held = uploads.locked(upload, {State.PREVIEW, State.FAILED}, verb)
        if RunSource.objects.filter(upload=held).exists():
            raise IntakeError("Runs of this upload are stored. Undo it, and upload its files again.")
        if held.files.filter(format=PUBLISHED).exists():
            raise IntakeError("Published tables are changed where they are imported: import them again.")
        yield held
        held.state, held.settled, held.preview_asked, held.files_read = State.RECEIVED, None, True, 0
        held.save(update_fields=[*columns, "state", "settled", "preview_asked", "files_read"])
        jobs.enqueue("import", held)
