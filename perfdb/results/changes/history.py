"""The history of a run, newest first: uploads, aliases, replaced values and other changes.

Uploads, aliases and replaced values are stored anyway. Any other change is a row of `RunChange`, written by
`runs.bulk_changes` for people and by `record_change` for jobs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.contrib.auth.models import User
from django.db.models import Q

from perfdb.analysis.metrics import TOTAL
from perfdb.results.models import Alias, MeasurementHistory, Run, RunChange, UploadRun
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.runs.normalize.alias_dimensions import fold, printed_text

Kind = RunChange.Kind
Outcome = UploadRun.Outcome

_WORDS = {
    Kind.EXTENDED: "Evidence added",
    Kind.REBUILT: "Read again",
    Kind.WITHDRAWN: "Withdrawn",
    Kind.RESTORED: "Counts again",
    Kind.TAGGED: "Tagged",
    Kind.UNTAGGED: "Tag taken off",
    Kind.NOTED: "Note written",
    Kind.NOTE_EDITED: "Note changed; it was",
    Kind.NOTE_REMOVED: "Note removed; it was",
}
_OUTCOMES = {Outcome.NEW: "Imported", Outcome.EXTENDED: "Evidence added", Outcome.ALREADY_THERE: "Uploaded once more"}


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a run; ``who`` is "" for jobs, ``run`` another run concerned."""

    when: datetime
    who: str
    title: str
    detail: str = ""
    upload: int | None = None
    run: Run | None = None


def record_change(runs: Iterable[int], kind: Kind, detail: str, by: User | None = None) -> None:
    """Store a change of runs, given by id."""
    RunChange.objects.bulk_create(RunChange(run_id=run, kind=kind, detail=detail, made_by=by) for run in runs)


def read_history(run: Run) -> list[Event]:
    """Return the events of a run, newest first, by four queries with ``evidence``."""
    recorded = (
        Event(change.made, _name(change.made_by), _WORDS[Kind(change.kind)], change.detail)
        for change in run.changes.select_related("made_by")
    )
    events = [*_uploaded(run), *_aliased(run), *_values(run), *recorded]
    return sorted(events, key=lambda event: event.when, reverse=True)


def _uploaded(run: Run) -> Iterator[Event]:
    """Yield the uploads and replacements of a run."""
    concerned = UploadRun.objects.filter(Q(run=run, loaded=True) | Q(replaced=run))
    for row in concerned.select_related("upload__owner", "run", "replaced").order_by("pk"):
        upload, who = row.upload, row.upload.owner.get_username()
        if row.replaced_id == run.pk:
            title = "Withdrawn; its place was taken by"
            yield Event(upload.created, who, title, upload=upload.pk, run=row.run)
        elif (title := _OUTCOMES.get(Outcome(row.outcome), "")) != "":
            yield Event(upload.created, who, title, upload=upload.pk)
            if row.replaced is not None:
                yield Event(upload.created, who, "Took the place of", run=row.replaced)


def _aliased(run: Run) -> Iterator[Event]:
    """Yield the aliases that apply to the run."""
    evidence = getattr(run, "evidence", None)
    facts = decode_facts(evidence) if evidence else {}
    for alias in Alias.objects.filter(study=run.study_id).select_related("made_by"):
        text = printed_text(facts, alias.dimension)
        if text is not None and fold(text) == alias.folded:
            said = f"{alias.dimension} {text} means {alias.meaning}"
            # An older alias applied when the run was imported.
            yield Event(alias.created, _name(alias.made_by), "Alias", said)


def _values(run: Run) -> Iterator[Event]:
    """Yield replaced derived values, grouped by second."""
    rows = MeasurementHistory.objects.filter(run=run).select_related("measure").order_by("replaced", "measure")
    # Rows stored together differ in microseconds.
    for _, together in groupby(rows, key=lambda row: row.replaced.replace(microsecond=0)):
        replaced = list(together)
        title = "Derived values replaced; they were"
        yield Event(replaced[0].replaced, "", title, "\n".join(map(_value, replaced)))


def _value(row: MeasurementHistory) -> str:
    measure = row.measure
    role = "" if measure.role == TOTAL else f" {measure.role}"
    return f"{measure.metric}{role} {row.value:.12g} {measure.unit} by {row.formula}"


def _name(user: User | None) -> str:
    return user.get_username() if user else ""
