"""Frozen links: a short address that pins a question with the rows that answered it.

What the answer reads is recorded on a tape (`pinned`) and stored. Shown again, the tape plays and the same code makes
the same answer, whatever became of the runs. Whether the question would read other rows today is told by study
versions first and by the digest of the rows then.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth.models import User

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.tables.observations import Observations, Row
from perfdb.results.models import FrozenLink, Study
from perfdb.results.queries.questions import Answer, Question, answer
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.recorded_reads import Tape

# 22 characters: as much as the column holds, and 128 random bits.
_TOKEN_BYTES = 16
# Where the runs of a question are kept, by the name of what reads them.
RUNS = "runs"


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the runs of a frozen question: their numbers. ``altered`` are there with other values.

    Without any of the three, what changed stands beside the runs: notes, circumstances or earlier campaigns.
    """

    added: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    altered: tuple[int, ...] = ()


def freeze(question: Question, maker: User | None) -> FrozenLink:
    """Pin the answer of now. Raises QueryError where the question cannot be answered."""
    asked = question.understood()
    tape = record(asked)
    return FrozenLink.objects.create(
        token=secrets.token_urlsafe(_TOKEN_BYTES),
        page=asked.page,
        query=asked.encode(),
        rows=tape.packed(),
        digest=tape.digest,
        made_by=maker,
    )


def record(question: Question) -> Tape:
    """What the question reads today. Raises QueryError."""
    # Before the rows: what changes in between then counts as newer.
    tape = Tape(versions=versions(question))
    with recorded_reads.on(tape):
        answer(question)
    return tape


def versions(question: Question) -> dict[str, int]:
    """The versions of the studies that a question is about; every change of their data raises them."""
    studies = Study.objects.all()
    wanted = [study for study in question.studies if study]
    if wanted:
        studies = studies.filter(slug__in=wanted)
    return {str(pk): version for pk, version in studies.values_list("pk", "version")}


def question_of(link: FrozenLink) -> Question:
    """What a link asks. Raises QueryError where perfdb does not understand it any more."""
    return Question.parse(link.page, link.query)


def tape_of(link: FrozenLink) -> Tape:
    """What a link keeps, ready to play."""
    return Tape.unpacked(bytes(link.rows), link.token)


@contextmanager
def opened(link: FrozenLink) -> Iterator[tuple[Question, Answer]]:
    """A link's question and its answer of then; within, all that reads for answers takes it from the link."""
    with recorded_reads.on(tape_of(link)):
        question = question_of(link)
        yield question, answer(question)


def changes(link: FrozenLink) -> Changes | None:
    """What is different today; None where nothing is. A question that cannot be answered any more has lost all."""
    tape, question = tape_of(link), question_of(link)
    if tape.versions == versions(question):
        return None
    then = recorded_reads.observations_named(tape, RUNS)
    try:
        today = record(question)
    except QueryError:
        return Changes(gone=tuple(sorted(_rows(then))))
    if today.digest == link.digest:
        return None
    return _between(then, recorded_reads.observations_named(today, RUNS))


def _between(then: Observations | None, today: Observations | None) -> Changes:
    old, new = _rows(then), _rows(today)
    return Changes(
        added=tuple(sorted(new.keys() - old.keys())),
        gone=tuple(sorted(old.keys() - new.keys())),
        altered=tuple(sorted(run for run in old.keys() & new.keys() if old[run] != new[run])),
    )


def _rows(found: Observations | None) -> Mapping[int, Mapping[str, Value | float]]:
    """Each run with what it has, by name: another run may have brought a further factor along."""
    if found is None:
        return {}
    names = [*found.dimensions, *map(str, found.measures)]
    return {row[0]: dict(_given(names, row)) for row in found.rows}


def _given(names: Iterable[str], row: Row) -> Iterator[tuple[str, Value | float]]:
    return ((name, value) for name, value in zip(names, row[1:], strict=True) if value is not None)
