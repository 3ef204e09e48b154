"""Synthetic archive of any size; ``python -m bench.archive RUNS`` stores the archive.

A study is measured at one level on one system: 12 devices, 6 MTU sizes, 6 user counts, 5 workloads and 3 trials, so
6,480 runs less the few that are missing, of about 40 values each. Throughput saturates with the users, the cost of a
transaction falls with them, trials scatter by 2 %, some values are absent, and each study has a factor of its own.
All numbers are made up.
"""

import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, count, islice, product
from random import Random
from typing import Any, NamedTuple

import django
from django.db import connection, transaction

from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import Workload
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, SystemIdentity, Value

DEVICES = tuple(f"{kind} {number}" for kind in ("OSA", "HiperSockets", "VSwitch", "veth") for number in (1, 2, 3))
MTUS = (1492, 1500, 8192, 8992, 9000, 57344)
USERS = (1, 5, 10, 20, 50, 100)
WORKLOADS = (
    Workload("RR", 200, 1000),
    Workload("RR", 1, 1),
    Workload("CRR", 64, 8192),
    Workload("STRG", 20, 20 * 2**20),
    Workload("STRP", 20 * 2**20, 20),
)
TRIALS = (1, 2, 3)
RUNS_PER_STUDY = len(DEVICES) * len(MTUS) * len(USERS) * len(WORKLOADS) * len(TRIALS)
_MISSING_RUN, _ABSENT_VALUE, _NOISE = 0.02, 0.05, 0.02
_START = datetime(2010, 1, 1, tzinfo=UTC)
_FACTORS = ("send_call", "kernel", "buffer_bytes", "offloads", "queues")
_SHARES = {"total": 1.0, "client": 0.45, "server": 0.55}
_CPU = {"cpu": 1.0, "virtual_cpu": 0.6, "cp_cpu": 0.4}
_PER_SIDE = ("interrupts_per_s", "packets_received_per_s", "packets_sent_per_s", "processor_util")
_PERCENTILES = ("latency_p50_ms", "latency_p90_ms", "latency_p95_ms", "latency_p99_ms", "latency_max_ms")


class Curve(NamedTuple):
    """Throughput and cost of a device: many users approach ``peak``, ``half`` users half."""

    peak: float
    half: float
    cost_ms: float


def studies(runs: int) -> int:
    """Return the number of studies that hold ``runs`` runs."""
    return math.ceil(runs / RUNS_PER_STUDY)


def slug(study: int) -> str:
    """Return the slug of a study of the archive."""
    return f"bench-{study:04}"


def records(study: int) -> Iterator[RunRecord]:
    """Yield the runs of one study in the order of their starts."""
    random = Random(study)
    curves = {device: Curve(random.uniform(5e3, 2e4), random.uniform(2, 8), random.uniform(0.1, 0.4))
              for device in DEVICES}  # fmt: skip
    system = SystemIdentity("2064-109", f"LPAR{study % 50}", 2 + study % 7, (1 + study % 8) * 2**30)
    level = f"z/VM 4.{study % 10}.{study // 10}"
    factors = {_FACTORS[study % len(_FACTORS)]: str(study % 4)}
    started = _START + timedelta(days=study)
    for number, (workload, device, mtu, users, trial) in enumerate(
        product(WORKLOADS, DEVICES, MTUS, USERS, TRIALS), start=1
    ):
        if random.random() < _MISSING_RUN:
            continue
        configuration = Configuration(workload, device, mtu, users, 3, "", system, level, factors)
        values = {
            measure: Value(value, Origin.REPORTED, f"{value:.2f}", 0, 0)
            for measure, value in _values(curves[device], workload, mtu, users, random)
            if random.random() >= _ABSENT_VALUE
        }
        printed = {"workload": workload.pattern, "device": device, "users": str(users)}
        moment, facts = started + timedelta(minutes=number / 5), {key: FactValue(text) for key, text in printed.items()}
        yield RunRecord(f"b{study:04}r{number:05}", trial, "complete", moment, configuration, values, facts=facts)


