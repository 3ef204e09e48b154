"""Spellings of values: printed texts by dimension, and values that may be equal."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Func, QuerySet, Sum, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, NullIf, Trim

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import DIMENSIONS, FACTOR, natural_key
from perfdb.analysis.dimensions import Value as DimensionValue
from perfdb.results.models import Alias, Experiment, Run, RunCount, Study
from perfdb.results.queries.observations import DIMENSION_COLUMNS
from perfdb.results.runs.normalize.alias_dimensions import COMPOSED, PRINTED, facts_saying, fold
from perfdb.results.runs.vocabulary import MODELS, NAME_PATHS

# The dimensions of an experiment that may have aliases, besides factors.
ALIASED = tuple(each.name for each in DIMENSIONS if each.name != "study" and not each.repeats)
_BLANK = Value("", TextField())


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed text, the number of runs, and the alias that applies, if any."""

    text: str
    runs: int
    alias: Alias | None


@dataclass(frozen=True, slots=True)
class ValueSpellings:
    """A value of a dimension, or None for unreadable texts, with the printed texts."""

    value: str | None
    texts: list[Printed]

    @property
    def runs(self) -> int:
        """Return the number of runs with this value."""
        return sum(text.runs for text in self.texts)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two values that differ only in capitals, blanks and punctuation."""

    dimension: str
    printed: str
    meaning: str


@dataclass(frozen=True, slots=True)
class DimensionSpellings:
    """The printed texts of a study for one dimension, and aliases without runs (``unused``)."""

    dimension: str
    title: str
    values: list[ValueSpellings]
    unused: list[Alias]
    suggestions: list[Suggestion]


def read_spellings(study: Study) -> list[DimensionSpellings]:
    """Return the dimensions with printed texts or aliases, by an SQL query each."""
    aliases: dict[str, dict[str, Alias]] = defaultdict(dict)
    for alias in Alias.objects.filter(study=study).select_related("made_by").order_by("pk"):
        aliases[alias.dimension][alias.folded] = alias
    keys = Experiment.objects.filter(study=study).annotate(factor=Func(F("factors"), function="jsonb_object_keys"))
    factors = sorted(f"{FACTOR}{key}" for key in keys.values_list("factor", flat=True).distinct())
    names = dict.fromkeys((*ALIASED, *factors, *aliases))
    found = (_read_dimension(study, name, aliases[name]) for name in names)
    return [each for each in found if each.values or each.unused]


def _read_dimension(study: Study, dimension: str, aliases: dict[str, Alias]) -> DimensionSpellings:
    meant: dict[str | None, list[Printed]] = defaultdict(list)
    for value, text, runs in count_texts(study, dimension):
        meant[value].append(Printed(text, runs, aliases.get(fold(text))))
    values = [ValueSpellings(value, meant[value]) for value in sorted(meant, key=natural_key)]
    used = {fold(printed.text) for texts in meant.values() for printed in texts}
    unused = [alias for folded, alias in aliases.items() if folded not in used]
    title = dimensions.dimension(dimension).title
    return DimensionSpellings(dimension, title, values, unused, list(_suggestions(dimension, values)))


def _suggestions(dimension: str, values: Iterable[ValueSpellings]) -> Iterable[Suggestion]:
    """Suggest that the rarer spelling means the more frequent one."""
    runs = {each.value: each.runs for each in values}
    # Signs matter in numbers.
    for group in group_spellings(runs) if not dimensions.dimension(dimension).whole else ():
        first, *others = sorted(group, key=lambda text: -runs[text])
        yield from (Suggestion(dimension, other, first) for other in others)


def count_texts(study: Study, dimension: str) -> Sequence[tuple[str | None, str, int]]:
    """Return value, printed text and number of runs, without runs that lack the dimension."""
    rows = annotate_printed(Run.objects.filter(study=study), dimension).exclude(printed_text=None).order_by()
    counted = rows.values("meant_value", "printed_text").annotate(number=Count("pk"))
    return list(counted.order_by("-number", "printed_text").values_list("meant_value", "printed_text", "number"))


def annotate_printed(runs: QuerySet[Run], dimension: str) -> QuerySet[Any]:
    """Annotate runs with ``meant_value``, a dimension's value as text, and ``printed_text``."""
    factor = _text(F("factors"), dimension.removeprefix(FACTOR))
    value = Cast(factor if dimension.startswith(FACTOR) else DIMENSION_COLUMNS[dimension], TextField())
    facts = [_fact(key) for key in facts_saying(dimension)]
    rest = [value, *facts] if dimension in COMPOSED else [*facts, value]
    return runs.annotate(meant_value=value, printed_text=Coalesce(_fact(PRINTED + dimension), *rest))


