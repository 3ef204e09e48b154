"""Peers beside perfdb: ``python -m bench.peers [--records N]``; docs/performance.md has the figures of record.

The same JSON records, some 40 values each, go into each. Timed are bringing them in until they can be asked for, and
one question over HTTP: the mean throughput of two devices at every MTU and number of users. perfdb answers with the
trials, intervals and verdicts beside the means; its means and the peer's are compared before anything is timed.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from bench import inputs
from bench.instance import ROOT, Instance
from bench.peers import datasette
from bench.peers.peer import Answer, Environment, NotInstallableError
from bench.sending import Sender

STUDY, WORKLOAD, OLD, NEW = "bench-peers", "CRR", "OSA 1", "veth 1"
_TURNS = 21
_NOT_TIMED = (("Codespeed 0.13.0", "codespeed==0.13.0"),)
"""Tried, so that it is told when they can be installed again."""


def main() -> int:
    """Measure all; 1 where two answers differ."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--records", type=int, default=10_000)
    wanted = asked.parse_args().records
    records = inputs.records(wanted)
    print(f"{wanted:,} records\n{'':22}{'import':>12}{'question':>12}")
    with TemporaryDirectory(prefix="perfdb-peers-") as folder:
        answers = [_perfdb(Path(folder), records), _datasette(Path(folder), records)]
    for name, package in _NOT_TIMED:
        _tried(name, package)
    good = len({_rounded(answer) for answer in answers}) == 1
    print(f"the answers {'are equal' if good else 'differ'}: {len(answers[0])} pairs of means")
    return 0 if good else 1


def _perfdb(folder: Path, records: bytes) -> Answer:
    chosen = {"study": STUDY, "workload": WORKLOAD, "device": [OLD, NEW], "baseline": f"device:{OLD}"}
    question = urlencode({"metric": "trans_per_s", "rows": "mtu,users", "columns": "device"} | chosen, doseq=True)
    with Instance(folder, 0) as instance:
        start = time.perf_counter()
        Sender(instance).records(records, STUDY)
        took = time.perf_counter() - start
        ask = partial(instance.json, f"/api/v1/tables/?{question}")
        answer = _means(ask())
        _print("perfdb", took, _median(ask))
    return answer


def _datasette(folder: Path, records: bytes) -> Answer:
    environment = Environment(ROOT / "var" / "peers" / "datasette", datasette.PACKAGES)
    environment.install()
    peer = datasette.Datasette(environment, folder)
    took = peer.load(records, STUDY)
    with peer.serving():
        ask = partial(peer.compare, STUDY, WORKLOAD, OLD, NEW)
        answer = ask()
        _print(datasette.NAME, took, _median(ask))
    return answer


def _tried(name: str, package: str) -> None:
    try:
        Environment(ROOT / "var" / "peers" / name.partition(" ")[0].lower(), (package,)).install()
        print(f"{name:22}can be installed, and is not measured yet")
    except NotInstallableError as error:
        print(f"{name:22}cannot be installed: {error}")


def _means(answer: Any) -> Answer:
    """The means of a table of MTUs and users by two devices, where both have one."""
    (table,) = answer["tables"]
    found: dict[tuple[int, int], dict[str, float]] = {}
    for cell in table["cells"]:
        row, column = table["rows"][cell["row"]], table["columns"][cell["column"]]
        if values := [each["value"] for each in cell["values"]]:
            found.setdefault((row["mtu"], row["users"]), {})[column["device"]] = statistics.fmean(values)
    return {key: (both[OLD], both[NEW]) for key, both in found.items() if len(both) == 2}


def _rounded(answer: Answer) -> frozenset[tuple[tuple[int, int], tuple[float, ...]]]:
    return frozenset((key, tuple(float(f"{value:.9g}") for value in both)) for key, both in answer.items())


def _median(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(_TURNS):
        start = time.perf_counter()
        ask()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _print(name: str, imported: float, asked: float) -> None:
    print(f"{name:22}{imported:10.2f} s{1000 * asked:9.1f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
