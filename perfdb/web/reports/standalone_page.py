"""Page as one file that needs no server."""

import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from perfdb.results.models import Study
from perfdb.staticfiles import join_sheet


def static_text(name: str) -> str:
    """Return a static file's text. Raise FileNotFoundError."""
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(f"{name} is not among the static files")
    return Path(found).read_text(encoding="utf-8")


# Of rendered templates: links do not nest, and a quotation mark within a text or attribute is escaped there.
_LINK = re.compile(r'<a\b[^>]*? href="(?P<address>[^"]*)"[^>]*>(?P<text>.*?)</a>', re.DOTALL)


def closed(html: str, study: Study, token: str) -> SafeString:
    """Return HTML with links inside the page and to its tables only."""
    tables = f"/api/v1/studies/{study.slug}/tables/"
    shared = reverse("web:shared", args=[token]) + "tables/"

    def link(match: re.Match[str]) -> str:
        address = match["address"]
        if address.startswith(tables):
            return match[0].replace(f' href="{tables}', f' href="{shared}', 1)
        outside = address.startswith(("http://", "https://"))
        return match[0] if address.startswith("#") or outside else f"<span>{match['text']}</span>"

    return mark_safe(_LINK.sub(link, html))


_STYLES = "css/shared.css"
# What draws figures; nothing else works without a server.
_PLOTLY = "plotly/plotly.min.js"
# Each after those that it imports.
_CHART = tuple(f"js/chart{part}.js" for part in ("-engine", "-words", "-style", "-points", "-runs", "-trials", ""))
# Modules of one file need not import each other.
_IMPORT_OR_EXPORT = re.compile(r"^import .* from .*;\n|^export (?=function|const|class)", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:function|const|class) (\w+)", re.MULTILINE)
# Attributes only: in a text the quotation mark would be escaped.
_LEADING = re.compile(r'( href=")/(?!/)')


def _module(source: str) -> str:
    """Return a module as a script that exposes only its exports."""
    exported = f"{{ {', '.join(_EXPORTED.findall(source))} }}"
    return f"const {exported} = (() => {{\n{_IMPORT_OR_EXPORT.sub('', source)}\nreturn {exported};\n}})();"


def _inside_script(source: str) -> str:
    """Return code that cannot end its script element."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def styles() -> SafeString:
    """Return all style sheets in order."""
    return mark_safe(join_sheet(_STYLES, static_text))


@cache
def drawing_scripts() -> tuple[SafeString, SafeString]:
    """Return Plotly and the drawing module, five million characters."""
    together = "\n".join(_module(static_text(name)) for name in _CHART)
    plotly, chart = _inside_script(static_text(_PLOTLY)), _inside_script(together)
    return mark_safe(plotly), mark_safe(chart)


def report_file(study: Study, contents: dict[str, object], server: str, token: str = "") -> str:
    """Return a study's page as a file; ``contents`` is its template context.

    ``server`` is the address of the instance, ending in a slash. With the ``token`` of a published report the
    file has no other links.
    """
    body = render_to_string("web/parts/report.html", {**contents, "file": True, "token": token})
    body = closed(body, study, token) if token else body
    page = reverse("web:shared", args=[token]) if token else reverse("web:study", args=[study.slug])
    return as_file(study.title, study.source, body, server, page, runs="#run-" if token else "")


def as_file(title: str, source: str, body: str, server: str, page: str, *, runs: str = "") -> str:
    """Return a part of the ``page`` as a file.

    ``runs`` is the address of a chart's runs, by default the server's list.
    """
    plotly, chart = drawing_scripts()
    context = {
        "study": {"title": title, "source": source},
        "body": mark_safe(_LEADING.sub(rf"\g<1>{server}", body)),
        "styles": styles(),
        "plotly": plotly,
        "chart": chart,
        "address": server + page.removeprefix("/"),
        "runs": runs or server + reverse("web:runs").removeprefix("/"),
    }
    return render_to_string("web/report_file.html", context)
