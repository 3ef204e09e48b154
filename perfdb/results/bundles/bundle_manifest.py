"""The shape of ``perfdb-bundle.json``: what must stand in it, and of which type, before anything is made of it."""

from datetime import datetime
from typing import Any

_LINE = (int, type(None))
_ITEM = {"kind": str, "number": str, "title": str, "queries": [str], "asks": str, "prose": str}
_CLAIM = {
    **dict.fromkeys(("name", "printed", "relation", "unit", "metric", "role", "compared", "baseline"), str),
    "value": (int, float),
    "line": _LINE,
}
_NOTE = {"text": str, "author": str, "created": str, "edited": str}
_PEOPLE = {"tags": [str], "notes": [_NOTE]}
_FIGURE = {
    **dict.fromkeys(("run", "table", "metric", "role", "printed", "unit", "read_as"), str),
    **{"row_label": str, "column_label": str, "line": _LINE},
}
_DISAGREEMENT = {
    **dict.fromkeys(("run", "kind", "severity", "table", "metric", "role", "printed"), str),
    **{"unit": str, "formula": str, "message": str, "line": _LINE},
    **dict.fromkeys(("recomputed", "low", "high"), (int, float)),
}
_DOCUMENT = {
    "runs": [{"row": str, "run_id": str, "trial": int, "started": str, "dimensions": dict, "facts": dict, **_PEOPLE}],
    "figures": [_FIGURE],
    "percents": [{**dict.fromkeys(("run", "baseline", "table", "metric", "role", "printed"), str), "line": _LINE}],
    "disagreements": [_DISAGREEMENT],
    "systems": dict,
    "devices": dict,
}
_STUDY = {
    **dict.fromkeys(("slug", "title", "purpose", "method", "source", "run_id_pattern", "document_digest"), str),
    "run_id_values": dict,
    "notes": list,
    "plan": list,
    "aliases": [{"dimension": str, "printed": str, "meaning": str}],
    "items": [_ITEM],
    "claims": [_CLAIM],
}
_UPLOAD = {
    **{"created": str, "facts": dict, "decisions": dict, "files": dict, "forced_formats": dict},
    "corrections": [{"facts": dict, "places": [list]}],
}
_RUN = {"run_id": str, "trial": int, "started": str, "status": str, "withdrawn": str, "sources": [list], **_PEOPLE}
_WHOLE: dict[str, Any] = {
    **{"made": str, "from": str, "asked": str, "study": _STUDY},
    "uploads": [_UPLOAD],
    "files": [{"name": str, "sha256": str, "size": int, "format": str}],
    "runs": [_RUN],
}


class MisshapenError(Exception):
    """Something in it is not as a bundle has it; the text says what."""


def checked(said: dict[str, Any]) -> dict[str, Any]:
    """The same, with everything in it that a bundle has. Raises MisshapenError."""
    _check(said, _WHOLE, "it")
    if said.get("document", ...) is not None:
        _check(said.get("document"), _DOCUMENT, "document")
    for run in (*said["runs"], *((said["document"] or {}).get("runs", ()))):
        _check_times(run["started"], *(note["created"] for note in run["notes"]))
    for run in said["runs"]:
        for source in run["sources"]:
            _check_source(source)
    return said


def _check(value: Any, shape: Any, name: str) -> None:
    if isinstance(shape, dict):
        _check(value, dict, name)
        for key, inner in shape.items():
            if key not in value:
                raise MisshapenError(f"perfdb-bundle.json has no {key} in {name}")
            _check(value[key], inner, f"{name}.{key}".removeprefix("it."))
    elif isinstance(shape, list):
        _check(value, list, name)
        for each in value:
            _check(each, shape[0], name)
    elif not isinstance(value, shape):
        raise MisshapenError(f"{name} in perfdb-bundle.json is not what a bundle says there")


def _check_times(*texts: str) -> None:
    for text in texts:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise MisshapenError(f"{text[:40]!r} in perfdb-bundle.json is no time") from None


def _check_source(source: list[Any]) -> None:
    """A name, and pairs of lines."""
    if len(source) != 2 or not isinstance(source[0], str) or not isinstance(source[1], list):
        raise MisshapenError("the sources of a run in perfdb-bundle.json are no names with lines")
    for span in source[1]:
        if not isinstance(span, list) or len(span) != 2 or not all(isinstance(line, int) for line in span):
            raise MisshapenError(f"the lines of {source[0]} in perfdb-bundle.json are no pairs of numbers")
