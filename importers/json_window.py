"""The part of a file that is looked at for JSON: whole lines, and more of them when a document takes more."""

from collections.abc import Iterable, Iterator

from importers.json_spread import Source


class Window:
    """Some lines of a file, of which no more is held than what is looked at, and some behind it."""

    def __init__(self, pieces: Iterable[str], ends_whole: bool) -> None:
        """``pieces`` are lines, or many lines in one text, without the end of the last."""
        self._pieces = _with_ends(iter(pieces), ends_whole)
        self.source = Source(next(self._pieces, ""))
        self._next = next(self._pieces, None)
        self._counted, self._line = 0, 1

    @property
    def ends(self) -> bool:
        """Whether nothing comes behind it."""
        return self._next is None

    def line(self, at: int) -> int:
        """The line of a place behind all that were asked for, counted from 1 in the file."""
        self._line += self.source.characters.count("\n", self._counted, at)
        self._counted = at
        return self._line

    def grow(self, at: int) -> int:
        """Drop the lines before a place and have more behind it, as much again at least; answers where it is then.

        As much again: whatever is looked at once more, that takes linear time.
        """
        source = self.source
        begin = source.characters.rfind("\n", 0, at) + 1
        wanted, more = len(source.characters) - begin, list[str]()
        while self._next is not None and wanted >= 0:
            more.append(self._next)
            wanted -= len(self._next)
            self._next = next(self._pieces, None)
        self.source = source.moved(begin, "".join(more))
        self._counted, self._line = 0, self.source.first_line
        return at - begin


def _with_ends(pieces: Iterator[str], ends_whole: bool) -> Iterator[str]:
    last = next(pieces, None)
    for piece in pieces:
        yield f"{last}\n"
        last = piece
    if last is not None:
        yield f"{last}\n" if ends_whole else last
