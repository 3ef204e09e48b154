"""Views of the search; ``mtu:8992 users:50`` leads to a list of runs."""

import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify

from perfdb.analysis.dimensions import BY_NAME, FACTOR, SELECTORS, Dimension, describe_values, dimension
from perfdb.analysis.dimensions import Value as DimensionValue
from perfdb.analysis.query.query import Query
from perfdb.results.models import Device, Level, Study, System, Workload
from perfdb.results.queries.conditions import select_runs
from perfdb.results.queries.name_search import Found, Hit, Kind, search_names
from perfdb.web.home.overview import Link
from perfdb.web.links import to_page
from perfdb.web.questions import question_links
from perfdb.web.view_access import read_required

# A value with blanks stands in quotes: device:"Guest LAN".
_CHOICE = re.compile(r"""([\w.]+)[:=](?:"([^"]+)"|(\S+))""")
_VOCABULARY: dict[str, tuple[type[Model], str]] = {
    "study": (Study, "slug"),
    "system": (System, "name"),
    "level": (Level, "name"),
    "workload": (Workload, "name"),
    "device": (Device, "name"),
}


class Narrowed(NamedTuple):
    """Runs chosen by words of a search, with links to list and charts; ``fits`` if there are any."""

    says: str
    runs: str
    charts: str
    fits: bool


def parse_run_filters(text: str) -> tuple[Narrowed | None, str]:
    """Return the runs that words choose, None without any, and the remaining text."""
    filters: dict[str, tuple[DimensionValue, ...]] = {}

    def take(match: re.Match[str]) -> str:
        if (chosen := _chosen(match[1].lower(), match[2] or match[3])) is None:
            return match[0]
        declared, value = chosen
        filters[declared.name] = (*filters.get(declared.name, ()), value)
        return ""

    rest = " ".join(_CHOICE.sub(take, text).split())
    return (_leading_to(Query(filters=filters)) if filters else None), rest


def _chosen(name: str, text: str) -> tuple[Dimension, DimensionValue] | None:
    """Return a dimension and its stored value, or None if one is unknown."""
    if not (name in BY_NAME or name in SELECTORS or (name.startswith(FACTOR) and name != FACTOR)):
        return None
    declared = dimension(name)
    try:
        return declared, declared.parse(_as_stored(name, text))
    except ValueError:
        return None


def _as_stored(name: str, text: str) -> str:
    """Return the stored name that the text equals or alone begins, else the text."""
    if name not in _VOCABULARY:
        return text
    model, field = _VOCABULARY[name]
    begins = model._default_manager.filter(**{f"{field}__istartswith": text}).values_list(field, flat=True)
    found: list[str] = sorted(begins, key=len)[:2]
    meant = len(found) == 1 or (found and len(found[0]) == len(text))
    return found[0] if meant else text


def _leading_to(query: Query) -> Narrowed:
    pairs = [(name, value) for name, values in query.filters.items() for value in values]
    says = describe_values([name for name, _ in pairs], [value for _, value in pairs])
    return Narrowed(says, to_page("runs", query), to_page("charts", query), select_runs(query).exists())


TITLES = {
    Kind.STUDY: "Studies",
    Kind.RUN: "Runs",
    Kind.DEVICE: "Devices",
    Kind.WORKLOAD: "Workloads",
    Kind.SYSTEM: "Systems",
    Kind.LEVEL: "Levels",
    Kind.TAG: "Tags",
    Kind.QUERY: "Saved views",
    Kind.REPORT: "Tables, figures and findings",
    Kind.NOTE: "Notes",
    Kind.FILE: "Files",
}
# What the text is that is searched beside the name.
_TEXTS = {Kind.STUDY: "purpose or source", Kind.REPORT: "prose", Kind.WORKLOAD: "pattern", Kind.SYSTEM: "machine"}
_DIMENSIONS = frozenset({Kind.DEVICE, Kind.WORKLOAD, Kind.SYSTEM, Kind.LEVEL, Kind.TAG})
# Letters before what fits, and in all, of a text of which only a part is shown.
_BEFORE, _SHOWN = 40, 160
# How alike a word must be to one that was mistyped for its letters to be marked.
_ALIKE = 0.55
_WORD = re.compile(r"[\w.-]+")

# A text in pieces, each with whether it fits.
Pieces = list[tuple[str, bool]]


def _shown(hit: Hit, found: Found) -> dict[str, Any]:
    """Return a hit; ``excerpt`` is the match in the text ``why``."""
    name, text = (mark_words(each, found.words, near=found.near) for each in (hit.name or "without a title", hit.text))
    in_name = any(fits for _, fits in name) or not any(fits for _, fits in text)
    return {
        "name": _around(name) if hit.kind is Kind.NOTE else name,
        "address": _address(hit),
        "why": "" if in_name else _TEXTS.get(hit.kind, "text"),
        "detail": _detail(hit),
        "excerpt": [] if in_name else _around(text),
        "links": _links(hit),
    }


def mark_words(text: str, words: Iterable[str], *, near: bool) -> Pieces:
    """Return a text cut at the words; with ``near``, also at similar words."""
    wanted = sorted({_in(text, word) if near else word for word in words} - {""}, key=len, reverse=True)
    if not wanted:
        return [(text, False)] if text else []
    parts = re.split(f"({'|'.join(map(re.escape, wanted))})", text, flags=re.IGNORECASE)
    return [(part, at % 2 == 1) for at, part in enumerate(parts) if part]


