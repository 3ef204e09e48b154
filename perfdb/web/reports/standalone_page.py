"""Static files as texts."""

import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from perfdb.results.models import Study
from perfdb.stylesheets import joined


def static_text(name: str) -> str:
    """What a static file holds; raises FileNotFoundError for none."""
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(f"{name} is not among the static files")
    return Path(found).read_text(encoding="utf-8")


# Of rendered templates: links do not nest, and a quotation mark within a text or attribute is escaped there.
_LINK = re.compile(r'<a\b[^>]*? href="(?P<address>[^"]*)"[^>]*>(?P<text>.*?)</a>', re.DOTALL)


def closed(html: str, study: Study, token: str) -> SafeString:
    """Rendered HTML in which only links within the page and to the report's own tables are left."""
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
    """A module in a scope of its own, as a script that leaves only what it exports to those after it."""
    exported = f"{{ {', '.join(_EXPORTED.findall(source))} }}"
    return f"const {exported} = (() => {{\n{_IMPORT_OR_EXPORT.sub('', source)}\nreturn {exported};\n}})();"


def _inside_script(source: str) -> str:
    """Code that cannot end the element it stands in, whatever its strings and regular expressions say."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def styles() -> SafeString:
    """All style sheets in their order."""
    return mark_safe(joined(_STYLES, static_text))


@cache
def drawing_scripts() -> tuple[SafeString, SafeString]:
    """Plotly, and the module that draws figures with it; some five million characters."""
    together = "\n".join(_module(static_text(name)) for name in _CHART)
    plotly, chart = _inside_script(static_text(_PLOTLY)), _inside_script(together)
    return mark_safe(plotly), mark_safe(chart)


def report_file(study: Study, contents: dict[str, object], server: str, token: str = "") -> str:
    """The page of a study as a file of its own; ``contents`` is what its template shows, less what asks a server.

    ``server`` is the address of the instance, with a slash at its end. With the ``token`` of a published report the
    file leads to nothing else.
    """
    body = render_to_string("web/parts/report.html", {**contents, "file": True, "token": token})
    body = closed(body, study, token) if token else body
    page = reverse("web:shared", args=[token]) if token else reverse("web:study", args=[study.slug])
    return as_file(study.title, study.source, body, server, page, runs="#run-" if token else "")


def as_file(title: str, source: str, body: str, server: str, page: str, *, runs: str = "") -> str:
    """A rendered part of a page as a file of its own. ``page``: its address on the server.

    ``runs`` is where a chart leads to its runs, the server's list unless said.
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
