"""Peers beside perfdb: ``python -m bench.peers [--records N]``; docs/performance.md has the figures of record.

The same JSON records, some 40 values each, go into each. Timed are bringing them in until they can be asked for, and
one question over HTTP: the mean throughput of two devices at every MTU and number of users. perfdb answers with the
trials, intervals and verdicts beside the means; its means and the peer's are compared before anything is timed.
"""

import argparse
import math
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

STUDY, METRIC, WORKLOAD, OLD, NEW = "bench-peers", "trans_per_s", "CRR", "OSA 1", "veth 1"
_TURNS = 21
_HALF_A_STEP = 0.005
"""Records print rates with two decimals."""
_NOT_TIMED = (("Codespeed 0.13.0", "codespeed==0.13.0"),)
"""Tried, so that it is told when they can be installed again."""


def main() -> int:
    """Measure all; 1 where two answers differ."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--records", type=int, default=10_000)
    wanted = asked.parse_args().records
    records = printed(inputs.records(wanted))
    print(f"{len(records.splitlines()):,} records\n{'':22}{'import':>12}{'question':>12}")
    with TemporaryDirectory(prefix="perfdb-peers-") as folder:
        answers = [_perfdb(Path(folder), records), _datasette(Path(folder), records)]
    for name, package in _NOT_TIMED:
        _tried(name, package)
    good = all(same(answers[0], answer) for answer in answers[1:])
    print(f"the answers {'are equal' if good else 'differ'}: {len(answers[0])} pairs of means")
    return 0 if good else 1


def printed(records: bytes) -> bytes:
    """The records that say what is asked for: of the others perfdb works it out, and peers have nothing."""
    return b"".join(line for line in records.splitlines(keepends=True) if f'"{METRIC}"'.encode() in line)


def _perfdb(folder: Path, records: bytes) -> Answer:
    chosen = {"study": STUDY, "workload": WORKLOAD, "device": [OLD, NEW], "baseline": f"device:{OLD}"}
    question = urlencode({"metric": METRIC, "rows": "mtu,users", "columns": "device"} | chosen, doseq=True)
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


def same(ours: Answer, theirs: Answer) -> bool:
    """Whether the means are of the same cells and equal but for rounding: perfdb takes rates from the counts."""
    return ours.keys() == theirs.keys() and all(
        math.isclose(one, other, abs_tol=_HALF_A_STEP)
        for key, means in ours.items()
        for one, other in zip(means, theirs[key], strict=True)
    )


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
