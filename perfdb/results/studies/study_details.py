"""What the owner of a study may say about it: texts, notes, the run-id pattern and the plan."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F

from importers.collate import RunIdPattern
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, Study
from perfdb.results.runs.lock import lock_study
from perfdb.results.studies.study_lifecycle import checked_title
from perfdb.results.studies.test_plans import checked_plan

TEXTS = ("title", "source", "purpose", "method")
LONGEST = 100_000
# What changes together, and is compared as a whole where two people do it at once.
_EDITED = (*TEXTS, "notes", "run_id_pattern", "run_id_values", "plan")


class ChangedMeanwhileError(Exception):
    """Somebody else has changed the study since it was read."""


def state_of(study: Study) -> str:
    """A short text that changes when what people say of the study does; runs that come in do not matter."""
    said = json.dumps([getattr(study, name) for name in _EDITED], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def change(study: Study, columns: Mapping[str, Any], state: str = "") -> None:
    """Keep some of the columns; with ``state`` only if the study is still as it was read.

    Raises ChangedMeanwhileError, and QueryError for what may not be.
    """
    checked = {name: _checked(name, value) for name, value in columns.items()}
    with transaction.atomic():
        lock_study(study)
        if state and state_of(Study.objects.get(pk=study.pk)) != state:
            raise ChangedMeanwhileError(f"study {study.slug} was changed by somebody else meanwhile")
        Study.objects.filter(pk=study.pk).update(**checked, version=F("version") + 1)
    study.refresh_from_db()


def _checked(name: str, value: Any) -> Any:
    if name == "title":
        return checked_title(value)
    if name in TEXTS and (len(value) > LONGEST or "\0" in value):
        raise QueryError(name, f"a text has at most {LONGEST} characters, and none that cannot be stored")
    if name == "plan":
        return checked_plan(value)
    return _checked_notes(value) if name == "notes" else value


def _checked_notes(notes: Sequence[Any]) -> list[dict[str, Any]]:
    """Notes as a study keeps them: a text, and the tables that it is about."""
    found = []
    for note in notes:
        text = str(note.get("text", "")).strip() if isinstance(note, Mapping) else ""
        if not text or "\0" in text:
            raise QueryError("notes", "a note needs a text")
        found.append({"tables": [str(table) for table in note.get("tables", [])], "text": text})
    return found


def with_pattern(pattern: RunIdPattern | None) -> dict[str, Any]:
    """The columns of a study whose run ids are read so."""
    regex, values = (pattern.regex, pattern.values) if pattern else ("", {})
    return {"run_id_pattern": regex, "run_id_values": values}


def examples(study: Study, most: int = 8) -> list[str]:
    """Some run ids of the study, to try a pattern with."""
    return list(Run.objects.filter(study=study).order_by("run_id").values_list("run_id", flat=True).distinct()[:most])