def _values(curve: Curve, workload: Workload, mtu: int, users: int, random: Random) -> Iterator[tuple[Measure, float]]:
    """Yield each measure of a run with its value, beginning with the inputs."""
    streams = workload.pattern.startswith("STR")
    noise = random.lognormvariate(0, _NOISE)
    rate = curve.peak * (1 + math.log2(mtu / 1492) / 20) * users / (users + curve.half) * noise
    rate /= {"RR": 1, "CRR": 4}.get(workload.pattern, 2000)
    megabytes = rate * ((workload.request_bytes or 0) + (workload.response_bytes or 0)) / 2**20
    cost = curve.cost_ms * (1 + 1 / users) * random.lognormvariate(0, _NOISE) * (1000 if streams else 1)
    yield Measure("trans_per_s"), rate
    yield Measure("mb_per_s"), megabytes
    yield Measure("response_ms"), 1000 * users / rate
    yield Measure("elapsed_s"), 180 + random.random()
    yield Measure("driver_s"), 180.0
    yield Measure("transactions"), rate * 180
    yield Measure("bytes_sent"), rate * 180 * (workload.request_bytes or 0)
    yield Measure("bytes_received"), rate * 180 * (workload.response_bytes or 0)
    yield Measure("retransmits"), float(random.randrange(50))
    for role, share in _SHARES.items():
        # The unit of each value, and its ratio to the cost of a transaction.
        for unit, ratio in (("util", rate / 20), ("ms_per_trans", 1.0), ("ms_per_mb", rate / megabytes)):
            if unit != "ms_per_mb" or (streams and role == "total"):
                yield from ((Measure(f"{cpu}_{unit}", role), cost * share * part * ratio) for cpu, part in _CPU.items())
    for role in ("client", "server"):
        for place, metric in enumerate(_PER_SIDE, start=1):
            yield Measure(metric, role), rate * place * random.lognormvariate(0, _NOISE)
    for place, metric in enumerate(_PERCENTILES, start=1):
        yield Measure(metric), 1000 * users / rate * place


def json_records(runs: int) -> bytes:
    """Return the first runs of the archive as JSON records, one a line."""
    found = islice(chain.from_iterable(map(records, count())), runs)
    return b"".join(json.dumps(_plain(each)).encode() + b"\n" for each in found)


def _plain(record: RunRecord) -> dict[str, Any]:
    known, workload = record.configuration, record.configuration.workload
    assert workload is not None
    return {
        "run_id": record.run_id,
        "trial": record.trial,
        "started": record.started.isoformat(),
        "dimensions": {
            "workload": f"{workload.pattern} {workload.request_bytes}/{workload.response_bytes}",
            **{name: getattr(known, name) for name in ("device", "mtu", "users", "layer", "level")},
        },
        "factors": dict(known.factors),
        "metrics": _metrics(record),
    }


def _metrics(record: RunRecord) -> dict[str, float]:
    """Return about forty metrics without the archive's utilisations, which do not match its costs."""
    found = {
        str(each): float(value.printed) for each, value in record.values.items() if not each.metric.endswith("_util")
    }
    found |= {"errors": 0.0, "connects": 10.0, "packets_lost": 0.0, "loss_percent": 0.0, "rtt_ms": 0.125}
    found |= {"jitter_ms": 0.015, "latency_sd_ms": 0.25, "latency_min_ms": 0.05}
    sides = {"packets_dropped": 0.0, "iowait_util": 0.5, "steal_util": 0.25}
    return found | {f"{name}@{side}": value for side in ("client", "server") for name, value in sides.items()}


def fill(runs: int) -> None:
    """Store the studies of the archive that an instance lacks, by perfdb's writer."""
    django.setup()
    from perfdb.results.models import Study
    from perfdb.results.runs.experiments import Vocabulary
    from perfdb.results.runs.write import write

    present = set(Study.objects.values_list("slug", flat=True))
    missing = [study for study in range(studies(runs)) if slug(study) not in present]
    left = runs - RUNS_PER_STUDY * (studies(runs) - len(missing))
    for study in missing:
        made = list(islice(records(study), left))
        left -= len(made)
        with transaction.atomic():
            row = Study.objects.create(slug=slug(study), title=f"Synthetic study {study}")
            write(Vocabulary(row), [(record, ()) for record in made])
    if missing:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    fill(int(sys.argv[1]))
