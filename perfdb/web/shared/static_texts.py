"""Static files as texts."""

from pathlib import Path

from django.contrib.staticfiles import finders


def static_text(name: str) -> str:
    """What a static file holds; raises FileNotFoundError for none."""
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(f"{name} is not among the static files")
    return Path(found).read_text(encoding="utf-8")
