"""Page docs/tour.md, generated from the steps."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from frontend.tour.step import Step

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tour.md"
PICTURES = ROOT / "docs" / "tour"
_HEAD = """\
<!-- Made by `make tour` from frontend/tour/steps.py; edit the steps there. -->

# A tour, with pictures

How a performance engineer goes through perfdb: from logs to figures, to a comparison, to a report. Everything here
works on a fresh instance: `make run`, open the sign-in link that it prints, and wait until the demo and the published
studies are there. What each page can do besides stands in [using.md](using.md).
"""
_FOOT = """\
## Where to go from here

[using.md](using.md) goes through all pages, [how-perfdb-compares.md](how-perfdb-compares.md) through the rules behind
every verdict; [recording.md](recording.md) measures and uploads in one go; [api.md](api.md) is for scripts.
"""


def render(steps: Iterable[Step]) -> str:
    """Return the whole page in Markdown."""
    return "\n".join([_HEAD, *_sections(steps), _FOOT])


def _sections(steps: Iterable[Step]) -> Iterator[str]:
    for number, step in enumerate(steps, start=1):
        picture = f"![{step.title}]({PICTURES.name}/{step.picture})"
        yield f"## {number}. {step.title}\n\n{step.do}\n\n{picture}\n\n{step.see}\n"
