"""Prose as people write it, by the marks of Markdown: headings, paragraphs, lists, emphasis, code, links, and blocks.

All else stands as it is. A block between two lines of three backquotes is shown as written, but for ``table`` and
``chart``: these hold questions, and their answers are drawn in their place.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

TABLE, CHART = "table", "chart"

_FENCED = re.compile(r"^```[ \t]*(?P<kind>\w*)[ \t]*(?P<title>[^\n`]*)\n(?P<text>.*?)(?:^```[ \t]*$|\Z)", re.M | re.S)
_ITEM = re.compile(r"(?:^|\n)[-*] +")
_NUMBERED = re.compile(r"(?:^|\n)[0-9]{1,3}[.)] +")
_HEADING = re.compile(r"(#{1,3}) +([^\n]+)(?:\n|$)")
_MARKED = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<em>[^*\s][^*]*)\*(?![\w*])"
    r"|\[(?P<a>[^\[\]]+)\]\((?P<address>(?:https?://|/(?!/)|#)[^\s()]*)\)"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of prose as HTML, or a question to be answered in place: ``kind`` is then `TABLE` or `CHART`.

    ``questions`` are its lines: query strings or addresses of pages.
    """

    html: str = ""
    kind: str = ""
    title: str = ""
    questions: tuple[str, ...] = ()


def blocks(text: str) -> Iterator[Block]:
    """A text cut at its questions."""
    plain: list[SafeString] = []
    for piece in _pieces(text.replace("\r\n", "\n")):
        if isinstance(piece, Block):
            if any(plain):
                yield Block(_joined(plain))
            plain = []
            yield piece
        else:
            plain.append(piece)
    if any(plain):
        yield Block(_joined(plain))


def html(text: str) -> SafeString:
    """The text as HTML, without its questions; nothing in it becomes a tag but what the marks stand for."""
    return _joined([block.html for block in blocks(text) if not block.kind])


def _joined(parts: Sequence[str]) -> SafeString:
    return format_html_join("\n", "{}", ((part,) for part in parts if part))


def _pieces(text: str) -> Iterator[SafeString | Block]:
    end = 0
    for fenced in _FENCED.finditer(text):
        yield _paragraphs(text[end : fenced.start()])
        end = fenced.end()
        if fenced["kind"] in (TABLE, CHART):
            lines = tuple(line.strip() for line in fenced["text"].splitlines() if line.strip())
            yield Block("", fenced["kind"], fenced["title"].strip(), lines)
        else:
            yield format_html("<pre><code>{}</code></pre>", fenced["text"].rstrip("\n"))
    yield _paragraphs(text[end:])


def _paragraphs(text: str) -> SafeString:
    parts = re.split(r"\n\s*\n", text.strip())
    return format_html_join("\n", "{}", ((_block(part),) for part in parts if part.strip()))


def _block(block: str) -> SafeString:
    """A heading, a paragraph, a list, or each with what follows."""
    if heading := _HEADING.match(block):
        # The page's own headings end at the third level.
        level = SafeString(str(3 + len(heading[1])))
        rest = block[heading.end() :]
        return format_html("<h{0}>{1}</h{0}>{2}", level, _line(heading[2]), _block(rest) if rest.strip() else "")
    for mark, tag in ((_ITEM, "ul"), (_NUMBERED, "ol")):
        lead, *items = mark.split(block)
        if items:
            listed = format_html_join("", "<li>{}</li>", ((_line(item),) for item in items))
            return format_html("{0}<{1}>{2}</{1}>", _paragraph(lead), SafeString(tag), listed)
    return _paragraph(block)


def _paragraph(text: str) -> SafeString:
    return format_html("<p>{}</p>", _line(text)) if text.strip() else SafeString()


def _line(text: str) -> SafeString:
    parts, end = [], 0
    text = " ".join(text.split())
    for match in _MARKED.finditer(text):
        parts += [conditional_escape(text[end : match.start()]), _element(match)]
        end = match.end()
    parts.append(conditional_escape(text[end:]))
    return format_html_join("", "{}", ((part,) for part in parts))


def _element(match: re.Match[str]) -> SafeString:
    """An element of one of the names above."""
    if match["a"]:
        return format_html('<a href="{}">{}</a>', match["address"], match["a"])
    tag = match.lastgroup or ""
    return format_html("<{0}>{1}</{0}>", SafeString(tag), match[tag])
