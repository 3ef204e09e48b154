"""Frozen links: a short address of a question with the rows of the answer.

A tape (`recorded_reads`) records all that the answer reads, and is stored. When the link is opened the tape plays,
and the same code makes the same answer from the stored rows. Differences from today's rows are found by the versions of
the studies, then by the digest of the tape.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth.models import User

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.tables.observations import Observations
from perfdb.results.models import FrozenLink, Study
from perfdb.results.queries.questions import Answer, Question, answer_question
from perfdb.results.runs import recorded_reads
from perfdb.results.runs.recorded_reads import Tape

# 128 random bits are 22 characters, the length of the column.
_TOKEN_BYTES = 16
# The name under which a tape keeps the runs of a question.
RUNS = "runs"


@dataclass(frozen=True, slots=True)
class Changes:
    """The ids of a frozen question's runs that were added, lost or changed.

    All three are empty where notes, circumstances or earlier campaigns changed.
    """

    added: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    altered: tuple[int, ...] = ()


def freeze_question(question: Question, maker: User | None) -> FrozenLink:
    """Store the present answer of a question as a frozen link. Raise QueryError."""
    asked = question.with_metrics()
    tape = record_answer(asked)
    return FrozenLink.objects.create(
        token=secrets.token_urlsafe(_TOKEN_BYTES),
        page=asked.page,
        query=asked.encode(),
        rows=tape.to_bytes(),
        digest=tape.digest,
        made_by=maker,
    )


def record_answer(question: Question) -> Tape:
    """Record all that the answer of a question reads today. Raise QueryError."""
    # Versions before rows: a change in between then counts as newer.
    tape = Tape(versions=read_versions(question))
    with recorded_reads.use_tape(tape):
        answer_question(question)
    return tape


def read_versions(question: Question) -> dict[str, int]:
    """Return the versions of a question's studies, raised by every change."""
    wanted = [study for study in question.studies if study]
    studies = Study.objects.filter(slug__in=wanted) if wanted else Study.objects.all()
    return {str(pk): version for pk, version in studies.values_list("pk", "version")}


def read_tape(link: FrozenLink) -> Tape:
    """Return the tape of a link, ready to play."""
    return Tape.from_bytes(bytes(link.rows), link.token)


@contextmanager
def open_link(link: FrozenLink) -> Iterator[tuple[Question, Answer]]:
    """Yield a link's question and answer; all reads come from the link. Raise QueryError for an old one."""
    with recorded_reads.use_tape(read_tape(link)):
        question = Question.parse(link.page, link.query)
        yield question, answer_question(question)


def find_changes(link: FrozenLink) -> Changes | None:
    """Return the differences from today's answer; None if the answer is the same."""
    tape, question = read_tape(link), Question.parse(link.page, link.query)
    if tape.versions == read_versions(question):
        return None
    then = recorded_reads.find_observations(tape, RUNS)
    try:
        today = record_answer(question)
    except QueryError:
        return Changes(gone=tuple(sorted(_rows(then))))
    if today.digest == link.digest:
        return None
    old, new = _rows(then), _rows(recorded_reads.find_observations(today, RUNS))
    return Changes(
        added=tuple(sorted(new.keys() - old.keys())),
        gone=tuple(sorted(old.keys() - new.keys())),
        altered=tuple(sorted(run for run in old.keys() & new.keys() if old[run] != new[run])),
    )


def _rows(found: Observations | None) -> Mapping[int, Mapping[str, Value | float]]:
    """Return the values of each run by name, since factors differ."""
    if found is None:
        return {}
    names = [*found.dimensions, *map(str, found.measures)]
    return {
        row[0]: {name: value for name, value in zip(names, row[1:], strict=True) if value is not None}
        for row in found.rows
    }