def _in(text: str, word: str) -> str:
    """Return the word if the text has it, else a similar word, or ""."""
    if word in text.upper():
        return word
    alike = [(SequenceMatcher(None, word, each.upper()).ratio(), each) for each in set(_WORD.findall(text))]
    ratio, best = max(alike, default=(0.0, ""))
    return best if ratio >= _ALIKE else ""


def _around(text: Pieces) -> Pieces:
    """Return the first match with some text around it."""
    first = next((at for at, (_, fits) in enumerate(text) if fits), 0)
    before = "".join(part for part, _ in text[:first])
    cut: Pieces = [(f"…{before[-_BEFORE:]}" if len(before) > _BEFORE else before, False)]
    room = _SHOWN
    for part, fits in text[first:]:
        cut.append((part if len(part) <= room else f"{part[:room]}…", fits))
        room -= len(part)
        if room <= 0:
            break
    return [(part, fits) for part, fits in cut if part]


def _address(hit: Hit) -> str:
    if hit.kind in _DIMENSIONS:
        return _list("runs", **{hit.kind.value: hit.name})
    return _ADDRESSES[hit.kind](hit)


def _of_item(hit: Hit) -> str:
    about = hit.about
    # Findings and prose have no number of their own: their page counts them.
    numbered = about["kind"] in ("table", "figure")
    number = slugify(about["number"] or str(about["position"])) if numbered else about["told"]
    return f"{reverse('web:study', args=[about['study__slug']])}#{about['kind']}-{number}"


_ADDRESSES: dict[Kind, Callable[[Hit], str]] = {
    Kind.STUDY: lambda hit: reverse("web:study", args=[hit.about["slug"]]),
    Kind.RUN: lambda hit: (
        _list("runs", run_id=hit.name) if hit.about["several"] else reverse("web:run", args=[hit.about["pk"]])
    ),
    Kind.QUERY: lambda hit: f"{reverse('web:' + hit.about['page'])}?{hit.about['query']}",
    Kind.REPORT: _of_item,
    Kind.NOTE: lambda hit: reverse("web:run", args=[hit.about["run_id"]]),
    Kind.FILE: lambda hit: reverse("web:artifact", args=[hit.about["artifact_id"]]),
}


def _list(page: str, **chosen: Any) -> str:
    return to_page(page, Query(filters={name: (value,) for name, value in chosen.items()}))


def _links(hit: Hit) -> list[Link]:
    """Return further links of a hit, such as its charts."""
    if hit.kind is Kind.STUDY:
        pages = ("runs", "charts", "compare", "maximum")
        return [Link(question_links.TITLES.get(page, "Runs"), _list(page, study=hit.about["slug"])) for page in pages]
    if hit.kind is Kind.WORKLOAD:
        charts = to_page("charts", question_links.workload_query(hit.name))
        return [Link("Charts", charts), Link("Ranking", _list("maximum", workload=hit.name))]
    if hit.kind in _DIMENSIONS:
        return [Link("Charts", _list("charts", **{hit.kind.value: hit.name}))]
    if hit.kind is Kind.FILE:
        return [Link(f"Upload {hit.about['upload_id']}", reverse("web:upload", args=[hit.about["upload_id"]]))]
    return []


def _detail(hit: Hit) -> str:
    """Return the context of a hit, such as its study, in one line."""
    about = hit.about
    said: dict[Kind, Callable[[], tuple[str, ...]]] = {
        Kind.RUN: lambda: ("several runs",) if about["several"] else _of_run(about),
        Kind.DEVICE: lambda: (about["kind"] if about["kind"] != "unknown" else "",),
        Kind.QUERY: lambda: (about["page"], about["study__title"], about["owner__username"]),
        Kind.REPORT: lambda: (f"{about['kind']} {about['number']}".strip(), about["study__title"]),
        Kind.NOTE: lambda: (f"run {about['run__run_id']}, trial {about['run__trial']}", about["author__username"]),
    }
    return " · ".join(filter(None, said[hit.kind]())) if hit.kind in said else ""


def _of_run(about: dict[str, Any]) -> tuple[str, ...]:
    numbers = [dimension(name).describe(about[name]) for name in ("mtu", "users") if about[name] is not None]
    ended = "" if about["status"] == "complete" else about["status"]
    return (about["study__title"], about["workload__name"], about["device__name"], *numbers, ended)


# Of each kind.
_RESULTS, _SUGGESTIONS = 20, 4


@read_required()
def results(request: HttpRequest) -> HttpResponse:
    """Show all hits of ``q`` by kind."""
    return _answer(request, "web/search.html", _RESULTS)


@read_required()
def suggestions(request: HttpRequest) -> HttpResponse:
    """Return the suggestions below the search box, as a fragment."""
    return _answer(request, "web/parts/suggestions.html", _SUGGESTIONS)


def _answer(request: HttpRequest, template: str, size: int) -> HttpResponse:
    asked = request.GET.get("q", "").strip()
    chosen, rest = parse_run_filters(asked)
    found = search_names(rest, size)
    groups = [
        {"kind": kind.value, "title": TITLES[kind], "hits": [_shown(hit, found) for hit in hits]}
        for kind, hits in found.hits.items()
    ]
    context = {"asked": asked, "chosen": chosen, "near": found.near, "groups": groups, "most": size}
    return render(request, template, context)
