"""Check of wordings: `python scripts/words.py` lists outdated ones in pages and docs.

`words.txt` has a line for each: old -> better.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_name("words.txt")
FOLDERS = ("docs", "frontend", "importers", "perfdb")
SUFFIXES = {".py", ".html", ".js", ".md"}


def read_words() -> dict[str, str]:
    """Return the better wording of each old one."""
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    pairs = [line.partition(" -> ") for line in lines]
    return {old: better for old, _, better in pairs}


def find_old_words(text: str, words: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield line number and old wording of each use in a text, also where it runs over lines or string literals."""
    joined = re.sub(r"[\"']\s*\n\s*f?[\"']", lambda gap: "\0" * gap[0].count("\n"), text.replace("’", "'"))
    for old in words:
        pattern = re.escape(old).replace(r"\ ", r"[\s\0]+")
        for use in re.finditer(pattern, joined):
            yield len(re.findall(r"[\n\0]", joined[: use.start()])) + 1, old


def main() -> int:
    """Print the old wordings; return 1 where there are any."""
    words = read_words()
    files = [ROOT / "README.md", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))]
    found = [
        f"{path.relative_to(ROOT)}:{line}: {old} -> {words[old]}"
        for path in files
        if path.suffix in SUFFIXES
        for line, old in find_old_words(path.read_text(encoding="utf-8"), words)
    ]
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
