"""Style sheets joined with their imports, to spare requests."""

import posixpath
import re
from collections.abc import Callable

_IMPORT = re.compile(r'^@import "([^"]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def joined(name: str, read: Callable[[str], str]) -> str:
    """Return a sheet with its imports inserted. ``read`` returns a sheet's text by name."""
    return "".join(map(read, parts(name, read)))


def parts(name: str, read: Callable[[str], str]) -> list[str]:
    """Return the names of a sheet's parts in order; its own name without imports.

    Raise ValueError if a sheet has both imports and rules, whose order would be undefined.
    """
    text, folder = read(name), posixpath.dirname(name)
    imports = _IMPORT.findall(text)
    if imports and _COMMENT.sub("", _IMPORT.sub("", text)).strip():
        raise ValueError(f"{name} imports style sheets and has rules of its own: put these into one of them")
    return [part for each in imports for part in parts(posixpath.join(folder, each), read)] or [name]
