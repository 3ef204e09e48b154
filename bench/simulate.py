"""What perfdb would need with up to 100,000,000 runs: ``python -m bench.simulate [--check RUNS]``.

Figures of two archives, of 10,000 and 100,000 runs, are measured in pages and bytes (`bench.probe`) and carried on by
the model below; ``--check 1000000`` measures that archive too and says by how much the model errs. The assumptions:

* **bytes** of runs and of evidence grow in a straight line through both archives;
* **an index** has as many levels as its pages need, ``FANOUT`` entries to a page, and a level is one page more to read;
* **a question** to one study reads as many pages as in the larger archive, one more for each level; a question to all
  studies reads pages in a straight line through both archives;
* **the cache** holds what is read most: a page is found in it as likely as memory is large beside runs with indexes,
  for all studies are asked about alike; one that is not costs ``MISS_MS``, and one that is ``HIT_MS``;
* **writing** a run makes as much log as in the larger archive;
* **VACUUM** looks through the runs as fast as it was measured.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.instance import ROOT, Instance

SIZES = (10_000, 100_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)
MEASURED = (10_000, 100_000)
FANOUT = 300
PART = 1_000_000
MISS_MS, HIT_MS = 0.1, 0.002
_IN_STUDY, _OVER_ALL = "table: a whole workload", "best per device over everything"
_GB = 1e9


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line through two measured points."""

    start: float
    slope: float

    @classmethod
    def through(cls, small: tuple[float, float], large: tuple[float, float]) -> "Line":
        """The line of two points (runs, figure)."""
        slope = (large[1] - small[1]) / (large[0] - small[0])
        return cls(small[1] - slope * small[0], slope)

    def at(self, runs: float) -> float:
        """The figure with so many runs; never below nothing."""
        return max(self.start + self.slope * runs, 0.0)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one archive needs. Bytes, pages of 8 kB, and seconds."""

    runs: int
    hot_bytes: float
    cold_bytes: float
    key_pages: float
    pages_in_study: float
    pages_over_all: float
    wal_bytes: float
    vacuum_s: float

    def hit(self, memory: float) -> float:
        """How likely a page is in memory."""
        return min(1.0, memory / self.hot_bytes)

    def reading_s(self, pages: float, memory: float) -> float:
        """How long so many pages take."""
        return pages * (HIT_MS + (1 - self.hit(memory)) * MISS_MS) / 1000


def levels(entries: float) -> int:
    """Of an index of so many entries."""
    return max(1, math.ceil(math.log(max(entries, 2), FANOUT)))


class Model:
    """Carries the figures of two archives on; each is what `bench.probe` says."""

    def __init__(self, small: Mapping[str, Any], large: Mapping[str, Any]) -> None:
        self._small, self._large = small, large

    def forecast(self, runs: int) -> Forecast:
        """What an archive of so many runs needs."""
        hot = self._line(lambda each: each["hot_bytes"])
        rise = levels(runs) - levels(self._large["runs"])
        return Forecast(
            runs=runs,
            hot_bytes=hot.at(runs),
            cold_bytes=self._line(lambda each: each["cold_bytes"]).at(runs),
            key_pages=self._large["key_pages"] + rise,
            pages_in_study=self._large["pages"][_IN_STUDY] + rise,
            pages_over_all=self._line(lambda each: each["pages"][_OVER_ALL]).at(runs),
            wal_bytes=self._large["wal_bytes"],
            vacuum_s=hot.at(runs) / self._large["vacuum_bytes_per_s"],
        )

    def _line(self, figure: Callable[[Mapping[str, Any]], float]) -> Line:
        small, large = self._small, self._large
        return Line.through((small["runs"], figure(small)), (large["runs"], figure(large)))


def checked(forecast: Forecast, measured: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Each figure as it was foretold and as it was measured."""
    return {
        "runs with indexes, GB": (forecast.hot_bytes / _GB, measured["hot_bytes"] / _GB),
        "evidence, GB": (forecast.cold_bytes / _GB, measured["cold_bytes"] / _GB),
        "pages to find a run": (forecast.key_pages, measured["key_pages"]),
        "pages of a question to a study": (forecast.pages_in_study, measured["pages"][_IN_STUDY]),
        "pages of a question to all": (forecast.pages_over_all, measured["pages"][_OVER_ALL]),
        "bytes of log a run": (forecast.wal_bytes, measured["wal_bytes"]),
    }


def probed(folder: Path, runs: int) -> dict[str, Any]:
    """The figures of an archive."""
    with Instance(folder, runs) as instance:
        found: dict[str, Any] = json.loads(instance.command("bench.probe"))
    return found


def main() -> int:
    """Print the forecast, and the check where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="where archives are kept")
    parser.add_argument("--memory", type=float, default=16, help="GB that hold pages: PostgreSQL's and the system's")
    parser.add_argument("--check", type=int, default=0, help="measure an archive of so many runs and compare")
    asked = parser.parse_args()
    model = Model(*(probed(asked.folder, runs) for runs in MEASURED))
    print(f"{'runs':>12}{'runs GB':>9}{'evid. GB':>9}{'log GB':>8}{'hit':>6}{'key':>5}", end="")
    print(f"{'study ms':>10}{'all s':>8}{'vacuum s':>10}{'parts':>7}")
    for runs in SIZES:
        print(_line(model.forecast(runs), asked.memory * _GB))
    if asked.check:
        measured = probed(asked.folder, asked.check)
        print(f"\n{measured['runs']:,} runs as foretold and as measured")
        for name, (foretold, found) in checked(model.forecast(measured["runs"]), measured).items():
            print(f"{name:34}{foretold:12,.3f}{found:12,.3f}{100 * (foretold / found - 1):+8.0f} %")
    return 0


def _line(each: Forecast, memory: float) -> str:
    return (
        f"{each.runs:12,}{each.hot_bytes / _GB:9.2f}{each.cold_bytes / _GB:9.2f}"
        f"{each.wal_bytes * each.runs / _GB:8.1f}{each.hit(memory):6.2f}{each.key_pages:5.0f}"
        f"{1000 * each.reading_s(each.pages_in_study, memory):10.1f}{each.reading_s(each.pages_over_all, memory):8.2f}"
        f"{each.vacuum_s:10.0f}{max(each.runs // PART, 1):7}"
    )


if __name__ == "__main__":
    sys.exit(main())
