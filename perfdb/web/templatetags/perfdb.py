"""Template helpers: values in the format of their metric, words, links, style sheets."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import template
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template import RequestContext
from django.template.defaultfilters import filesizeformat
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from perfdb.analysis import metrics
from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import sort_dimensions
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.units import figure_text
from perfdb.analysis.verdicts import words
from perfdb.analysis.workloads import PATTERN_NAMES, traffic_pattern
from perfdb.staticfiles import list_parts
from perfdb.web.home.rules_page import limit_anchor, rule_anchor
from perfdb.web.reports.embedded_questions import render_prose
from perfdb.web.reports.standalone_page import read_static_text

register = template.Library()
register.filter("title_of", measure_title)
register.filter("rule", limit_anchor)
register.filter("prose", render_prose)

# What the first line of a page has room for, in characters.
_OPENING = 240

# How bad a word is: which badge it gets. What is not named here is neutral.
_TONES = {
    "good": {"complete", "done", "new", "extended"},
    "warn": {"incomplete", "preview", "conflict", "warning", "expired"},
    "bad": {"failed", "rejected", "error", "withdrawn"},
}
MISSING = "–"
_PARTS = re.compile(r"[^/._-]*[/._-]+|[^/._-]+")


@register.simple_tag
def version() -> str:
    """Return perfdb's version."""
    return settings.VERSION


@register.simple_tag
def verdicts() -> tuple[tuple[str, str, str, str], ...]:
    """Return the legend of verdicts: (sign, word, meaning, rule)."""
    return words.LEGEND


@register.filter
def tone(word: str) -> str:
    """Return the badge class of a state, outcome or severity; "" if neutral."""
    return next((tone for tone, texts in _TONES.items() if word in texts), "")


@register.filter
def figure(value: float | None) -> str:
    """Return a value with four significant digits; a count with all digits."""
    return MISSING if value is None else figure_text(value)


@register.filter
def unrounded(value: float | None) -> str:
    """Return all digits of a value, for further calculation; "" for None."""
    return "" if value is None else repr(value).removesuffix(".0")


@register.filter
def sample(value: float | None) -> str:
    """Return a raw reading: whole, or with few decimals; a dash for None."""
    if value is None:
        return MISSING
    return f"{value:.0f}" if value == int(value) else f"{value:.{4 if abs(value) < 1 else 3}f}".rstrip("0").rstrip(".")


@register.filter
def amount(value: float) -> str:
    """Return a formula's number without binary noise: 611.78, not 611.7800000000002."""
    return f"{value:.12g}"


@register.filter
def counted(number: int) -> str:
    """Return a count with thousands separator: 20,000."""
    return f"{number:,}"


@register.filter
def is_time(name: str) -> bool:
    """Return whether an input of a formula is the time between two snapshots."""
    return name in ("time", "elapsed_s")


@register.filter
def clock(seconds: float) -> str:
    """Return the moment of a snapshot, in the local time of its host."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


@register.filter
def size(count: int) -> str:
    """Return a number of bytes for people."""
    return filesizeformat(count).replace("\xa0", " ")


@register.filter
def breakable(path: str) -> SafeString:
    """Return a path that browsers may break between its parts."""
    return format_html_join(SafeString("<wbr>"), "{}", ((part,) for part in _PARTS.findall(path)))


@register.filter
def dimensions(values: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Return (title, value) of the known dimensions in declared order, factors last."""
    return [(dimension(name).title, values[name]) for name in sort_dimensions(values) if values[name] not in (None, "")]


@register.filter
def measure(text: str) -> str:
    """Return the title of a measure ``name@role``."""
    return measure_title(Measure.parse(text))


@register.filter
def spelled(workload: str) -> str:
    """Return a workload with the name of the pattern: ``RR (request-response)``."""
    name = PATTERN_NAMES.get(traffic_pattern(workload))
    return f"{workload} ({name})" if name else workload


@register.filter
def opening(text: str) -> str:
    """Return the first sentence of a long text, or a short text whole."""
    return text if len(text) <= _OPENING else text.partition(". ")[0].removesuffix(".") + "."


@register.filter
def or_dash(value: Any) -> Any:
    """Return the value, or a dash for a missing one; zero is a value."""
    return MISSING if value is None or value == "" else value


@register.filter
def measured(name: str) -> str:
    """Return the title of a number that decided: of its measure, else its name."""
    return measure_title(Measure.parse(name)) if name.partition("@")[0] in metrics.BY_NAME else name


@register.filter
def explained(rule: str) -> str:
    """Return the link to a verdict's rule."""
    return rule_anchor("comparing", rule)


@register.simple_tag(takes_context=True)
def current(context: RequestContext, *beginnings: str) -> SafeString:
    """Return the attribute that marks links to the present part of the site."""
    request = context.get("request")
    here = request is not None and request.path.startswith(beginnings)
    return SafeString(' aria-current="page"' if here else "")


@register.simple_tag
def stylesheet(name: str) -> SafeString:
    """Return the links of a style sheet and, if unbundled, its imports."""
    names = [name] if getattr(staticfiles_storage, "joins_sheets", False) else list_parts(name, read_static_text)
    return format_html_join("\n", '<link rel="stylesheet" href="{}">', ((static(each),) for each in names))
