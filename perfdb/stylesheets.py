"""Style sheets that import others, as one text: a browser would ask for each once it has read who imports it."""

import posixpath
import re
from collections.abc import Callable

_IMPORT = re.compile(r'^@import "([^"]+)";\n', re.MULTILINE)


def joined(name: str, read: Callable[[str], str]) -> str:
    """The sheet with those that it imports in their places. ``read`` gives a sheet's text by its name."""
    folder = posixpath.dirname(name)
    return _IMPORT.sub(lambda found: joined(posixpath.join(folder, found[1]), read), read(name))


def parts(name: str, read: Callable[[str], str]) -> list[str]:
    """The names of the sheets that it consists of, in order; its own where it imports none."""
    imports = _IMPORT.findall(read(name))
    folder = posixpath.dirname(name)
    return [part for each in imports for part in parts(posixpath.join(folder, each), read)] or [name]
