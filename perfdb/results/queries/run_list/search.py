"""Search over all that has a name: studies, runs, devices, files, notes and what else people look for.

Every word that is asked for must occur in what is found. Only where nothing has them all, what is like the words comes
in: mistyping is forgiven when it has to be. Small tables are looked through as they are; run ids and tags stand once
each in ``search_name``, which like the names of files and the notes has an index of its trigrams (groups of three
letters). So a search stays quick when there are millions of runs.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.search import TrigramSimilarity, TrigramWordSimilarity
from django.db.models import Case, Count, F, FloatField, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Concat, JSONObject, Upper
from django.db.models.lookups import GreaterThanOrEqual

from perfdb.analysis.dimensions import natural_key
from perfdb.results.database.sql import TooLongError, in_time
from perfdb.results.models import (
    Device,
    Level,
    Note,
    ReportItem,
    Run,
    SavedQuery,
    SearchName,
    Study,
    System,
    UploadFile,
    Workload,
)
from perfdb.results.models.dimensions import INBOX

# More is cut off: nobody types it, and each word costs.
LONGEST, MOST_WORDS = 200, 8
# A shorter word occurs within too many others: it must begin one. It is no trigram either, so no index finds it.
_WITHIN = 3
# A shorter word is like too many others; in a longer one a swap of letters leaves enough trigrams as they are.
_MISTYPED, _SWAPPED = 4, 12
# How like a word something must be, of 1: a word of a short name, one of a long text, and a run id as a whole. For the
# files' names and notes PostgreSQL's own setting holds, which their indexes use: 0.6.
_LIKE, _TEXT_LIKE, _NAME_LIKE = 0.3, 0.6, 0.45
# How long to look for files and notes that are only like the words, in milliseconds.
_IN_TIME_MS = 150


class Kind(StrEnum):
    """What was found, in the order in which it is shown."""

    STUDY = "study"
    RUN = "run"
    DEVICE = "device"
    WORKLOAD = "workload"
    SYSTEM = "system"
    LEVEL = "level"
    TAG = "tag"
    QUERY = "query"
    REPORT = "report"
    NOTE = "note"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was found: what it is called, what else its words were looked for in, and what leads to it."""

    kind: Kind
    pk: int
    name: str
    text: str
    about: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """Hits by kind, best first. ``near``: nothing has all the words, and these are like them."""

    words: list[str]
    hits: dict[Kind, list[Hit]]
    near: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    """A small table. ``text``: what is looked through beside the name; ``about``: what leads to a row."""

    kind: Kind
    rows: QuerySet[Any]
    name: str = "name"
    text: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


# Kind, number, name, score, further text, about: the columns of everything that is found.
_Row = tuple[str, int, str, float, str, dict[str, Any]]
_Rows = QuerySet[Any, _Row]


def _tables() -> list[_Table]:
    placed = ("kind", "number", "position", "told", "study__slug", "study__title")
    return [
        _Table(Kind.STUDY, Study.objects.exclude(slug=INBOX), "title", ("purpose", "source", "slug"), ("slug",)),
        _Table(Kind.DEVICE, Device.objects.all(), about=("kind",)),
        _Table(Kind.WORKLOAD, Workload.objects.all(), text=("pattern",)),
        _Table(Kind.SYSTEM, System.objects.all(), text=("machine", "host")),
        _Table(Kind.LEVEL, Level.objects.all()),
        _Table(Kind.QUERY, SavedQuery.objects.all(), about=("page", "query", "owner__username", "study__title")),
        _Table(Kind.REPORT, _items(), "title", ("prose",), placed),
    ]


def _items() -> QuerySet[ReportItem]:
    """The items of reports; ``told`` counts those of a kind in their report, by which findings are numbered."""
    alike = ReportItem.objects.filter(
        study=OuterRef("study"), kind=OuterRef("kind"), position__lte=OuterRef("position")
    )
    counted = alike.order_by().values("kind").annotate(number=Count("pk")).values("number")
    return ReportItem.objects.annotate(told=Subquery(counted))


def words_of(text: str) -> list[str]:
    """The words of a search in capitals, as they are compared."""
    return text.replace("\0", " ")[:LONGEST].upper().split()[:MOST_WORDS]


