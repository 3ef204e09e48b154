"""What the runs of a study print for each dimension, beside the value that it means: for its table of aliases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, Func, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, NullIf, Trim

from perfdb.analysis import dimensions
from perfdb.analysis.dimensions import DIMENSIONS, FACTOR, natural
from perfdb.results.changes.alias_suggestions import bare
from perfdb.results.models import Alias, Experiment, Run, Study
from perfdb.results.queries.run_queries import DIMENSION_COLUMNS
from perfdb.results.runs.normalize.alias_dimensions import COMPOSED, PRINTED, facts_saying, fold

# The dimensions of an experiment, factors aside: what may have aliases.
ALIASED = tuple(each.name for each in DIMENSIONS if each.name != "study" and not each.repeats)
_BLANK = Value("", TextField())


@dataclass(frozen=True, slots=True)
class Printed:
    """A text as printed, how many runs print it, and the alias by which it has its value, if it needs one."""

    text: str
    runs: int
    alias: Alias | None


@dataclass(slots=True)
class Meant:
    """A value of a dimension and the texts that mean it; None where texts are not understood."""

    value: str | None
    texts: list[Printed] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """How many runs have this value."""
        return sum(text.runs for text in self.texts)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two values that differ in nothing but capitals, blanks and punctuation."""

    dimension: str
    printed: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Told:
    """All that the runs of a study say of one dimension. ``unused``: aliases that no run has needed yet."""

    dimension: str
    title: str
    values: list[Meant]
    unused: list[Alias]
    suggestions: list[Suggestion]


def told(study: Study) -> list[Told]:
    """The dimensions of which the runs of a study say anything, or for which it has aliases; an SQL query each."""
    aliases: dict[str, dict[str, Alias]] = {}
    for alias in Alias.objects.filter(study=study).select_related("made_by").order_by("pk"):
        aliases.setdefault(alias.dimension, {})[alias.folded] = alias
    names = dict.fromkeys((*ALIASED, *factors_of(study), *aliases))
    found = (_told(study, name, aliases.get(name, {})) for name in names)
    return [each for each in found if each.values or each.unused]


def factors_of(study: Study) -> list[str]:
    """The factors of a study, as dimensions."""
    keys = Experiment.objects.filter(study=study).annotate(factor=Func(F("factors"), function="jsonb_object_keys"))
    return sorted(f"{FACTOR}{key}" for key in keys.values_list("factor", flat=True).distinct())


def _told(study: Study, dimension: str, aliases: dict[str, Alias]) -> Told:
    meant: dict[str | None, Meant] = {}
    used = set()
    for value, text, runs in texts_of(study, dimension):
        alias = aliases.get(fold(text))
        used.add(fold(text))
        meant.setdefault(value, Meant(value)).texts.append(Printed(text, runs, alias))
    values = sorted(meant.values(), key=lambda each: natural(each.value))
    unused = [alias for folded, alias in aliases.items() if folded not in used]
    title = dimensions.dimension(dimension).title
    return Told(dimension, title, values, unused, list(_suggestions(dimension, values)))


def _suggestions(dimension: str, values: Iterable[Meant]) -> Iterable[Suggestion]:
    """The rarer spelling is suggested to mean the more frequent one."""
    alike: dict[str, list[Meant]] = {}
    for each in values:
        if each.value is not None:
            alike.setdefault(bare(each.value), []).append(each)
    for group in alike.values():
        first, *others = sorted(group, key=lambda each: -each.runs)
        # Numbers with other signs are other numbers, and what is all signs has nothing in common.
        if not dimensions.dimension(dimension).whole and bare(first.value or ""):
            yield from (Suggestion(dimension, other.value or "", first.value or "") for other in others)


def texts_of(study: Study, dimension: str) -> Sequence[tuple[str | None, str, int]]:
    """Value, printed text and number of runs; runs that say nothing of the dimension are left out."""
    rows = printing(Run.objects.filter(study=study), dimension).exclude(printed_text=None).order_by()
    counted = rows.values("meant_value", "printed_text").annotate(number=Count("pk"))
    return list(counted.order_by("-number", "printed_text").values_list("meant_value", "printed_text", "number"))


def printing(runs: QuerySet[Run], dimension: str) -> QuerySet[Any]:
    """The runs with ``meant_value``, a dimension's value as text, and ``printed_text``; None where there is none."""
    value = Cast(_value(dimension), TextField())
    facts = [_fact(key) for key in facts_saying(dimension)]
    rest = [value, *facts] if dimension in COMPOSED else [*facts, value]
    return runs.annotate(meant_value=value, printed_text=Coalesce(_fact(PRINTED + dimension), *rest))


def _value(dimension: str) -> str | Combinable:
    if dimension.startswith(FACTOR):
        return _text(F("factors"), dimension.removeprefix(FACTOR))
    return DIMENSION_COLUMNS[dimension]


def _fact(key: str) -> Combinable:
    facts = F("evidence__facts")
    return NullIf(Trim(Coalesce(_text(facts, key, "text"), _text(facts, key))), _BLANK)


def _text(json: Combinable, *path: str) -> Func:
    # Django's own transforms would take a key of digits for a place in a list.
    keys = (Value(key, TextField()) for key in path)
    return Func(json, *keys, function="jsonb_extract_path_text", output_field=TextField())
