"""Benchmark inputs with made-up numbers: a log, and JSON records."""

import json
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from bench import archive

_LOG = Path(__file__).parent.parent / "fixtures" / "logs" / "awm" / "three_runs" / "syvs100x.client.awm.log"
_RUNS_OF_LOG = 3
# No other number of a log follows from the least and the largest response time.
_EXTREME = re.compile(rb"(resp_(?:min|max)_ms=\d+\.\d\d)(\d)")
_RUN_ID = re.compile(rb"run_id=(\w+)")


def log(runs: int) -> bytes:
    """Return a driver's log of ``runs`` runs whose figures do not contradict each other."""
    source = _LOG.read_bytes()
    return b"".join(_named(_EXTREME.sub(_last_digit(copy), source), copy) for copy in range(runs // _RUNS_OF_LOG))


def _last_digit(copy: int) -> Callable[[re.Match[bytes]], bytes]:
    return lambda found: found[1] + b"%d" % ((int(found[2]) + copy) % 10)


def _named(data: bytes, copy: int) -> bytes:
    return _RUN_ID.sub(lambda found: b"run_id=%s%05d" % (found[1], copy), data)


def records(runs: int, study: int = 0) -> bytes:
    """Return ``runs`` runs of the archive as JSON records, one a line."""
    found = [each for number in range(archive.studies(runs) + 1) for each in archive.records(study + number)]
    return b"".join(json.dumps(_plain(each)).encode() + b"\n" for each in islice(found, runs))


def _plain(record: Any) -> dict[str, Any]:
    known = record.configuration
    sizes = f"{known.workload.request_bytes}/{known.workload.response_bytes}"
    return {
        "run_id": record.run_id,
        "trial": record.trial,
        "started": record.started.isoformat(),
        "dimensions": {
            "workload": f"{known.workload.pattern} {sizes}",
            "device": known.device,
            "mtu": known.mtu,
            "users": known.users,
            "layer": known.layer,
            "level": known.level,
        },
        "factors": dict(known.factors),
        "metrics": _figures({str(measure): float(value.printed) for measure, value in record.values.items()}),
    }


def _figures(known: dict[str, float]) -> dict[str, float]:
    """Return about forty metrics without the archive's utilisations, which do not match its costs."""
    figures = {name: value for name, value in known.items() if not name.partition("@")[0].endswith("_util")}
    figures |= {"errors": 0.0, "connects": 10.0, "packets_lost": 0.0, "loss_percent": 0.0, "rtt_ms": 0.125}
    figures |= {"jitter_ms": 0.015, "latency_sd_ms": 0.25, "latency_min_ms": 0.05}
    sides = {"packets_dropped": 0.0, "iowait_util": 0.5, "steal_util": 0.25}
    return figures | {f"{name}@{side}": value for side in ("client", "server") for name, value in sides.items()}
