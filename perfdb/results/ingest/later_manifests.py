"""Rows of manifests that come after the logs: each goes to the stored runs that it is about."""

from collections.abc import Iterable, Iterator

from importers.collate.run_ids import same_value
from importers.model import Fragment, RunDraft, SourcedFact
from perfdb.analysis.dimensions import FACTOR
from perfdb.results.models import Run, Study
from perfdb.results.runs.experiments import configuration_of


def drafts_of_rows(study: Study, rows: Iterable[Fragment]) -> Iterator[tuple[Run, RunDraft]]:
    """The stored runs of which rows tell, each with a draft of its row alone; of several that fit none is used."""
    by_run: dict[str, list[Fragment]] = {}
    for row in rows:
        by_run.setdefault((row.run_id or "").casefold(), []).append(row)
    if not by_run:
        return
    stored = Run.objects.filter(study=study).exclude(status=Run.Status.WITHDRAWN).select_related("experiment")
    for run in stored.order_by("pk"):
        fitting = [row for row in by_run.get(run.run_id.casefold(), ()) if _fits(row, run)]
        if len(fitting) == 1:
            yield run, _draft(run, fitting[0])


def _fits(row: Fragment, run: Run) -> bool:
    """Whether a row is about this very run: trial and factors are the same where both say them."""
    if row.trial is not None and row.trial != run.trial:
        return False
    known = configuration_of(run.experiment).factors
    said = {fact.key.removeprefix(FACTOR): fact.text for fact in row.facts if fact.key.startswith(FACTOR)}
    return all(same_value(text, known.get(name, text)) for name, text in said.items())


def _draft(run: Run, row: Fragment) -> RunDraft:
    facts = [SourcedFact(fact.key, fact.text, row.file, fact.line) for fact in row.facts]
    return RunDraft(run.run_id, run.trial, circumstances=[row], facts=facts)
