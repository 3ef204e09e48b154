"""Values that are likely the same thing spelt in two ways, and the aliases that would make them one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import F, Model, Sum
from django.db.models import Value as Text

from perfdb.analysis.dimensions import Value
from perfdb.results.models import Device, Level, RunCount, System, Workload

_SIGNS = re.compile(r"[\W_]+")
# Where an experiment keeps the names that people spell.
_NAMES = {
    "campaign": "experiment__campaign",
    "system": "experiment__system__name",
    "level": "experiment__level__name",
    "workload": "experiment__workload__name",
    "device": "experiment__device__name",
}
_VOCABULARY: Mapping[str, type[Model]] = {"system": System, "level": Level, "workload": Workload, "device": Device}


@dataclass(frozen=True, slots=True)
class Offer:
    """The runs of a study (slug and title) that print ``printed`` might as well mean ``meaning``."""

    dimension: str
    printed: str
    meaning: str
    study: str
    title: str


def bare(text: str) -> str:
    """A text without what spellings differ in: capitals, blanks and punctuation."""
    return _SIGNS.sub("", text.casefold())


def alike(values: Iterable[Value]) -> list[list[str]]:
    """The values that differ in nothing but capitals, blanks and punctuation, group by group."""
    groups: dict[str, list[str]] = {}
    for value in dict.fromkeys(values):
        if isinstance(value, str) and bare(value):
            groups.setdefault(bare(value), []).append(value)
    return [group for group in groups.values() if len(group) > 1]


def offers(shown: Mapping[str, Iterable[Value]]) -> list[Offer]:
    """What to offer where these values of dimensions stand beside each other; no SQL query unless some are alike.

    The spelling of fewer runs is to mean that of more, in each study that has it.
    """
    groups = {name: found for name in _NAMES if (found := alike(shown.get(name, ())))}
    return [offer for name, found in groups.items() for offer in _offers(name, found)]


def _offers(dimension: str, groups: list[list[str]]) -> Iterable[Offer]:
    column = _NAMES[dimension]
    counted = RunCount.objects.filter(**{f"{column}__in": [text for group in groups for text in group]})
    rows = counted.order_by().values_list(F(column), "experiment__study__slug", "experiment__study__title")
    studies: dict[str, list[tuple[int, str, str]]] = {}
    for text, slug, title, runs in rows.annotate(number=Sum("runs")):
        studies.setdefault(text, []).append((runs, slug, title))
    for group in groups:
        known = [text for text in group if text in studies]
        most = max(known, key=lambda text: (sum(runs for runs, *_ in studies[text]), text), default="")
        for text in known:
            for _, slug, title in sorted(studies[text], key=lambda each: each[2]) if text != most else ():
                yield Offer(dimension, text, most, slug, title)


def elsewhere(own: Mapping[str, Iterable[str]]) -> list[tuple[str, str, str]]:
    """How other studies spell the values of one: (dimension, its own spelling, theirs), in one SQL query."""
    names = [
        model._default_manager.annotate(dimension=Text(name)).order_by().values_list("dimension", "name")
        for name, model in _VOCABULARY.items()
    ]
    mine = {(name, bare(text)): text for name, texts in own.items() for text in texts if bare(text)}
    there = {(name, text) for name, texts in own.items() for text in texts}
    found = sorted(set(names[0].union(*names[1:])) - there)
    return [(name, mine[name, bare(text)], text) for name, text in found if (name, bare(text)) in mine]
