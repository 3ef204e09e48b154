"""What a person changes in a preview before it is accepted: facts of runs, the study, which files are read, and how.

Nothing is corrected in place: each change is kept with the upload, and its files are read again by it.
"""

from collections.abc import Mapping, Sequence

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
    """A text that is no value of its fact."""

    def __init__(self, key: str, text: str, why: str) -> None:
        super().__init__(f"{text!r} is no value of {key}: {why}.")
        self.key = key
        self.text = text
        self.why = why


def correct(upload: Upload, corrections: Sequence[Correction]) -> None:
    """Add what a person says of runs, in one act each, and read the files again.

    It fills what no file says, or says unreadably; the same fact given before gives way. Raises WrongValueError for a
    text that is no value, and IntakeError for an unknown fact or when the upload is not open to changes.
    """
    for correction in corrections:
        _check(correction.facts)
    if not corrections:
        raise IntakeError("Nothing was entered: write a value first.")
    with transaction.atomic():
        held = _opened(upload, "correct")
        held.corrections = [*held.corrections, *(correction.kept() for correction in corrections)]
        _read_again(held, "corrections")


def _check(facts: Mapping[str, str]) -> None:
    for key, text in uploads.checked_facts(facts, CORRECTABLE).items():
        try:
            check_given(key, str(text))
        except ValueError as error:
            raise WrongValueError(key, str(text), str(error)) from error


def take_back(upload: Upload, number: int) -> None:
    """Undo one correction (counted from 0), and read the files again.

    Raises IntakeError where there is no such correction or the upload is not open to changes.
    """
    with transaction.atomic():
        held = _opened(upload, "correct")
        if not 0 <= number < len(held.corrections):
            raise IntakeError("This correction was taken back already.")
        del held.corrections[number]
        _read_again(held, "corrections")


def move(upload: Upload, study: Study) -> None:
    """Put all runs of a preview into another study, where they may meet others. Raises IntakeError when not open."""
    with transaction.atomic():
        held = _opened(upload, "move")
        held.study = study
        _read_again(held, "study")


def leave_out(upload: Upload, path: str, *, excluded: bool = True) -> None:
    """Do not read a file of a preview, or read it after all; it is kept anyway.

    Raises IntakeError for a file that is not there and when the upload is not open.
    """
    with transaction.atomic():
        held = _opened(upload, "change the files of")
        # What is inside an archive goes with it.
        if not held.files.filter(Q(path=path) | Q(container__path=path)).update(excluded=excluded):
            raise IntakeError(f"The upload has no file {path!r}.")
        _read_again(held)


def choose_format(upload: Upload, path: str, format_name: str) -> None:
    """Read a file as the format the person says, where recognition found none or two; parses again.

    Raises IntakeError for an unknown format or file, and when the upload is not in preview or has stored runs.
    """
    known = [each.NAME for each in formats.FORMATS]
    if format_name not in known:
        raise IntakeError(f"{format_name!r} is no format. Known are: {', '.join(known)}.")
    with transaction.atomic():
        held = _opened(upload, "choose a format for")
        if not held.files.filter(path=path).update(forced_format=format_name):
            raise IntakeError(f"The upload has no file {path!r}.")
        _read_again(held)


def place_of(kept: Sequence[object]) -> Place:
    """The place of a run, as its row in a preview keeps it."""
    path, first, last = kept
    return Place(str(path), int(str(first)), int(str(last)))


def title_of(key: str) -> str:
    """What people call a fact that can be corrected."""
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
}


def _opened(upload: Upload, verb: str) -> Upload:
    """The upload, held against other requests, if nothing of it is stored and a person may still change it."""
    held = uploads.locked(upload, {State.PREVIEW, State.FAILED}, verb)
    if RunSource.objects.filter(upload=held).exists():
        raise IntakeError("Runs of this upload are stored. Undo it, and upload its files again.")
    if held.files.filter(format=PUBLISHED).exists():
        raise IntakeError("Published tables are changed where they are imported: import them again.")
    return held


def _read_again(held: Upload, *changed: str) -> None:
    held.state, held.settled, held.preview_asked, held.files_read = State.RECEIVED, None, True, 0
    held.save(update_fields=[*changed, "state", "settled", "preview_asked", "files_read"])
    jobs.enqueue("import", held)
