"""Only `perfdb.results.runs.write` inserts runs."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
WRITER = ROOT / "perfdb" / "results" / "runs" / "write.py"
INSERTS = re.compile(
    r"\bRun\.(?:objects|_default_manager)\.a?(?:create|bulk_create|get_or_create|update_or_create)\b"
    r"|\b(?:INSERT\s+INTO|COPY)\s+\\?\"?run\\?\"?(?![\w.])"
    r"|\b_?copy\w*\(\s*(?:\"run\"|(?-i:Run)\b)",
    re.IGNORECASE,
)


def test_only_the_writer_inserts_runs() -> None:
    modules = [
        path
        for folder in ("perfdb", "importers", "bench", "fixtures")
        for path in (ROOT / folder).rglob("*.py")
        if "tests" not in path.parts and "migrations" not in path.parts
    ]
    assert len(modules) > 300
    assert [path for path in modules if INSERTS.search(path.read_text(encoding="utf-8"))] == [WRITER]


def test_inserts_are_found() -> None:
    for code in (
        "Run.objects.bulk_create(rows)",
        "'COPY \"run\" (id) FROM STDIN'",
        "INSERT INTO run VALUES",
        "_copy(Run, names, rows)",
    ):
        assert INSERTS.search(code)
    for code in (
        "UploadRun.objects.create()",
        "COPY run_evidence FROM STDIN",
        "_copy(RunSource, names, rows)",
        "Run.objects.filter(pk=1)",
    ):
        assert not INSERTS.search(code)
