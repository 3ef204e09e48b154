"""Files as received: to read with line numbers, and to download unaltered."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import user_passes_test
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from importers.archive import decompress
from importers.model import Problem, SourceFile
from importers.text import Decoded, decode
from perfdb.results import artifacts
from perfdb.results.access import may_read
from perfdb.results.models import Artifact, RunSource, UploadFile

WINDOW = 1000


@dataclass(frozen=True, slots=True)
class Window:
    """The lines shown: ``lines`` are (number, text); ``before`` and ``after`` are where to page to, 0 for nowhere."""

    lines: list[tuple[int, str]]
    total: int
    before: int
    after: int

    @classmethod
    def around(cls, lines: Sequence[str], line: int) -> "Window":
        """The page of a thousand lines in which ``line`` stands, so that paging never moves the borders."""
        first = (min(max(line, 1), len(lines)) - 1) // WINDOW * WINDOW
        beyond = first + WINDOW
        return cls(
            lines=list(enumerate(lines[first:beyond], start=first + 1)),
            total=len(lines),
            before=first - WINDOW + 1 if first else 0,
            after=beyond + 1 if beyond < len(lines) else 0,
        )


@require_GET
@user_passes_test(may_read)
def artifact(request: HttpRequest, pk: int) -> HttpResponse:
    """A file's text with ``?line=N`` highlighted; every line is an anchor too (``#L12``)."""
    found = get_object_or_404(Artifact, pk=pk)
    text = request.GET.get("line", "")
    line = int(text) if text.isdecimal() and len(text) < 10 else 0
    context = {"artifact": found, "name": _name(found), "line": line, "runs": _runs(found)}
    decoded = _decoded(found)
    if decoded.text is None:
        return render(request, "web/artifact.html", context | {"reason": decoded.problems[0].message})
    context |= {"window": Window.around(decoded.text.lines, line), "encoding": decoded.text.encoding}
    return render(request, "web/artifact.html", context)


def _decoded(found: Artifact) -> Decoded:
    """The file's text; of a gzip file that of the file inside, whose lines are those that runs refer to."""
    plain = decompress(SourceFile(_name(found), artifacts.content(found)))
    return Decoded(problems=[plain]) if isinstance(plain, Problem) else decode(plain.name, plain.data)


@require_GET
@user_passes_test(may_read)
def download(request: HttpRequest, pk: int) -> FileResponse:
    """The file's bytes as received, under the name it came with."""
    found = get_object_or_404(Artifact, pk=pk)
    name = _name(found).rsplit("/", 1)[-1]
    return FileResponse(
        artifacts.open_artifact(found), as_attachment=True, filename=name, content_type="application/octet-stream"
    )


def _name(found: Artifact) -> str:
    """The path under which it last came in; the same bytes may have come under several names."""
    paths = UploadFile.objects.filter(artifact=found).order_by("-pk").values_list("path", flat=True)
    return paths.first() or f"{found.sha256[:12]}"


def _runs(found: Artifact) -> list[RunSource]:
    return list(RunSource.objects.filter(artifact=found).select_related("run").order_by("run_id")[:WINDOW])
