"""Reading the files of an upload: archives are unpacked, every file is read by the format that recognises it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import importers
from importers import archive
from importers.model import Problem, Severity, SourceFile
from perfdb.results import artifacts
from perfdb.results.fragments import Fragments
from perfdb.results.models import Upload, UploadFile

ARCHIVE = "zip"
# Progress is shown for every file of a small upload and every tenth of a large one.
_SMALL, _STEP = 50, 10
# Bytes that tell an archive; an ordinary log is read once, when it is parsed.
_MAGIC = 4


@dataclass(slots=True)
class FilesRead:
    """What the files of an upload say; ``artifacts`` names each file's artifact."""

    fragments: Fragments = field(default_factory=Fragments)
    problems: list[Problem] = field(default_factory=list)
    artifacts: dict[str, int] = field(default_factory=dict)


def read_files(
    upload: Upload, progress: Callable[[], None], opened: Callable[[Upload], list[Problem]] = lambda _: []
) -> FilesRead:
    """Read all files; ``progress`` is called now and then, and may raise to stop the work.

    ``opened`` looks at what was unpacked; where it finds an error, nothing is read.
    """
    read = FilesRead()
    _unpack_all(upload, read)
    read.problems.extend(found := opened(upload))
    if any(problem.severity == Severity.ERROR for problem in found):
        return read
    files = list(upload.files.exclude(format=ARCHIVE).exclude(excluded=True).select_related("artifact").order_by("pk"))
    for number, file in enumerate(files, start=1):
        _read(file, read)
        if len(files) < _SMALL or number % _STEP == 0 or number == len(files):
            progress()
            Upload.objects.filter(pk=upload.pk).update(files_read=number)
    return read


def _unpack_all(upload: Upload, read: FilesRead) -> None:
    """Turn archives into their members, once: a second attempt finds them unpacked."""
    for file in upload.files.filter(container=None, excluded=False).select_related("artifact").order_by("pk"):
        if archive.is_archive((content := artifacts.content(file.artifact))[:_MAGIC]):
            unpacked = archive.unpack(SourceFile(file.path, content))
            read.problems.extend(unpacked.problems)
            folder = _folder_of(file)
            for member in unpacked.files:
                _add_member(file, folder, member)
            UploadFile.objects.filter(pk=file.pk).update(format=ARCHIVE)


def _add_member(container: UploadFile, folder: str, member: SourceFile) -> None:
    UploadFile.objects.get_or_create(
        upload=container.upload,
        path=f"{folder}/{member.name}",
        defaults={"container": container, "artifact": artifacts.store_content(member.data)},
    )


def _folder_of(container: UploadFile) -> str:
    """Where the members go: by the archive's name, unless files that are no members have such a path."""
    others = UploadFile.objects.filter(upload=container.upload, container=None)
    folder = container.path
    while others.filter(path__startswith=f"{folder}/").exists():
        folder += " (unpacked)"
    return folder


def _read(file: UploadFile, read: FilesRead) -> None:
    source = SourceFile(file.path, artifacts.content(file.artifact))
    reading = importers.read_one(source, file.forced_format or None, read.fragments.add)
    file.format, file.encoding = reading.format or "", reading.encoding
    file.save(update_fields=["format", "encoding"])
    read.problems.extend(reading.problems)
    read.artifacts[file.path] = file.artifact_id
