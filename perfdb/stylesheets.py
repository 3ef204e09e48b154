"""Style sheets that import others, as one text: a browser would ask for each once it has read who imports it."""

import posixpath
import re
from collections.abc import Callable

_IMPORT = re.compile(r'^@import "([^"]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def joined(name: str, read: Callable[[str], str]) -> str:
    """The sheet with those that it imports in their places. ``read`` gives a sheet's text by its name."""
    return "".join(map(read, parts(name, read)))


def parts(name: str, read: Callable[[str], str]) -> list[str]:
    """The names of the sheets that it consists of, in order; its own where it imports none.

    Raises ValueError for one that imports others and has rules of its own: these would have no place among them.
    """
    text, folder = read(name), posixpath.dirname(name)
    imports = _IMPORT.findall(text)
    if imports and _COMMENT.sub("", _IMPORT.sub("", text)).strip():
        raise ValueError(f"{name} imports style sheets and has rules of its own: put these into one of them")
    return [part for each in imports for part in parts(posixpath.join(folder, each), read)] or [name]
