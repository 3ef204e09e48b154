"""Resources of the first paint are named in the head of a page."""

import re
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parent.parent
SCRIPTS = FRONTEND / "static" / "js"
MODULE = re.compile(r"""<script src="{% static 'js/([\w-]+\.js)' %}" type="module"( blocking="render")?>""")
PRELOADED = re.compile(r"""<link rel="modulepreload" href="{% static 'js/([\w-]+\.js)' %}">""")
IMPORTED = re.compile(r"""^import (?:.* from )?"\./([\w-]+\.js)";""", re.MULTILINE)


def imported(script: str) -> set[str]:
    own = set(IMPORTED.findall((SCRIPTS / script).read_text()))
    return own.union(*map(imported, own))


def waiting() -> list[Path]:
    """The templates with a script before whose end nothing is painted."""
    templates = (FRONTEND / "templates").rglob("*.html")
    return [path for path in templates if any(blocking for _, blocking in MODULE.findall(path.read_text()))]


@pytest.mark.parametrize("template", waiting(), ids=lambda path: path.name)
def test_what_scripts_import_is_asked_for_with_them(template: Path) -> None:
    text = template.read_text()
    scripts = [script for script, _ in MODULE.findall(text)]
    assert sorted(PRELOADED.findall(text)) == sorted(set().union(*map(imported, scripts)))


def test_there_are_such_pages() -> None:
    assert {path.name for path in waiting()} == {"base.html", "chart_scripts.html"}
