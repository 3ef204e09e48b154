"""Modules import their own layer and lower layers alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# Layer -> the layers of this project it may import from, besides itself.
ALLOWED: dict[str, set[str]] = {
    "importers": set(),
    "perfdb.analysis": set(),
    "fixtures": {"importers"},
    "perfdb.results": {"importers", "perfdb.analysis", "perfdb.celery"},
    # Optional: nothing imports it.
    "perfdb.scaling": {"perfdb.results"},
    "perfdb.api": {"importers", "perfdb.analysis", "perfdb.results"},
    "perfdb.web": {"importers", "perfdb.analysis", "perfdb.results"},
    # Its pytest plugin gives the tests a real worker.
    "perfdb.embedded": {"perfdb.celery"},
}
# Package -> its folders in groups: a folder imports those of earlier groups only; "" are the package's own modules.
# Folders that are not listed may import and be imported anywhere.
FOLDERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "perfdb.analysis": (
        ("",),
        ("formulas", "query", "verdicts"),
        ("checks", "tables"),
        ("audit",),
        ("insights",),
        ("render",),
    ),
    "perfdb.results": (
        ("database",),
        ("models",),
        ("runs",),
        ("ingest",),
        ("queries", "published"),
        ("changes",),
        ("studies", "trends"),
        ("bundles",),
    ),
}
# The commands that bring in the demo's logs and the published studies.
EXCEPTIONS = {
    ("perfdb/results/management/commands/loaddemo.py", "fixtures"),
    ("perfdb/results/management/commands/loadstudies.py", "fixtures"),
}
PURE = ("importers", "perfdb.analysis", "fixtures")
FRAMEWORKS = {"django", "rest_framework", "celery", "psycopg", "redis"}


def modules(layer: str) -> list[Path]:
    """Return the modules of a layer, without tests."""
    folder = ROOT / layer.replace(".", "/")
    return [path for path in sorted(folder.rglob("*.py")) if "tests" not in path.parts]


def imports(path: Path) -> Iterator[str]:
    """Return the dotted names that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer_of(name: str) -> str | None:
    """The project's layer that a dotted name belongs to."""
    parts = name.split(".")
    candidates = (".".join(parts[:2]), parts[0])
    return next((each for each in candidates if each in ALLOWED or each == "perfdb.celery"), None)


@pytest.mark.parametrize("layer", ALLOWED)
def test_imports_point_down(layer: str) -> None:
    paths = modules(layer)
    assert paths
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imports(path)
        if (found := layer_of(name)) not in {None, layer, *ALLOWED[layer]}
        and (str(path.relative_to(ROOT)), found) not in EXCEPTIONS
    ]
    assert wrong == []


def folder_of(package: str, name: str) -> str | None:
    """Return the folder of a package that has a dotted name."""
    if not name.startswith(f"{package}."):
        return None
    first = name.removeprefix(f"{package}.").partition(".")[0]
    return first if (ROOT / package.replace(".", "/") / first).is_dir() else ""


def dotted(path: Path) -> str:
    """The dotted name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("package", FOLDERS)
def test_folders_are_in_order(package: str) -> None:
    number = {folder: place for place, group in enumerate(FOLDERS[package]) for folder in group}
    assert all((ROOT / package.replace(".", "/") / folder).is_dir() for folder in number)
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(package)
        if (own := folder_of(package, dotted(path))) in number
        for name in imports(path)
        if (other := folder_of(package, name)) in number and other != own and number[other] >= number[own]
    ]
    assert wrong == []


@pytest.mark.parametrize("layer", PURE)
def test_pure_layers_know_no_framework(layer: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(layer)
        for name in imports(path)
        if name.split(".")[0] in FRAMEWORKS
    ]
    assert wrong == []


def test_the_package_itself_is_empty() -> None:
    assert (ROOT / "perfdb/__init__.py").read_text() == ""


def test_relative_imports_are_not_used() -> None:
    """Relative imports would escape the tests above."""
    relative = [
        str(path)
        for layer in ALLOWED
        for path in modules(layer)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []
