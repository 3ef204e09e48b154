"""Hits of a search as pages show them: where they lead, why they are there, and which letters fitted."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from django.urls import reverse
from django.utils.text import slugify

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.query.query import Query
from perfdb.results.queries.run_list.search import Found, Hit, Kind
from perfdb.web.questions import suggested_questions

TITLES = {
    Kind.STUDY: "Studies",
    Kind.RUN: "Runs",
    Kind.DEVICE: "Devices",
    Kind.WORKLOAD: "Workloads",
    Kind.SYSTEM: "Systems",
    Kind.LEVEL: "Levels",
    Kind.TAG: "Tags",
    Kind.QUERY: "Saved questions",
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


@dataclass(frozen=True, slots=True)
class Link:
    """A further place to go to from a hit."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit. ``detail``: what it belongs to; ``excerpt``: what fits where it is not the name, of the text ``why``."""

    name: Pieces
    address: str
    why: str
    detail: str
    excerpt: Pieces
    links: list[Link]


@dataclass(frozen=True, slots=True)
class Group:
    """The hits of one kind."""

    kind: str
    title: str
    hits: list[Shown]


def groups(found: Found) -> list[Group]:
    """What was found, by kind."""
    return [Group(kind.value, TITLES[kind], [_shown(hit, found) for hit in hits]) for kind, hits in found.hits.items()]


def _shown(hit: Hit, found: Found) -> Shown:
    name, text = (pieces(each, found.words, near=found.near) for each in (hit.name or "without a title", hit.text))
    in_text = any(fits for _, fits in text)
    in_name = any(fits for _, fits in name) or not in_text
    why = "" if in_name else _TEXTS.get(hit.kind, "text")
    if hit.kind is Kind.NOTE:
        name = _around(name)
    excerpt = [] if in_name else _around(text)
    return Shown(name, _address(hit), why, _detail(hit), excerpt, _links(hit))


def pieces(text: str, words: Iterable[str], *, near: bool) -> Pieces:
    """A text cut where one of these words begins and ends; ``near``: or what it may have been mistyped for."""
    wanted = sorted({_in(text, word) if near else word for word in words} - {""}, key=len, reverse=True)
    if not wanted:
        return [(text, False)] if text else []
    parts = re.split(f"({'|'.join(map(re.escape, wanted))})", text, flags=re.IGNORECASE)
    return [(part, at % 2 == 1) for at, part in enumerate(parts) if part]


def _in(text: str, word: str) -> str:
    """The word itself where it occurs in the text, else what is most alike; empty where nothing is."""
    if word in text.upper():
        return word
    alike = [(SequenceMatcher(None, word, each.upper()).ratio(), each) for each in set(_WORD.findall(text))]
    ratio, best = max(alike, default=(0.0, ""))
    return best if ratio >= _ALIKE else ""


def _around(text: Pieces) -> Pieces:
    """The first place that fits with some letters around it."""
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


def _of_runs(hit: Hit) -> str:
    return _list("runs", run_id=hit.name) if hit.about["several"] else reverse("web:run", args=[hit.about["pk"]])


def _of_item(hit: Hit) -> str:
    about = hit.about
    # Findings and prose have no number of their own: their page counts them.
    numbered = about["kind"] in ("table", "figure")
    number = slugify(about["number"] or str(about["position"])) if numbered else about["told"]
    return f"{reverse('web:study', args=[about['study__slug']])}#{about['kind']}-{number}"


_ADDRESSES: dict[Kind, Callable[[Hit], str]] = {
    Kind.STUDY: lambda hit: reverse("web:study", args=[hit.about["slug"]]),
    Kind.RUN: _of_runs,
    Kind.QUERY: lambda hit: f"{reverse('web:' + hit.about['page'])}?{hit.about['query']}",
    Kind.REPORT: _of_item,
    Kind.NOTE: lambda hit: reverse("web:run", args=[hit.about["run_id"]]),
    Kind.FILE: lambda hit: reverse("web:artifact", args=[hit.about["artifact_id"]]),
}


def _list(page: str, **chosen: Any) -> str:
    query = Query()
    for name, value in chosen.items():
        query = query.with_filter(name, value)
    return f"{reverse(f'web:{page}')}?{query.encode()}"


def _links(hit: Hit) -> list[Link]:
    """Where one may want to go instead."""
    if hit.kind is Kind.STUDY:
        pages = ("runs", "charts", "compare", "maximum")
        return [Link(page.capitalize(), _list(page, study=hit.about["slug"])) for page in pages]
    if hit.kind is Kind.WORKLOAD:
        charts = f"{reverse('web:charts')}?{suggested_questions.for_workload(hit.name).encode()}"
        return [Link("Charts", charts), Link("Maximum", _list("maximum", workload=hit.name))]
    if hit.kind in _DIMENSIONS:
        return [Link("Charts", _list("charts", **{hit.kind.value: hit.name}))]
    if hit.kind is Kind.FILE:
        return [Link(f"Upload {hit.about['upload_id']}", reverse("web:upload", args=[hit.about["upload_id"]]))]
    return []


def _detail(hit: Hit) -> str:
    """What a hit belongs to, in a line."""
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
