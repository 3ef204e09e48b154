"""Pages of print files, without carriage control, form feeds and overprinting.

With ASA carriage control column 1 moves the paper (``1`` new page, ``+`` print over the line before); without carriage
control pages may start with a form feed, and overprinting is a CR inside a line.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from importers.model import Text
from importers.monitor.title_blocks import Title

_DIVIDERS = "_-"
_UNDERLINES = "_- "
_OVERPRINTED = ("\r", *(f"{divider}\n" for divider in _DIVIDERS))
_NEW_PAGE, _OVERPRINT = "1", "+"
_LINES = 4000  # Lines that are held at a time.


class Page(NamedTuple):
    """Successive lines of a page below the title; ``first`` is their first number.

    Without a title the lines continue a page, or precede the first one. A line that only underlines is empty.
    """

    title: Title | None
    first: int
    lines: list[str]


def read_pages(text: Text, mark: str, read_title: Callable[[int, str], Title | None]) -> Iterator[Page]:
    """Yield pages, which may come in parts; titles begin with ``mark``."""
    controlled = _has_carriage_control(text, mark)
    lines, number = iter(text.lines), 1
    while taken := list(islice(lines, _LINES)):
        printed = _printed(taken, controlled=controlled)
        title, behind = None, 0
        for at in [at for at, line in enumerate(printed) if mark in line]:
            another = read_title(number + at, printed[at]) if printed[at].lstrip().startswith(mark) else None
            if another is not None:
                yield Page(title, number + behind, printed[behind:at])
                title, behind = another, at + 1
        yield Page(title, number + behind, printed[behind:])
        number += len(taken)


def first_lines(text: Text, mark: str, most: int) -> list[str]:
    """Return the first lines as printed."""
    controlled = _has_carriage_control(text, mark)
    lines = (line for line in text.lines if not (controlled and line.startswith(_OVERPRINT)))
    return _printed(list(islice(lines, most)), controlled=controlled)


def _printed(lines: list[str], *, controlled: bool) -> list[str]:
    """Return the lines without carriage control, underlining and trailing blanks."""
    if controlled:
        lines = [line[1:].rstrip() if line[:1] != _OVERPRINT else "" for line in lines]
    else:
        lines = [line.replace("\f", "").rstrip() for line in lines]
    # Most files have no such line, which is told sooner of all than of each.
    together = "\n".join([*lines, ""])
    if not any(sign in together for sign in _OVERPRINTED):
        return lines
    return [_without_underline(line) if line and (line[-1] in _DIVIDERS or "\r" in line) else line for line in lines]


def _without_underline(line: str) -> str:
    """Return the overprinted text other than underlines."""
    part = next((part for part in line.split("\r") if part.strip(_UNDERLINES)), "").rstrip()
    return part if part.strip(_UNDERLINES) else ""


def _has_carriage_control(text: Text, mark: str) -> bool:
    """Whether the first title has a control character, looked up once for a file."""
    return text.once(f"carriage control of {mark}", lambda: _looked_through(text, mark))


def _looked_through(text: Text, mark: str) -> bool:
    controlled = _NEW_PAGE + mark
    if not text.has([controlled]):
        return False
    either = (controlled, mark)
    for line in text.lines:
        if not line.startswith(either):
            continue
        if line.startswith(controlled):
            return True
        if line.split()[1:2] == ["Run"]:
            return False
    return False
