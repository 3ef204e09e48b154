"""The history of a run: what brought it, what was added, worked out anew or changed, by whom and when.

Most of it is stored for other reasons: uploads, aliases and replaced values tell themselves. What nothing else keeps is
a row of `RunChange`: people's own acts write it through `bulk`, jobs through `record`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.contrib.auth.models import User
from django.db.models import Q

from perfdb.analysis.metrics import TOTAL
from perfdb.results.models import Alias, MeasurementHistory, Run, RunChange, UploadRun
from perfdb.results.runs.evidence import facts_of
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
    """One thing that was done to a run; ``who`` is empty for a job of nobody's. ``upload`` and ``run`` may be linked.

    ``detail`` may have several lines. ``run`` is another run that is concerned: which was replaced, or replaces this.
    """

    when: datetime
    who: str
    title: str
    detail: str = ""
    upload: int | None = None
    run: Run | None = None


def record(runs: Iterable[int], kind: Kind, detail: str, by: User | None = None) -> None:
    """Keep that this was done to these runs (their numbers), in the caller's transaction."""
    RunChange.objects.bulk_create(RunChange(run_id=run, kind=kind, detail=detail, made_by=by) for run in runs)


def history(run: Run) -> list[Event]:
    """Everything that happened to a run, newest first; four queries. Reads ``evidence``: fetch it along."""
    events = [*_uploaded(run), *_aliased(run), *_values(run), *_recorded(run)]
    return sorted(events, key=lambda event: event.when, reverse=True)


def _uploaded(run: Run) -> Iterator[Event]:
    """The uploads that had the run in them, the run that it replaced, and those that took its own place."""
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
    """The aliases of the study that give texts of this run their meaning."""
    evidence = getattr(run, "evidence", None)
    facts = facts_of(evidence) if evidence else {}
    for alias in Alias.objects.filter(study=run.study_id).select_related("made_by"):
        text = printed_text(facts, alias.dimension)
        if text is not None and fold(text) == alias.folded:
            said = f"{alias.dimension} {text} means {alias.meaning}"
            # An alias that was there first acted when the run came in, and not before.
            yield Event(alias.created, _name(alias.made_by), "Alias", said)


def _values(run: Run) -> Iterator[Event]:
    """Derived values that others have replaced, together where they were replaced together."""
    rows = MeasurementHistory.objects.filter(run=run).select_related("measure").order_by("replaced", "measure")
    # Each has a moment of its own, microseconds after the one before it.
    for _, together in groupby(rows, key=lambda row: row.replaced.replace(microsecond=0)):
        replaced = list(together)
        title = "Derived values replaced; they were"
        yield Event(replaced[0].replaced, "", title, "\n".join(map(_value, replaced)))


def _value(row: MeasurementHistory) -> str:
    measure = row.measure
    role = "" if measure.role == TOTAL else f" {measure.role}"
    return f"{measure.metric}{role} {row.value:.12g} {measure.unit} by {row.formula}"


def _recorded(run: Run) -> Iterator[Event]:
    for change in run.changes.select_related("made_by"):
        yield Event(change.made, _name(change.made_by), _WORDS[Kind(change.kind)], change.detail)


def _name(user: User | None) -> str:
    return user.get_username() if user else ""
