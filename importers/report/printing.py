"""Print files to lines: undoes carriage control, form feeds and overprinting.

With ASA carriage control column 1 moves the paper (``1`` new page, ``+`` print over the line before); without it
pages may start with a form feed, and overprinting is a CR inside a line.
"""

from collections.abc import Iterator

from importers.model import Text

_DIVIDERS = "_-"
_UNDERLINES = "_- "
_NEW_PAGE, _OVERPRINT = "1", "+"


def print_lines(text: Text, titles: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The numbered lines as printed, without carriage control, underlining and trailing blanks.

    ``titles`` are what the first line of a page begins with; behind a ``1`` it shows that there is carriage control.
    Only one line is held at a time.
    """
    controlled = _has_carriage_control(text, titles)
    for number, line in text.numbered():
        if controlled and line.startswith(_OVERPRINT):
            continue
        printed = line[1:] if controlled else line.replace("\f", "")
        if "\r" in printed:
            printed = _without_overprint(printed)
        printed = printed.rstrip()
        # An underline divides and is nothing that was printed; it must not look like a row.
        yield number, "" if printed[-1:] in _DIVIDERS and not printed.strip(_UNDERLINES) else printed


def _has_carriage_control(text: Text, titles: tuple[str, ...]) -> bool:
    """By the first title: with carriage control none begins in column 1."""
    if not text.has(titles):
        return False
    controlled = tuple(_NEW_PAGE + title for title in titles)
    either = controlled + titles
    for line in text.lines:
        if not line.startswith(either):
            continue
        if line.startswith(controlled):
            return True
        if line.split()[1:2] == ["Run"]:
            return False
    return False


def _without_overprint(line: str) -> str:
    """Of what was printed on top of each other, that which is not underlining."""
    return next((part for part in line.split("\r") if part.strip(_UNDERLINES)), "")
