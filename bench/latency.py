"""How long people wait while results come in: ``python -m bench.latency``, through the web server and a real worker.

A small upload until its derived figures can be read: alone, and behind 50 others. And the slowest pages (the 99th
percentile) while a bulk import runs, beside those of an idle server.
"""

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from bench import inputs
from bench.instance import Instance
from bench.sending import Sender

IDLE_S, QUEUED_S, SLOWER = 1.0, 3.0, 2.0
_UPLOADS, _QUEUE = 10, 50
_PAGES = ("/", "/runs/", "/api/v1/runs/?size=20")
_PERCENTILE = 0.99
_PAUSE_S = 0.01


def main() -> int:
    """Print what was measured; 1 where a bar does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60_000, help="runs of the bulk import")
    parser.add_argument("--requests", type=int, default=300, help="requests in a percentile")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="perfdb-bench-"))
        instance = stack.enter_context(Instance(Path(folder), 0))
        sender = Sender(instance)
        held = [
            _said("small upload, idle", median(_small(sender, n) for n in range(_UPLOADS)), IDLE_S),
            _said(f"small upload behind {_QUEUE} others", _queued(sender), QUEUED_S),
            _pages(instance, sender, asked.runs, asked.requests),
        ]
    return 0 if all(held) else 1


def _said(name: str, seconds: float, bar: float) -> bool:
    print(
        f"{name:40}{1000 * seconds:10.0f} ms, bar {1000 * bar:.0f} ms {'holds' if seconds <= bar else 'OVER'}",
        flush=True,
    )
    return seconds <= bar


def _small(sender: Sender, number: int) -> float:
    """Seconds from the answer that an upload is accepted until its derived figures are there."""
    upload = sender.start(inputs.log(3).replace(b"run_id=", b"run_id=s%03d" % number), "small")
    start = perf_counter()
    sender.settled(upload)
    return perf_counter() - start


def _queued(sender: Sender) -> float:
    for number in range(_QUEUE):
        sender.start(inputs.log(3).replace(b"run_id=", b"run_id=q%03d" % number), "queued")
    return _small(sender, 999)


def _pages(instance: Instance, sender: Sender, runs: int, requests: int) -> bool:
    idle = _slowest(instance, requests)
    bulk = sender.start(inputs.log(runs), "bulk")
    sleep(1)
    busy = _slowest(instance, requests)
    during = sender.upload(bulk)["state"] not in ("done", "failed")
    small = _small(sender, 1000)
    sender.settled(bulk)
    print(f"the bulk import {'was still running' if during else 'was over too early: ask for more --runs'}")
    _said("small upload during a bulk import", small, QUEUED_S)
    text = f"{1000 * busy:.0f} ms during a bulk import, {1000 * idle:.0f} ms idle: {busy / idle:.2f} x, bar {SLOWER} x"
    print(f"{'99 % of pages within':40}{text} {'holds' if busy <= SLOWER * idle else 'OVER'}")
    return busy <= SLOWER * idle


def _slowest(instance: Instance, requests: int) -> float:
    """The 99th percentile of a page's seconds."""
    for page in _PAGES:
        instance.get(page)
    times = []
    for number in range(requests):
        start = perf_counter()
        instance.get(_PAGES[number % len(_PAGES)])
        times.append(perf_counter() - start)
        sleep(_PAUSE_S)
    return sorted(times)[int(_PERCENTILE * requests)]


if __name__ == "__main__":
    sys.exit(main())
