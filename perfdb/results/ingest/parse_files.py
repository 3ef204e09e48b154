"""Reading the files of an upload: archives are unpacked, every file is read by the format that recognises it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from importers import archive, formats, run_records
from importers.model import Fragment, Problem, Severity, SourceFile
from perfdb.results import handover
from perfdb.results.early import Early, of_this_job
from perfdb.results.ingest import artifacts
from perfdb.results.ingest.fragment_spool import Fragments
from perfdb.results.ingest.json_runs import FILE
from perfdb.results.models import Upload, UploadFile

_T = TypeVar("_T")

ARCHIVE = "zip"
# How often progress is shown: people see no more, and many files take less time than saying so of each.
_SHOWN_S = 0.25
# So many members of an archive are added in one go.
_TOGETHER = 200
# Bytes that tell an archive; an ordinary log is read once, when it is parsed.
_MAGIC = 4


@dataclass(slots=True)
class FilesRead:
    """What the files of an upload say; ``artifacts`` names each file's artifact.

    ``early``: what is known of the runs beforehand.
    """

    fragments: Fragments = field(default_factory=Fragments)
    problems: list[Problem] = field(default_factory=list)
    artifacts: dict[str, int] = field(default_factory=dict)
    early: Early | None = None


def files_of(
    upload: Upload, read: FilesRead, opened: Callable[[Upload], list[Problem]] = lambda _: []
) -> list[UploadFile]:
    """Unpack what is to be unpacked; the files that are to be read then.

    ``opened`` looks at what was unpacked; where it finds an error, nothing is to be read.
    """
    _unpack_all(upload, read)
    read.problems.extend(found := opened(upload))
    if any(problem.severity == Severity.ERROR for problem in found):
        return []
    files = upload.files.exclude(format=ARCHIVE).exclude(excluded=True).select_related("artifact").order_by("pk")
    return list(files)


def read_all(upload: Upload, files: Sequence[UploadFile], read: FilesRead, progress: Callable[[], None]) -> None:
    """Read the files that are not read yet; ``progress`` is called now and then, and may raise to stop the work."""
    shown, begun = 0, monotonic()
    for done, file in enumerate(files, start=1):
        _read(file, read)
        if done == len(files) or monotonic() - begun > _SHOWN_S:
            progress()
            _note(files[shown:done])
            Upload.objects.filter(pk=upload.pk).update(files_read=done)
            shown, begun = done, monotonic()


def _note(files: Sequence[UploadFile]) -> None:
    """Store what files were recognised as: of very many most are alike."""
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for file in files:
        alike[file.format, file.encoding].append(file.pk)
    for (name, encoding), those in alike.items():
        UploadFile.objects.filter(pk__among=those).update(format=name, encoding=encoding)


def _portions(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """The same, so many at a time."""
    return (items[first : first + size] for first in range(0, len(items), size))


def _unpack_all(upload: Upload, read: FilesRead) -> None:
    """Turn archives into their members, once: a second attempt finds them unpacked."""
    for file in upload.files.filter(container=None, excluded=False).select_related("artifact").order_by("pk"):
        if archive.is_archive((content := artifacts.content(file.artifact))[:_MAGIC]):
            unpacked = archive.unpack(SourceFile(file.path, content))
            read.problems.extend(unpacked.problems)
            folder = _folder_of(file)
            for members in _portions(unpacked.files, _TOGETHER):
                _add_members(file, folder, members)
            UploadFile.objects.filter(pk=file.pk).update(format=ARCHIVE)


def _add_members(container: UploadFile, folder: str, members: Sequence[SourceFile]) -> None:
    kept = artifacts.store_contents(member.data for member in members)
    # Those that an attempt before has added stay.
    UploadFile.objects.bulk_create(
        (
            UploadFile(upload=container.upload, path=f"{folder}/{member.name}", container=container, artifact=artifact)
            for member, artifact in zip(members, kept, strict=True)
        ),
        ignore_conflicts=True,
    )


def _folder_of(container: UploadFile) -> str:
    """Where the members go: by the archive's name, unless files that are no members have such a path."""
    others = UploadFile.objects.filter(upload=container.upload, container=None)
    folder = container.path
    while others.filter(path__startswith=f"{folder}/").exists():
        folder += " (unpacked)"
    return folder


def _read(file: UploadFile, read: FilesRead) -> None:
    """Read a file unless it was; what it was recognised as is noted, and not stored yet."""
    if file.path in read.artifacts:
        return
    if _was_checked(file, read):
        read.artifacts[file.path] = file.artifact_id
        return
    with formats.no_collector():
        for _ in reading(file, read, formats.FileReading(file.path)):
            pass


def reading(file: UploadFile, read: FilesRead, found: formats.FileReading) -> Iterator[Fragment]:
    """The fragments of a file as they are read and added to ``read``, which has all of them and all else at the end.

    ``found`` has what is amiss in those that came so far.
    """
    read.artifacts[file.path] = file.artifact_id
    source = SourceFile(file.path, artifacts.content(file.artifact))
    for fragment in formats.read_fragments(source, found, file.forced_format or None):
        read.fragments.add(fragment)
        yield fragment
    file.format, file.encoding = found.format or "", found.encoding
    read.problems.extend(found.problems)


def _was_checked(file: UploadFile, read: FilesRead) -> bool:
    """Take what a file of run records says from whoever has checked them; whether it is there."""
    if file.path != FILE or file.forced_format:
        return False
    if early := of_this_job():
        read.early, read.fragments, file.encoding = early, early.fragments, early.encoding
    elif left := handover.taken(file.artifact):
        file.encoding = _unpacked(left, read.fragments)
    else:
        return False
    file.format = run_records.NAME
    return True


@formats.no_collector()
def _unpacked(portions: Sequence[bytes], fragments: Fragments) -> str:
    """Add the fragments of all portions; answers how their file is encoded."""
    unpacking = run_records.Unpacking(FILE)
    for portion in portions:
        for fragment in unpacking.fragments(portion):
            fragments.add(fragment)
    return unpacking.encoding
