"""Prose as people write it: paragraphs, lists, emphasis and code by the marks of Markdown, all else as it stands."""

import re

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

_ITEM = re.compile(r"(?:^|\n)[-*] +")
_MARKED = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<em>[^*\s][^*]*)\*(?![\w*])")


def html(text: str) -> SafeString:
    """The text as HTML; nothing that it holds becomes a tag but what this page's marks stand for."""
    blocks = re.split(r"\n\s*\n", text.strip())
    return format_html_join("\n", "{}", ((_block(block),) for block in blocks if block.strip()))


def _block(block: str) -> SafeString:
    """A paragraph, a list, or a paragraph with a list after it."""
    lead, *items = _ITEM.split(block)
    paragraph = format_html("<p>{}</p>", _line(lead)) if lead.strip() else SafeString()
    if not items:
        return paragraph
    listed = format_html_join("", "<li>{}</li>", ((_line(item),) for item in items))
    return format_html("{}<ul>{}</ul>", paragraph, listed)


def _line(text: str) -> SafeString:
    parts, end = [], 0
    text = " ".join(text.split())
    for match in _MARKED.finditer(text):
        tag = match.lastgroup or ""
        parts += [conditional_escape(text[end : match.start()]), _element(tag, match[tag])]
        end = match.end()
    parts.append(conditional_escape(text[end:]))
    return format_html_join("", "{}", ((part,) for part in parts))


def _element(tag: str, text: str) -> SafeString:
    """An element of one of the names above."""
    return format_html("<{0}>{1}</{0}>", SafeString(tag), text)
