"""What files' places say: a folder named after a run holds that run's files."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePosixPath

from importers.model import Fragment


def folder_of(fragment: Fragment, run_id: str | None) -> str | None:
    """The path of the innermost folder named after the run; None when no folder on the way to the file is."""
    if run_id is None:
        return None
    path = PurePosixPath(fragment.file)
    for folder in path.parents:
        if folder.name.casefold() == run_id.casefold():
            return str(folder)
    return None


def own_folder(fragment: Fragment, run_id: str | None) -> str | None:
    """The folder named after the run; for a file that names no run the one it lies in, if it lies in any."""
    if run_id is not None:
        return folder_of(fragment, run_id)
    parent = PurePosixPath(fragment.file).parent
    return str(parent) if parent.name else None


def distinct(paths: Iterable[str]) -> dict[str, str]:
    """A run id for each path: its last part, after as many parts before it as make it differ from the others'."""
    parts = {path: PurePosixPath(path).parts for path in paths}
    names = {path: own[-1] for path, own in parts.items()}
    for depth in range(2, max(map(len, parts.values()), default=0) + 1):
        used = Counter(names.values())
        for path, own in parts.items():
            if used[names[path]] > 1:
                names[path] = "/".join(own[-depth:])
    return names


@lru_cache(maxsize=4096)
def without_ending(file: str) -> str:
    """A file's path without the ending of its name."""
    path = PurePosixPath(file)
    packed = path.with_suffix("") if path.suffix == ".gz" else path
    return str(packed.with_suffix("")) if packed.suffix else str(packed)