def _fact(key: str) -> Combinable:
    facts = F("evidence__facts")
    return NullIf(Trim(Coalesce(_text(facts, key, "text"), _text(facts, key))), _BLANK)


def _text(json: Combinable, *path: str) -> Func:
    # Django's own transforms take a key of digits for an index.
    keys = (Value(key, TextField()) for key in path)
    return Func(json, *keys, function="jsonb_extract_path_text", output_field=TextField())


_SIGNS = re.compile(r"[\W_]+")
# The columns of names that people spell.
_NAMES = {name: f"experiment__{path}" for name, path in {"campaign": "campaign", **NAME_PATHS}.items()}


@dataclass(frozen=True, slots=True)
class Offer(Suggestion):
    """An alias to be offered in a study, given by slug and title."""

    study: str
    title: str


def strip_signs(text: str) -> str:
    """Return a text without capitals, blanks and punctuation."""
    return _SIGNS.sub("", text.casefold())


def group_spellings(values: Iterable[DimensionValue]) -> list[list[str]]:
    """Return groups of values that differ only in capitals, blanks and punctuation."""
    groups: dict[str, list[str]] = defaultdict(list)
    for value in dict.fromkeys(values):
        if isinstance(value, str) and strip_signs(value):
            groups[strip_signs(value)].append(value)
    return [group for group in groups.values() if len(group) > 1]


def find_offers(shown: Mapping[str, Iterable[DimensionValue]]) -> list[Offer]:
    """Return aliases to offer for values shown together: rare spellings mean frequent ones."""
    groups = {name: found for name in _NAMES if (found := group_spellings(shown.get(name, ())))}
    return [offer for name, found in groups.items() for offer in _offers(name, found)]


def _offers(dimension: str, groups: list[list[str]]) -> Iterable[Offer]:
    column = _NAMES[dimension]
    counted = RunCount.objects.filter(**{f"{column}__in": [text for group in groups for text in group]})
    rows = counted.order_by().values_list(F(column), "experiment__study__slug", "experiment__study__title")
    studies: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for text, slug, title, runs in rows.annotate(number=Sum("runs")):
        studies[text].append((runs, slug, title))
    for group in groups:
        known = [text for text in group if text in studies]
        most = max(known, key=lambda text: (sum(runs for runs, *_ in studies[text]), text), default="")
        for text in known:
            for _, slug, title in sorted(studies[text], key=lambda each: each[2]) if text != most else ():
                yield Offer(dimension, text, most, slug, title)


def find_in_other_studies(own: Mapping[str, Iterable[str]]) -> list[tuple[str, str, str]]:
    """Return (dimension, own spelling, other spelling) of values that other studies spell otherwise."""
    names = [
        model.objects.annotate(dimension=Value(name)).order_by().values_list("dimension", "name")
        for name, model in MODELS.items()
    ]
    mine = {(name, strip_signs(text)): text for name, texts in own.items() for text in texts if strip_signs(text)}
    there = {(name, text) for name, texts in own.items() for text in texts}
    found = sorted(set(names[0].union(*names[1:])) - there)
    return [(name, mine[name, strip_signs(text)], text) for name, text in found if (name, strip_signs(text)) in mine]
