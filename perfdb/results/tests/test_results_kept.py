"""Whatever logs of load tools come together: each result is a run of its own figures, or a problem tells why not."""

from collections import Counter
from random import Random

import pytest

from importers.model import Fragment, Severity
from importers.tests.fixture_cases import read_text
from importers.tests.test_robustness import LOAD_TOOLS, TEXTS
from perfdb.results.models import Run, RunSource
from perfdb.results.tests.conftest import Bring

pytestmark = pytest.mark.django_db

FOLDERS = ("", "a/", "b/")


def results(text: str) -> list[Fragment]:
    return read_text(text).fragments


@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "cut"])
@pytest.mark.parametrize("seed", range(10))
def test_results_in_are_runs_stored_and_problems_told(bring: Bring, seed: int, is_cut: bool) -> None:
    random = Random(seed)
    chosen = [TEXTS[random.choice(LOAD_TOOLS)] for _ in range(random.randrange(2, 8))]
    cuts = [text[: random.randrange(len(text) // 2, len(text))] if is_cut else text for text in chosen]
    files = {f"{random.choice(FOLDERS)}{place}.txt": text for place, text in enumerate(cuts)}
    upload = bring(*((name, text.encode()) for name, text in files.items()))
    stored = Counter(RunSource.objects.values_list("path", flat=True))
    refused = set(upload.problems.filter(severity=Severity.ERROR).values_list("file", flat=True))
    for name, text in files.items():
        assert stored[name] == len(results(text)) or name in refused, name
        assert stored[name] or name in refused, name
    # No run has figures of two files.
    assert sum(stored.values()) == Run.objects.count()
