"""A report as people see it who may see nothing else of the instance: what leads elsewhere is plain text."""

import re

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from perfdb.results.models import Study

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
