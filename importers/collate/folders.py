"""What files' places say: a folder named after a run holds that run's files."""

from collections import Counter
from collections.abc import Iterable
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


def stem_of(files: Iterable[str]) -> dict[str, str]:
    """A run id for each file: its name without ending, after as many of its folders as make it differ from others."""
    paths = {file: _without_ending(PurePosixPath(file)) for file in files}
    names = {file: path.name for file, path in paths.items()}
    for depth in range(2, max((len(path.parts) for path in paths.values()), default=0) + 1):
        used = Counter(names.values())
        for file, path in paths.items():
            if used[names[file]] > 1:
                names[file] = "/".join(path.parts[-depth:])
    return names


def _without_ending(path: PurePosixPath) -> PurePosixPath:
    packed = path.with_suffix("") if path.suffix == ".gz" else path
    return packed.with_suffix("") if packed.suffix else packed
