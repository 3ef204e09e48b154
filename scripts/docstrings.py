"""Check of the docstrings' words: `python scripts/docstrings.py` lists the faults.

Tests and migrations are left out. The limits are of all docstrings together; docs/glossary.md has the words to use.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("bench", "fixtures", "frontend", "importers", "perfdb", "scripts")
SKIPPED = {"tests", "migrations", "__pycache__"}
FIRST_LINE_WORDS = 14
LONG_FIRST_LINES = 0.10
"""Share of docstrings whose first line may be longer than that."""

PER_THOUSAND_WORDS = {
    r"what": 3.0,
    r"said|told|say|says|tells": 1.0,
    r"it|they|those|them|these|its|their": 15.0,
    r"nobody|whoever|whatever|whichever": 0.5,
}
"""Most uses of these words in 1,000 words of docstrings: each stands for a noun that the reader has to find."""


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield each docstring with `path:line`."""
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        if SKIPPED & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text


def problems(found: list[tuple[str, str]]) -> Iterator[str]:
    """Yield a message for each exceeded limit, with the places."""
    long = [place for place, text in found if len(text.splitlines()[0].split()) > FIRST_LINE_WORDS]
    if len(long) > LONG_FIRST_LINES * len(found):
        yield f"{len(long)} of {len(found)} first lines have more than {FIRST_LINE_WORDS} words: {', '.join(long)}"
    words = sum(len(re.findall(r"[A-Za-z']+", text)) for _, text in found)
    for pattern, limit in PER_THOUSAND_WORDS.items():
        uses = {place: len(re.findall(rf"\b({pattern})\b", text, re.IGNORECASE)) for place, text in found}
        rate = 1000 * sum(uses.values()) / max(words, 1)
        if rate > limit:
            places = ", ".join(place for place, count in uses.items() if count)
            yield f"{pattern}: {rate:.1f} in 1,000 words, limit {limit:g}: {places}"


def main() -> int:
    """Print the problems; return 1 where there are any."""
    messages = list(problems(list(docstrings())))
    for message in messages:
        print(message, file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
