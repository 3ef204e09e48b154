"""What runs have where none has a value of what was asked: the same kind of quantity, by another metric or role."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from django.db.models import Count

from perfdb.analysis import metrics
from perfdb.analysis.metrics import Measure
from perfdb.results.queries.conditions import select_runs
from perfdb.results.queries.observations import measure_columns
from perfdb.results.queries.questions import Answer, Question
from perfdb.results.runs import measures, recorded_reads
from perfdb.web.runs.run_values import group_of
from perfdb.web.shared.links import to_question
from perfdb.web.tables.table_grids import Panel


def offering(panel: Panel, question: Question, answer: Answer) -> Panel:
    """The panel with questions about what there is, where it has nothing to show; what is frozen asks no other."""
    if panel.lacking is None or recorded_reads.playing_tape():
        return panel
    return replace(panel, instead=list(_offers(panel.lacking, question, answer)))


def _offers(lacking: Measure, question: Question, answer: Answer) -> Iterator[tuple[str, str]]:
    """For each metric of its kind the same question about it, for every role that has it: (title, address)."""
    asked = answer.query.metrics
    for name, each in groupby(_there(lacking, answer), key=lambda measure: measure.metric):
        found = list(each)
        wanted = [new for old in asked for new in (found if old == lacking else [old])]
        query = question.query.replace(metrics=tuple(dict.fromkeys(wanted)))
        yield _title(name, [measure.role for measure in found]), to_question(replace(question, query=query))


def _title(metric: str, roles: Sequence[str]) -> str:
    """The total goes without saying."""
    title = metrics.BY_NAME[metric].title
    return title if list(roles) == [metrics.TOTAL] else ", ".join([title, *roles])


def _kind(metric: str) -> tuple[str, str]:
    """What can stand for each other: the same sort of quantity, of which more or less is better."""
    return group_of(metric), metrics.BY_NAME[metric].better


def _there(lacking: Measure, answer: Answer) -> list[Measure]:
    """The measures of its kind that any of the runs has and nobody asked for, metric by metric, total first."""
    kind, asked = _kind(lacking.metric), answer.query.metrics
    known = [each for each in measures.read_slots() if each not in asked and _kind(each.metric) == kind]
    return sorted(_filled(known, answer), key=lambda each: (each.metric, each.role != metrics.TOTAL, each.role))


def _filled(known: Sequence[Measure], answer: Answer) -> list[Measure]:
    columns = measure_columns(known)
    counts = select_runs(answer.query).aggregate(**{f"n{at}": Count(each) for at, each in enumerate(columns)})
    return [measure for at, measure in enumerate(known) if counts[f"n{at}"]]
