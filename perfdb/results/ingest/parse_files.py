"""Unpacking of an upload's archives, and parsing of each file by format."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from importers import formats
from importers.collate.drafts import FragmentGroups
from importers.collate.run_ids import RunIdPattern
from importers.files import archive
from importers.files.content import SpooledList
from importers.model import Fragment, Problem, SourceFile
from perfdb.results.ingest import artifacts
from perfdb.results.models import Upload, UploadFile

ARCHIVE = "zip"
_PROGRESS_S = 0.25  # The least time between two updates of the progress.
_MEMBERS = 200  # Members of an archive that are added by one statement.
_MAGIC = 4  # Bytes that identify an archive.

IN_MEMORY = 10_000  # Up to this number of fragments stay in memory.
TOGETHER = 1000  # Up to this number of fragments are collated together.
BATCH = 500  # The usual number of fragments in a batch.


class FragmentSpool:
    """The fragments of an upload in file order; a large upload spills to disk."""

    def __init__(self) -> None:
        self._fragments: SpooledList[Fragment] = SpooledList(IN_MEMORY)
        self._groups = FragmentGroups()

    def __len__(self) -> int:
        return len(self._fragments)

    def append(self, fragment: Fragment) -> None:
        self._groups.add(fragment, len(self._fragments))
        self._fragments.append(fragment)

    def batches(self, pattern: RunIdPattern | None = None) -> Iterator[list[Fragment]]:
        """Yield all fragments, those of a run in the same batch.

        All fragments are one batch if there are few, or if the run of a fragment follows only from all others.
        """
        few = len(self._fragments) <= TOGETHER
        groups = None if few else self._groups.groups(pattern, self._fragments.__getitem__)
        batch: list[int] = []
        for group in [range(len(self._fragments))] if groups is None else groups:
            if batch and len(batch) + len(group) > BATCH:
                yield [self._fragments[index] for index in sorted(batch)]
                batch = []
            batch += group
        if batch:
            yield [self._fragments[index] for index in sorted(batch)]


@dataclass(slots=True)
class ParsedFiles:
    """The content of an upload's files; ``artifacts`` maps parsed paths to artifacts."""

    fragments: FragmentSpool = field(default_factory=FragmentSpool)
    problems: list[Problem] = field(default_factory=list)
    artifacts: dict[str, int] = field(default_factory=dict)


def files_to_parse(upload: Upload) -> list[UploadFile]:
    """Return the files of an upload without unpacked archives and excluded files."""
    files = upload.files.exclude(format=ARCHIVE).exclude(excluded=True).select_related("artifact")
    return list(files.order_by("pk"))


def parse(files: Sequence[UploadFile], parsed: ParsedFiles, progress: Callable[[int], None]) -> None:
    """Parse files into ``parsed``; ``progress`` gets the number parsed, and may stop by raising."""
    shown, begun = 0, monotonic()
    for done, file in enumerate(files, start=1):
        parsed.artifacts[file.path] = file.artifact_id
        source = SourceFile(file.path, artifacts.content(file.artifact))
        found = formats.read_file(source, file.forced_format or None, parsed.fragments.append)
        file.format, file.encoding = found.format or "", found.encoding
        parsed.problems.extend(found.problems)
        if done == len(files) or monotonic() - begun > _PROGRESS_S:
            progress(done)
            _store_formats(files[shown:done])
            shown, begun = done, monotonic()


def _store_formats(files: Sequence[UploadFile]) -> None:
    """Store the recognised formats by one statement a format."""
    of_format: dict[tuple[str, str], list[int]] = defaultdict(list)
    for file in files:
        of_format[file.format, file.encoding].append(file.pk)
    for (name, encoding), ids in of_format.items():
        UploadFile.objects.filter(pk__among=ids).update(format=name, encoding=encoding)


def unpack(upload: Upload) -> list[Problem]:
    """Add the members of new archives to an upload, and return problems."""
    problems: list[Problem] = []
    for file in upload.files.filter(container=None, excluded=False).select_related("artifact").order_by("pk"):
        if archive.is_archive((content := artifacts.content(file.artifact))[:_MAGIC]):
            unpacked = archive.unpack(SourceFile(file.path, content))
            problems += unpacked.problems
            folder = _folder_of(file)
            for first in range(0, len(unpacked.files), _MEMBERS):
                _add_members(file, folder, unpacked.files[first : first + _MEMBERS])
            UploadFile.objects.filter(pk=file.pk).update(format=ARCHIVE)
    return problems


def _add_members(container: UploadFile, folder: str, members: Sequence[SourceFile]) -> None:
    kept = artifacts.store_contents(member.data for member in members)
    rows = [
        UploadFile(upload=container.upload, path=f"{folder}/{member.name}", container=container, artifact=artifact)
        for member, artifact in zip(members, kept, strict=True)
    ]
    # A previous attempt may have added some.
    UploadFile.objects.bulk_create(rows, ignore_conflicts=True)


def _folder_of(container: UploadFile) -> str:
    """Return the folder for members: the archive's name, distinct from other paths."""
    others = UploadFile.objects.filter(upload=container.upload, container=None)
    folder = container.path
    while others.filter(path__startswith=f"{folder}/").exists():
        folder += " (unpacked)"
    return folder