def search(text: str, size: int) -> Found:
    """What fits, at most ``size`` of each kind."""
    words = words_of(text)
    if not words:
        return Found(words, {})
    if hits := _hits(_read(_having(words, size)), size):
        return Found(words, hits)
    if max(map(len, words)) < _MISTYPED:
        return Found(words, {})
    rows = [*_read(_like(words, size)), *_read_in_time(_like_by_index(words, size))]
    return Found(words, _hits(rows, size), near=True)


def _read(parts: Sequence[_Rows]) -> list[_Row]:
    """All of them in one SQL query."""
    first, *rest = parts
    return list(first.union(*rest, all=True))


def _read_in_time(parts: Sequence[_Rows]) -> list[_Row]:
    """All of them, or none where that takes too long: a word such as ``.log`` is like a part of every path."""
    try:
        with in_time(_IN_TIME_MS, Run.objects.db):
            return _read(parts)
    except TooLongError:
        return []


def _hits(rows: Iterable[_Row], size: int) -> dict[Kind, list[Hit]]:
    """The rows by kind, best first; one thing may be in several of them."""
    hits: dict[Kind, dict[int, Hit]] = {kind: {} for kind in Kind}
    for kind, pk, name, _, text, about in sorted(rows, key=lambda row: (-row[3], natural_key(row[2]))):
        of_kind = hits[Kind(kind)]
        if len(of_kind) < size:
            of_kind.setdefault(pk, Hit(Kind(kind), pk, name, text, about))
    _tell(hits[Kind.RUN].values())
    return {kind: list(found.values()) for kind, found in hits.items() if found}


def _tell(hits: Collection[Hit]) -> None:
    """Say of each run id which run has it, or one of those that have."""
    columns = ("pk", "trial", "status", "study__title", "workload__name", "device__name", "mtu", "users")
    runs = {
        row["pk"]: row for row in Run.objects.filter(pk__in=[hit.about["runs"][0] for hit in hits]).values(*columns)
    }
    for hit in hits:
        first, *others = hit.about.pop("runs")
        hit.about.update(runs[first], several=bool(others))


def _having(words: Sequence[str], size: int) -> list[_Rows]:
    """What has all the words: of the large tables what begins with the first, then what has them anywhere."""
    every, others = _all(map(_occurs, words)), _all(map(_occurs, words[1:]))
    begins = others & Q(folded__startswith=words[0])
    parts = [*(_in_table(table, every, _rank(words), size) for table in _tables())]
    parts += [_rows(kind, rows.filter(begins), Value(2.0), size) for kind, rows in _names()]
    if any(len(word) >= _WITHIN for word in words):
        # Any of them, since sorting what a million files have takes long.
        parts += [_rows(kind, rows.filter(every), Value(1.0), size) for kind, rows in _names()]
        parts += [_noted(every, Value(1.0), size), _filed(every, Value(1.0), size)]
    return parts


def _like(words: Sequence[str], size: int) -> list[_Rows]:
    """What is like all the words."""
    whole = " ".join(words)
    name = TrigramSimilarity("folded", whole)
    named = (Q(folded__trigram_similar=whole) & Q(GreaterThanOrEqual(name, _NAME_LIKE))) | _swapped(whole)
    parts = [_in_table(table, _all(map(_resembles, words)), _likeness(whole), size) for table in _tables()]
    return parts + [_rows(kind, rows.filter(named), name, size) for kind, rows in _names()]


def _like_by_index(words: Sequence[str], size: int) -> list[_Rows]:
    """Notes and files that have something like all the words."""
    whole = " ".join(words)
    within = Q(folded__trigram_word_similar=whole) | _swapped(whole)
    part = TrigramWordSimilarity(whole, F("folded"))
    return [_noted(within, part, size), _filed(within, part, size)]


def _all(conditions: Iterable[Q]) -> Q:
    every = Q()
    for condition in conditions:
        every &= condition
    return every


def _noted(condition: Q, score: Combinable, size: int) -> _Rows:
    about = ("run_id", "run__run_id", "run__trial", "author__username")
    return _rows(Kind.NOTE, Note.objects.annotate(folded=Upper("text")).filter(condition), score, size, about=about)


