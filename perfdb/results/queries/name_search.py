"""Search by name: studies, runs, devices, files, notes and more.

Every word must occur in a hit. Only where nothing has all the words, similar names are found too. Small tables are
scanned; run ids and tags are kept once each in ``search_name``, which has an index of trigrams (groups of three
letters) like the paths of files and the notes, so that a search among millions of runs stays quick.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
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

# The rest of a longer text is ignored, since each word costs time.
LONGEST, MOST_WORDS = 200, 8
# A shorter word must begin a word: it occurs within too many others, and no trigram index finds it.
_WITHIN = 3
# A shorter word resembles too many others; a longer one keeps enough trigrams when two letters are swapped.
_MISTYPED, _SWAPPED = 4, 12
# The least similarity, of 1: to a word of a short name, to a word of a long text, and to a whole run id. Paths and
# notes use PostgreSQL's own setting of 0.6, as their indexes do.
_LIKE, _TEXT_LIKE, _NAME_LIKE = 0.3, 0.6, 0.45
# The time limit of a search for similar files and notes, in milliseconds.
_IN_TIME_MS = 150


class Kind(StrEnum):
    """The kind of a hit, in the order of display."""

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
    """A hit: name, other searched text, and the fields of a link."""

    kind: Kind
    pk: int
    name: str
    text: str
    about: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """Hits by kind, best first; with ``near`` only similar ones."""

    words: list[str]
    hits: dict[Kind, list[Hit]]
    near: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    """A small table: fields to search (``name``, ``text``), and ``about`` for links."""

    kind: Kind
    rows: QuerySet[Any]
    name: str = "name"
    text: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


# Kind, id, name, score, further text and ``about`` of a hit.
_Row = tuple[str, int, str, float, str, dict[str, Any]]
_Rows = QuerySet[Any, _Row]


def _tables() -> list[_Table]:
    placed = ("kind", "number", "position", "told", "study__slug", "study__title")
    alike = ReportItem.objects.filter(
        study=OuterRef("study"), kind=OuterRef("kind"), position__lte=OuterRef("position")
    )
    # The place among the items of a kind.
    told = alike.order_by().values("kind").annotate(number=Count("pk")).values("number")
    return [
        _Table(Kind.STUDY, Study.objects.exclude(slug=INBOX), "title", ("purpose", "source", "slug"), ("slug",)),
        _Table(Kind.DEVICE, Device.objects.all(), about=("kind",)),
        _Table(Kind.WORKLOAD, Workload.objects.all(), text=("pattern",)),
        _Table(Kind.SYSTEM, System.objects.all(), text=("machine", "host")),
        _Table(Kind.LEVEL, Level.objects.all()),
        _Table(Kind.QUERY, SavedQuery.objects.all(), about=("page", "query", "owner__username", "study__title")),
        _Table(Kind.REPORT, ReportItem.objects.annotate(told=Subquery(told)), "title", ("prose",), placed),
    ]


def split_words(text: str) -> list[str]:
    """Return the words of a search in capitals, as for comparison."""
    return text.replace("\0", " ")[:LONGEST].upper().split()[:MOST_WORDS]


def search_names(text: str, size: int) -> Found:
    """Return the hits of a search, at most ``size`` of each kind."""
    words = split_words(text)
    if not words:
        return Found(words, {})
    if hits := _hits(_read(_having(words, size)), size):
        return Found(words, hits)
    if max(map(len, words)) < _MISTYPED:
        return Found(words, {})
    rows, whole = _read(_like(words, size)), " ".join(words)
    within = Q(folded__trigram_word_similar=whole) | _swapped(whole)
    # None of the files and notes after the time limit.
    with suppress(TooLongError), in_time(_IN_TIME_MS, Run.objects.db):
        rows += _read(_in_texts(within, TrigramWordSimilarity(whole, "folded"), size))
    return Found(words, _hits(rows, size), near=True)


def _read(parts: Sequence[_Rows]) -> list[_Row]:
    """Read all parts in one SQL query."""
    first, *rest = parts
    return list(first.union(*rest, all=True))


def _hits(rows: Iterable[_Row], size: int) -> dict[Kind, list[Hit]]:
    """Return hits by kind, best first; several rows may be one hit."""
    hits: dict[Kind, dict[int, Hit]] = {kind: {} for kind in Kind}
    for kind, pk, name, _, text, about in sorted(rows, key=lambda row: (-row[3], natural_key(row[2]))):
        of_kind = hits[Kind(kind)]
        if len(of_kind) < size:
            of_kind.setdefault(pk, Hit(Kind(kind), pk, name, text, about))
    _add_runs(hits[Kind.RUN].values())
    return {kind: list(found.values()) for kind, found in hits.items() if found}


def _add_runs(hits: Collection[Hit]) -> None:
    """Add to each run id a run of that name."""
    columns = ("pk", "trial", "status", "study__title", "workload__name", "device__name", "mtu", "users")
    found = Run.objects.filter(pk__in=[hit.about["runs"][0] for hit in hits])
    runs = {row["pk"]: row for row in found.values(*columns)}
    for hit in hits:
        first, *others = hit.about.pop("runs")
        hit.about.update(runs[first], several=bool(others))


def _having(words: Sequence[str], size: int) -> list[_Rows]:
    """Return queries for rows with all words; in large tables, beginnings come first."""
    every, others = Q(*map(_occurs, words)), Q(*map(_occurs, words[1:]))
    begins = others & Q(folded__startswith=words[0])
    parts = [_in_table(table, every, _rank(words), size) for table in _tables()]
    parts += [_rows(kind, rows.filter(begins), Value(2.0), size) for kind, rows in _names()]
    if any(len(word) >= _WITHIN for word in words):
        # Without an order, since sorting a million files takes long.
        parts += [_rows(kind, rows.filter(every), Value(1.0), size) for kind, rows in _names()]
        parts += _in_texts(every, Value(1.0), size)
    return parts


def _like(words: Sequence[str], size: int) -> list[_Rows]:
    """Return queries for names that resemble all the words."""
    whole = " ".join(words)
    name = TrigramSimilarity("folded", whole)
    named = (Q(folded__trigram_similar=whole) & Q(GreaterThanOrEqual(name, _NAME_LIKE))) | _swapped(whole)
    likeness = TrigramWordSimilarity(whole, "called") + TrigramWordSimilarity(whole, "folded")
    every = Q(*map(_resembles, words))
    parts = [_in_table(table, every, likeness, size) for table in _tables()]
    return parts + [_rows(kind, rows.filter(named), name, size) for kind, rows in _names()]


def _in_texts(condition: Q, score: Combinable, size: int) -> list[_Rows]:
    """Return queries for notes and files."""
    notes = Note.objects.annotate(folded=Upper("text")).filter(condition)
    files = UploadFile.objects.annotate(folded=Upper("path")).filter(condition)
    about = ("run_id", "run__run_id", "run__trial", "author__username")
    return [
        _rows(Kind.NOTE, notes, score, size, about=about),
        _rows(Kind.FILE, files, score, size, name="path", about=("artifact_id", "upload_id")),
    ]


def _in_table(table: _Table, condition: Q, score: Combinable, size: int) -> _Rows:
    parts = [part for column in table.text for part in (F(column), Value(" "))]
    text = Concat(*parts, output_field=TextField()) if parts else Value("", TextField())
    folded = Upper(Concat(Value(" "), F(table.name), Value(" "), text, output_field=TextField()))
    rows = table.rows.annotate(folded=folded, called=Upper(table.name)).filter(condition)
    return _rows(table.kind, rows, score, size, name=table.name, text=text, about=table.about)


def _names() -> list[tuple[Kind, QuerySet[SearchName]]]:
    """Return run ids and tags with up to two runs each."""
    names = SearchName.objects.annotate(folded=Upper("text"))
    kept = Run.objects.exclude(status=Run.Status.WITHDRAWN)
    # Runs are indexed by study and id.
    named = kept.filter(study__in=Study.objects.values("pk"), run_id=OuterRef("text"))
    # The limit makes PostgreSQL search name by name; with EXISTS it joins all names with all runs.
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
    """Return rows in the columns of a hit, the best first where scores differ."""
    also = Value("", TextField()) if text is None else text
    named = JSONObject(**{each: each for each in (("runs",) if kind is Kind.RUN else about)})
    ranked = rows if isinstance(score, Value) else rows.annotate(score=score).order_by("-score", "pk")
    columns = {"also": also, "about": named, "found": Value(kind.value), "rank": score}
    found = ranked.annotate(**columns).values_list("found", "pk", name, "rank", "also", "about")
    return cast("_Rows", found[:size])


def _occurs(word: str) -> Q:
    return Q(folded__contains=word if len(word) >= _WITHIN else f" {word}")


def _resembles(word: str) -> Q:
    """Return the condition that a word occurs, or is mistyped."""
    fits = _occurs(word) | _swapped(word)
    if len(word) >= _MISTYPED:
        fits |= Q(GreaterThanOrEqual(TrigramWordSimilarity(word, "called"), _LIKE))
        fits |= Q(GreaterThanOrEqual(TrigramWordSimilarity(word, "folded"), _TEXT_LIKE))
    return fits


def _swapped(word: str) -> Q:
    """Return whether two neighbouring letters are swapped, which changes most trigrams of short words."""
    if not _MISTYPED <= len(word) <= _SWAPPED:
        return Q(pk__in=[])
    swaps = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
    return Q(folded__regex="|".join(map(re.escape, swaps)))


def _rank(words: Sequence[str]) -> Combinable:
    """Return a row's score: whole names, beginnings, middles, then text."""
    score: Combinable = Case(When(called=" ".join(words), then=4.0), default=0.0, output_field=FloatField())
    for word in words:
        begins, occurs = When(called__startswith=word, then=2.0), When(called__contains=word, then=1.0)
        score = score + Case(begins, occurs, default=0.0, output_field=FloatField())
    return score
