"""Words of a search that choose runs: ``mtu:8992 users:50`` leads to the list of runs that they leave."""

import re
from dataclasses import dataclass

from django.db.models import Model
from django.urls import reverse

from perfdb.analysis.dimensions import BY_NAME, FACTOR, SELECTORS, Dimension, describe_values, dimension
from perfdb.analysis.dimensions import Value as DimensionValue
from perfdb.analysis.query.query import Query
from perfdb.results.models import Device, Level, Study, System, Workload

# A value with blanks stands in quotes: device:"Guest LAN".
_CHOICE = re.compile(r"""([\w.]+)[:=](?:"([^"]+)"|(\S+))""")
_VOCABULARY: dict[str, tuple[type[Model], str]] = {
    "study": (Study, "slug"),
    "system": (System, "name"),
    "level": (Level, "name"),
    "workload": (Workload, "name"),
    "device": (Device, "name"),
}


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The runs that some words choose: said in words, and where they are listed and drawn."""

    says: str
    runs: str
    charts: str


def narrowed(text: str) -> tuple[Narrowed | None, str]:
    """What the words choose, None where they choose nothing, and the text without these words."""
    query = Query()
    left = []
    at = 0
    for match in _CHOICE.finditer(text):
        chosen = _chosen(match[1].lower(), match[2] or match[3])
        if chosen is None:
            continue
        declared, value = chosen
        query = query.with_filter(declared.name, *query.filters.get(declared.name, ()), value)
        left.append(text[at : match.start()])
        at = match.end()
    rest = " ".join("".join([*left, text[at:]]).split())
    return (_leading_to(query) if query.filters else None), rest


def _chosen(name: str, text: str) -> tuple[Dimension, DimensionValue] | None:
    """The dimension and its value as it is stored; None for what is no dimension or no value of it."""
    if not (name in BY_NAME or name in SELECTORS or (name.startswith(FACTOR) and name != FACTOR)):
        return None
    declared = dimension(name)
    try:
        return declared, declared.parse(_as_stored(name, text))
    except ValueError:
        return None


def _as_stored(name: str, text: str) -> str:
    """The whole name with its capitals, where only one begins so; a name that is typed in full is meant."""
    if name not in _VOCABULARY:
        return text
    model, field = _VOCABULARY[name]
    begins = model._default_manager.filter(**{f"{field}__istartswith": text}).values_list(field, flat=True)
    found: list[str] = sorted(begins, key=len)[:2]
    meant = len(found) == 1 or (found and len(found[0]) == len(text))
    return found[0] if meant else text


def _leading_to(query: Query) -> Narrowed:
    pairs = [(name, value) for name, values in query.filters.items() for value in values]
    asked = query.encode()
    says = describe_values([name for name, _ in pairs], [value for _, value in pairs])
    return Narrowed(says, f"{reverse('web:runs')}?{asked}", f"{reverse('web:charts')}?{asked}")