def _filed(condition: Q, score: Combinable, size: int) -> _Rows:
    rows = UploadFile.objects.annotate(folded=Upper("path")).filter(condition)
    return _rows(Kind.FILE, rows, score, size, name="path", about=("artifact_id", "upload_id"))


def _in_table(table: _Table, condition: Q, score: Combinable, size: int) -> _Rows:
    text = _joined(table.text)
    folded = Upper(Concat(Value(" "), F(table.name), Value(" "), text, output_field=TextField()))
    rows = table.rows.annotate(folded=folded, called=Upper(table.name)).filter(condition)
    return _rows(table.kind, rows, score, size, name=table.name, text=text, about=table.about)


def _names() -> list[tuple[Kind, QuerySet[SearchName]]]:
    """The names of runs that are there; with run ids two of their runs, since more is not said of them."""
    names = SearchName.objects.annotate(folded=Upper("text"))
    kept = Run.objects.exclude(status=Run.Status.WITHDRAWN)
    # Runs are indexed by study and id.
    named = kept.filter(study__in=Study.objects.values("pk"), run_id=OuterRef("text"))
    # With a limit they are asked for name by name: as a mere EXISTS, PostgreSQL joins all names with all runs.
    runs = {"run": named, "tag": kept.filter(tags__contains=[OuterRef("text")])}
    return [
        (Kind(kind), names.filter(kind=kind).annotate(runs=ArraySubquery(of.values("pk")[:2])).exclude(runs=[]))
        for kind, of in runs.items()
    ]


def _rows(
    kind: Kind,
    rows: QuerySet[Any],
    score: Combinable,
    size: int,
    *,
    name: str = "text",
    text: Combinable | None = None,
    about: Sequence[str] = (),
) -> _Rows:
    """These rows in the columns of everything, the best first where they differ in score."""
    also = Value("", TextField()) if text is None else text
    named = JSONObject(**{each: each for each in (("runs",) if kind is Kind.RUN else about)})
    ranked = rows if isinstance(score, Value) else rows.annotate(score=score).order_by("-score", "pk")
    columns = {"also": also, "about": named, "found": Value(kind.value), "rank": score}
    found = ranked.annotate(**columns).values_list("found", "pk", name, "rank", "also", "about")
    return cast("_Rows", found[:size])


def _joined(columns: Sequence[str]) -> Combinable:
    """Several columns as one text."""
    parts = [part for column in columns for part in (F(column), Value(" "))]
    return Concat(*parts, output_field=TextField()) if parts else Value("", TextField())


def _occurs(word: str) -> Q:
    return Q(folded__contains=word if len(word) >= _WITHIN else f" {word}")


def _resembles(word: str) -> Q:
    """It occurs, something is like it, or it does with two neighbouring letters swapped."""
    fits = _occurs(word) | _swapped(word)
    if len(word) >= _MISTYPED:
        fits |= Q(GreaterThanOrEqual(TrigramWordSimilarity(word, F("called")), _LIKE))
        fits |= Q(GreaterThanOrEqual(TrigramWordSimilarity(word, F("folded")), _TEXT_LIKE))
    return fits


def _swapped(word: str) -> Q:
    """It occurs with two neighbouring letters swapped, which changes four trigrams: most of those of a short word."""
    if not _MISTYPED <= len(word) <= _SWAPPED:
        return Q(pk__in=[])
    swaps = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
    return Q(folded__regex="|".join(map(re.escape, swaps)))


def _likeness(whole: str) -> Combinable:
    """How like the words a row is, its name before its further text."""
    return TrigramWordSimilarity(whole, F("called")) + TrigramWordSimilarity(whole, F("folded"))


def _rank(words: Sequence[str]) -> Combinable:
    """How well a name fits: the whole before a beginning, that before a middle, and any before further text."""
    score: Combinable = Case(When(called=" ".join(words), then=4.0), default=0.0, output_field=FloatField())
    for word in words:
        begins, occurs = When(called__startswith=word, then=2.0), When(called__contains=word, then=1.0)
        score = score + Case(begins, occurs, default=0.0, output_field=FloatField())
    return score
