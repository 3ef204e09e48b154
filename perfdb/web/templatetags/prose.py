"""The filter that shows prose."""

from django import template
from django.utils.safestring import SafeString

from perfdb.web.reports.markdown_prose import html

register = template.Library()


@register.filter
def prose(text: str) -> SafeString:
    """Paragraphs, lists, emphasis and code as people mark them; all else is escaped."""
    return html(text)
