"""Views of artifacts: text with line numbers, and download."""

import re
from collections.abc import Sequence
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from perfdb.results.ingest import artifacts
from perfdb.results.models import Artifact, RunSource, UploadFile
from perfdb.web.view_access import read_required

WINDOW = 1000
# So many runs of a file are named.
MOST_RUNS = 20
_LINES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def _marked(text: str) -> range:
    """Return the lines to highlight of ``12`` or ``12-20``; none for other texts."""
    found = _LINES.fullmatch(text)
    first, last = sorted((int(found[1]), int(found[2] or found[1]))) if found else (0, 0)
    return range(first, last + 1) if first else range(0)


def _window(lines: Sequence[str], marked: range) -> dict[str, Any]:
    """Return the page of a thousand lines with the first marked one.

    The borders of pages do not depend on the marked line. ``before`` and ``after``: first lines of the neighbouring
    pages, 0 for none.
    """
    first = (min(max(marked.start, 1), len(lines)) - 1) // WINDOW * WINDOW
    beyond = first + WINDOW
    return {
        "lines": [(at, text, at in marked) for at, text in enumerate(lines[first:beyond], start=first + 1)],
        "total": len(lines),
        "before": first - WINDOW + 1 if first else 0,
        "after": beyond + 1 if beyond < len(lines) else 0,
    }


@read_required()
def artifact(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a file's text, with ``?line=N`` or ``?line=N-M`` highlighted."""
    found = get_object_or_404(Artifact, pk=pk)
    marked = _marked(request.GET.get("line", ""))
    name = _name(found)
    context = {"artifact": found, "name": name, "marked": marked, **_runs(found, marked)}
    decoded = artifacts.decoded(found, name)
    if decoded.text is None:
        return render(request, "web/artifact.html", context | {"reason": decoded.problems[0].message})
    context |= {"window": _window(decoded.text.lines, marked), "encoding": decoded.text.encoding}
    return render(request, "web/artifact.html", context)


@read_required()
def download(request: HttpRequest, pk: int) -> FileResponse:
    """Return the file's bytes as received, under its name."""
    found = get_object_or_404(Artifact, pk=pk)
    name = _name(found).rsplit("/", 1)[-1]
    return FileResponse(
        artifacts.open_artifact(found), as_attachment=True, filename=name, content_type="application/octet-stream"
    )


def _name(found: Artifact) -> str:
    """Return the file's latest path, or the beginning of its digest."""
    paths = UploadFile.objects.filter(artifact=found).order_by("-pk").values_list("path", flat=True)
    return paths.first() or f"{found.sha256[:12]}"


def _runs(found: Artifact, marked: range) -> dict[str, object]:
    """Return the file's runs, those read from any marked line first, and the number not listed."""
    sources = list(RunSource.objects.filter(artifact=found).select_related("run").order_by("run_id")[:WINDOW])
    told = {
        source.run_id: (source.run, any(first < marked.stop and marked.start <= last for first, last in source.spans))
        for source in sources
    }
    runs = sorted(told.values(), key=lambda each: not each[1])
    return {"runs": runs[:MOST_RUNS], "more_runs": max(0, len(runs) - MOST_RUNS)}
