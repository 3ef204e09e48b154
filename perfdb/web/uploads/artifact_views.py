"""Files as received: to read with line numbers, and to download unaltered."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import user_passes_test
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from perfdb.results.ingest import artifacts
from perfdb.results.models import Artifact, RunSource, UploadFile
from perfdb.results.runs.access import may_read

WINDOW = 1000
# So many runs of a file are named.
MOST_RUNS = 20
_LINES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Marked:
    """The lines that were asked for, both included; 0 and 0 for none."""

    first: int = 0
    last: int = 0

    @classmethod
    def read(cls, text: str) -> "Marked":
        """``12``, or ``12-20``; anything else marks nothing."""
        found = _LINES.fullmatch(text)
        if found is None:
            return cls()
        ends = sorted((int(found[1]), int(found[2] or found[1])))
        return cls(*ends) if ends[0] else cls()

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is shown."""

    number: int
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Window:
    """The lines shown; ``before`` and ``after`` are where to page to, 0 for nowhere."""

    lines: list[Line]
    total: int
    before: int
    after: int

    @classmethod
    def around(cls, lines: Sequence[str], marked: Marked) -> "Window":
        """The page of a thousand lines in which the first marked one stands, so that paging never moves the borders."""
        first = (min(max(marked.first, 1), len(lines)) - 1) // WINDOW * WINDOW
        beyond = first + WINDOW
        return cls(
            lines=[Line(n, text, n in marked) for n, text in enumerate(lines[first:beyond], start=first + 1)],
            total=len(lines),
            before=first - WINDOW + 1 if first else 0,
            after=beyond + 1 if beyond < len(lines) else 0,
        )


@require_GET
@user_passes_test(may_read)
def artifact(request: HttpRequest, pk: int) -> HttpResponse:
    """A file's text with ``?line=N`` or ``?line=N-M`` highlighted; every line is an anchor too (``#L12``)."""
    found = get_object_or_404(Artifact, pk=pk)
    marked = Marked.read(request.GET.get("line", ""))
    name = _name(found)
    context = {"artifact": found, "name": name, "marked": marked, **_runs(found, marked)}
    decoded = artifacts.decoded(found, name)
    if decoded.text is None:
        return render(request, "web/artifact.html", context | {"reason": decoded.problems[0].message})
    context |= {"window": Window.around(decoded.text.lines, marked), "encoding": decoded.text.encoding}
    return render(request, "web/artifact.html", context)


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


def _runs(found: Artifact, marked: Marked) -> dict[str, object]:
    """The runs of which the file tells, those first of which the marked lines do; and how many more there are."""
    sources = list(RunSource.objects.filter(artifact=found).select_related("run").order_by("run_id")[:WINDOW])
    runs = list({source.run_id: (source.run, _tells(source, marked)) for source in sources}.values())
    runs.sort(key=lambda each: not each[1])
    return {"runs": runs[:MOST_RUNS], "more_runs": max(0, len(runs) - MOST_RUNS)}


def _tells(source: RunSource, marked: Marked) -> bool:
    """Whether the marked lines are among those that a run was made of."""
    return any(first <= marked.last and marked.first <= last for first, last in source.spans)
