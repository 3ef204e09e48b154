"""The shape of ``perfdb-bundle.json``, checked before use."""

from datetime import datetime
from typing import Any

from perfdb.results.bundles.make_bundle import CLAIM, DISAGREEMENT, FIGURE, ITEM, PERCENT

_NUMBER = (int, float)
# The types of columns that are no texts.
_TYPES = {"line": (int, type(None)), "queries": [str], **dict.fromkeys(("value", "recomputed", "low", "high"), _NUMBER)}


def _row(*columns: str) -> dict[str, Any]:
    return {name: _TYPES.get(name, str) for name in columns}


_PEOPLE = {"tags": [str], "notes": [_row("text", "author", "created", "edited")]}
_DOCUMENT = {
    "runs": [{"row": str, "run_id": str, "trial": int, "started": str, "dimensions": dict, "facts": dict, **_PEOPLE}],
    "figures": [_row("run", *FIGURE)],
    "percents": [_row("run", "baseline", *PERCENT)],
    "disagreements": [_row("run", *DISAGREEMENT)],
    "systems": dict,
    "devices": dict,
}
_STUDY = {
    **_row("slug", "title", "purpose", "method", "source", "run_id_pattern", "document_digest"),
    "run_id_values": dict,
    "notes": list,
    "plan": list,
    "aliases": [_row("dimension", "printed", "meaning")],
    "items": [_row(*ITEM)],
    "claims": [_row(*CLAIM)],
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


class ManifestError(Exception):
    """The manifest does not have the shape of a bundle's."""


def check_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    """Check and return a manifest. Raise ManifestError."""
    _check(manifest, _WHOLE, "it")
    if manifest.get("document", ...) is not None:
        _check(manifest.get("document"), _DOCUMENT, "document")
    for run in (*manifest["runs"], *((manifest["document"] or {}).get("runs", ()))):
        _check_times(run["started"], *(note["created"] for note in run["notes"]))
    for run in manifest["runs"]:
        for source in run["sources"]:
            _check_source(source)
    return manifest


def _check(value: Any, shape: Any, name: str) -> None:
    if isinstance(shape, dict):
        _check(value, dict, name)
        for key, inner in shape.items():
            if key not in value:
                raise ManifestError(f"perfdb-bundle.json has no {key} in {name}")
            _check(value[key], inner, f"{name}.{key}".removeprefix("it."))
    elif isinstance(shape, list):
        _check(value, list, name)
        for each in value:
            _check(each, shape[0], name)
    elif not isinstance(value, shape):
        raise ManifestError(f"{name} in perfdb-bundle.json is not what a bundle says there")


def _check_times(*texts: str) -> None:
    for text in texts:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise ManifestError(f"{text[:40]!r} in perfdb-bundle.json is no time") from None


def _check_source(source: list[Any]) -> None:
    """Check a source: a name, and pairs of lines. Raise ManifestError."""
    if len(source) != 2 or not isinstance(source[0], str) or not isinstance(source[1], list):
        raise ManifestError("the sources of a run in perfdb-bundle.json are no names with lines")
    for span in source[1]:
        if not isinstance(span, list) or len(span) != 2 or not all(isinstance(line, int) for line in span):
            raise ManifestError(f"the lines of {source[0]} in perfdb-bundle.json are no pairs of numbers")
