"""Template helpers: figures printed as their metric says, and words for states."""

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
from perfdb.analysis.comparison import verdict_words
from perfdb.analysis.dimensions import BY_NAME, Value, dimension
from perfdb.analysis.insights.bottleneck import Bottleneck
from perfdb.analysis.metrics import Measure
from perfdb.analysis.render.labels import measure_title
from perfdb.analysis.units import decimals_for, round_half_up
from perfdb.stylesheets import parts
from perfdb.web.home.rules_page import anchor, limit_anchor
from perfdb.web.reports.embedded_questions import html
from perfdb.web.reports.standalone_page import static_text

register = template.Library()

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
    """Which version of perfdb this is."""
    return settings.VERSION


@register.simple_tag
def verdicts() -> tuple[tuple[str, str, str, str], ...]:
    """What the words beside differences mean: (sign, word, meaning, rule)."""
    return verdict_words.LEGEND


@register.filter
def tone(word: str) -> str:
    """The badge class of a state, an outcome or a severity."""
    return next((tone for tone, verdict_words in _TONES.items() if word in verdict_words), "")


@register.filter
def figure(value: float | None, metric: str) -> str:
    """A value with the decimals of its metric, more where it is small; a dash where there is none, never a zero."""
    if value is None:
        return MISSING
    return round_half_up(value, decimals_for([value], metrics.BY_NAME[metric].decimals))


@register.filter
def unrounded(value: float | None) -> str:
    """All digits of a value, for those who want to calculate on."""
    return "" if value is None else repr(value).removesuffix(".0")


@register.filter
def sample(value: float | None) -> str:
    """A raw reading: without decimals where it is whole, else with up to four significant ones."""
    if value is None:
        return MISSING
    return f"{value:.0f}" if value == int(value) else f"{value:.{4 if abs(value) < 1 else 3}f}".rstrip("0").rstrip(".")


@register.filter
def amount(value: float) -> str:
    """A number that went into a formula, without the noise of binary fractions: 611.78, not 611.7800000000002."""
    return f"{value:.12g}"


@register.filter
def counted(number: int) -> str:
    """How many there are, with a separator of thousands: 20,000."""
    return f"{number:,}"


@register.filter
def is_time(name: str) -> bool:
    """Whether an input is the time between two captures, whose readings are moments."""
    return name in ("time", "elapsed_s")


@register.filter
def clock(seconds: float) -> str:
    """The moment of a capture, in the local time of where it was taken."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


@register.filter
def size(count: int) -> str:
    """A number of bytes for people."""
    return filesizeformat(count).replace("\xa0", " ")


@register.filter
def breakable(path: str) -> SafeString:
    """A path that may be broken into lines where its parts end, and not within a word."""
    return format_html_join(SafeString("<wbr>"), "{}", ((part,) for part in _PARTS.findall(path)))


@register.filter
def dimensions(values: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """The dimensions that have a value, titled, in the order of their declaration, factors last."""
    order = list(BY_NAME)
    names = sorted(values, key=lambda name: (order.index(name) if name in order else len(order), name))
    return [(dimension(name).title, values[name]) for name in names if values[name] not in (None, "")]


@register.filter
def measure(text: str) -> str:
    """The title of a measure that is written ``name@role``."""
    return measure_title(Measure.parse(text))


@register.filter
def opening(text: str) -> str:
    """A long text's first sentence, where the rest of it stands below; a short one whole."""
    return text if len(text) <= _OPENING else text.partition(". ")[0].removesuffix(".") + "."


@register.filter
def title_of(measure: Measure) -> str:
    """The title of a measure."""
    return measure_title(measure)


@register.filter
def given(value: Any) -> Any:
    """The value itself, or a dash where there is none; zero is a value."""
    return MISSING if value is None or value == "" else value


@register.filter
def measured(name: str) -> str:
    """The title of a number that decided: a measure's where it is one, else its name."""
    return measure_title(Measure.parse(name)) if name.partition("@")[0] in metrics.BY_NAME else name


@register.filter
def rule(limit: Bottleneck) -> str:
    """Where the page on rules explains what is said to have limited a run."""
    return limit_anchor(limit)


@register.filter
def explained(rule: str) -> str:
    """Where the page on rules explains a verdict of a comparison."""
    return anchor("comparing", rule)


@register.simple_tag(takes_context=True)
def current(context: RequestContext, *beginnings: str) -> SafeString:
    """Marks the link to the part of the site whose addresses begin so, on every page of that part."""
    request = context.get("request")
    here = request is not None and request.path.startswith(beginnings)
    return SafeString(' aria-current="page"' if here else "")


@register.simple_tag
def stylesheet(name: str) -> SafeString:
    """The link to a sheet; to each that it imports where static files are served as they lie there."""
    names = [name] if getattr(staticfiles_storage, "joins_sheets", False) else parts(name, static_text)
    return format_html_join("\n", '<link rel="stylesheet" href="{}">', ((static(each),) for each in names))


@register.filter
def prose(text: str) -> SafeString:
    """Paragraphs, lists, emphasis and code as people mark them; all else is escaped."""
    return html(text)
