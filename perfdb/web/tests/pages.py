"""Reading pages in tests: their text, and everything that a strict content security policy would refuse."""

import json
import re
from html.parser import HTMLParser
from typing import Any, Protocol


class Answer(Protocol):
    """A response of the test client that is not streamed."""

    content: bytes


class _Reader(HTMLParser):
    """Collects a page's visible text and its inline scripts, styles and event handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.inline: list[str] = []
        self._around: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.inline += [f"<{tag} {name}>" for name in given if name == "style" or name.startswith("on")]
        self.inline += [f"<{tag} {name}>" for name, value in attrs if (value or "").startswith("javascript:")]
        if tag == "style" or (tag == "script" and "src" not in given and given.get("type") != "application/json"):
            self.inline.append(f"<{tag}>")
        if tag in ("script", "style"):
            self._around.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._around.pop()

    def handle_data(self, data: str) -> None:
        if not self._around:
            self.texts.append(data)


def _read(response: Answer) -> _Reader:
    reader = _Reader()
    reader.feed(response.content.decode())
    return reader


def text_of(response: Answer) -> str:
    """What a reader sees of a page, with single blanks."""
    return re.sub(r"\s+", " ", " ".join(_read(response).texts))


def inline_code(response: Answer) -> list[str]:
    """Scripts, styles and handlers inside the page, which the policy forbids."""
    return _read(response).inline


def figures_of(source: str) -> list[dict[str, Any]]:
    """The figures that a page hands to its script."""
    found = re.findall(r'<script id="figure-\d+" type="application/json">(.*?)</script>', source)
    return [json.loads(text) for text in found]
