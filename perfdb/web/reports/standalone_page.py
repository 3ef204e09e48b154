"""Pages as self-contained files: styles, scripts and charts included, links back to the server."""

import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from perfdb.results.models import Study
from perfdb.staticfiles import join_sheet


def read_static_text(name: str) -> str:
    """Return a static file's text. Raise FileNotFoundError."""
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(f"{name} is not among the static files")
    return Path(found).read_text(encoding="utf-8")


# Links in rendered templates do not nest, and their quotation marks are escaped.
_LINK = re.compile(r'<a\b[^>]*? href="(?P<address>[^"]*)"[^>]*>(?P<text>.*?)</a>', re.DOTALL)


def close_links(html: str, study: Study, token: str) -> SafeString:
    """Remove the links of a published report that lead into the instance.

    Links within the page, to the report's own tables and to other sites stay.
    """
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
# The only script that a file needs.
_PLOTLY = "plotly/plotly.min.js"
# In the order of imports.
_CHART = tuple(f"js/chart{part}.js" for part in ("-engine", "-words", "-style", "-points", "-runs", "-trials", ""))
# Imports and exports within the joined file are removed.
_IMPORT_OR_EXPORT = re.compile(r"^import .* from .*;\n|^export (?=function|const|class)", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:function|const|class) (\w+)", re.MULTILINE)
# Matches attributes only, since texts have escaped quotation marks.
_LEADING = re.compile(r'( href=")/(?!/)')


def _module(source: str) -> str:
    """Wrap a module in a function that returns its exports."""
    exported = f"{{ {', '.join(_EXPORTED.findall(source))} }}"
    return f"const {exported} = (() => {{\n{_IMPORT_OR_EXPORT.sub('', source)}\nreturn {exported};\n}})();"


def _inside_script(source: str) -> str:
    """Escape code so that it cannot end its ``script`` element."""
    return source.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def read_styles() -> SafeString:
    """Return all style sheets in order."""
    return mark_safe(join_sheet(_STYLES, read_static_text))


@cache
def read_chart_scripts() -> tuple[SafeString, SafeString]:
    """Return Plotly and the chart module as scripts; five million characters."""
    together = "\n".join(_module(read_static_text(name)) for name in _CHART)
    plotly, chart = _inside_script(read_static_text(_PLOTLY)), _inside_script(together)
    return mark_safe(plotly), mark_safe(chart)


def render_report_file(study: Study, contents: dict[str, object], server: str, token: str = "") -> str:
    """Return a study's page as a file of its own.

    ``contents``: the template's context. ``server``: address of the instance with a final slash. With the ``token`` of
    a published report, other links are removed.
    """
    body = render_to_string("web/parts/report.html", {**contents, "file": True, "token": token})
    body = close_links(body, study, token) if token else body
    page = reverse("web:shared", args=[token]) if token else reverse("web:study", args=[study.slug])
    return render_file(study.title, study.source, body, server, page, runs="#run-" if token else "")


def render_file(title: str, source: str, body: str, server: str, page: str, *, runs: str = "") -> str:
    """Return a rendered part of a page as a file of its own.

    ``page``: its path on the server. ``runs``: where charts link to runs, by default the server's list.
    """
    plotly, chart = read_chart_scripts()
    context = {
        "study": {"title": title, "source": source},
        "body": mark_safe(_LEADING.sub(rf"\g<1>{server}", body)),
        "styles": read_styles(),
        "plotly": plotly,
        "chart": chart,
        "address": server + page.removeprefix("/"),
        "runs": runs or server + reverse("web:runs").removeprefix("/"),
    }
    return render_to_string("web/report_file.html", context)
