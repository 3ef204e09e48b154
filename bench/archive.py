"""Synthetic archive of any size; ``python -m bench.archive RUNS`` stores it.

A study is measured at one level on one system: 12 devices, 6 MTU sizes, 6 user counts, 5 workloads and 3 trials, so
6,480 runs less the few that are missing, of about 40 values each. Throughput saturates with the users, the cost of a
transaction falls with them, trials scatter by 2 %, some values are absent, and each study has a factor of its own.
All numbers are made up.
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from random import Random

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
_ROLES = ("total", "client", "server")
_UTILISATIONS = ("cpu_util", "virtual_cpu_util", "cp_cpu_util")
_COSTS = ("cpu_ms_per_trans", "virtual_cpu_ms_per_trans", "cp_cpu_ms_per_trans")
_STREAM_COSTS = ("cpu_ms_per_mb", "virtual_cpu_ms_per_mb", "cp_cpu_ms_per_mb")
_PER_SIDE = ("interrupts_per_s", "packets_received_per_s", "packets_sent_per_s", "processor_util")
_PERCENTILES = ("latency_p50_ms", "latency_p90_ms", "latency_p95_ms", "latency_p99_ms", "latency_max_ms")


@dataclass(frozen=True, slots=True)
class Curve:
    """Throughput and cost of a device: many users approach ``peak``.

    Half of the peak is reached at ``half`` users.
    """

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
        yield RunRecord(
            f"b{study:04}r{number:05}",
            trial,
            "complete",
            started + timedelta(minutes=number / 5),
            configuration,
            values,
            facts={
                "workload": FactValue(workload.pattern),
                "device": FactValue(device),
                "users": FactValue(str(users)),
            },
        )


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
    for role, share in zip(_ROLES, (1.0, 0.45, 0.55), strict=True):
        for metric, part in zip(_UTILISATIONS, (1.0, 0.6, 0.4), strict=True):
            yield Measure(metric, role), cost * rate / 20 * share * part
        for metric, part in zip(_COSTS, (1.0, 0.6, 0.4), strict=True):
            yield Measure(metric, role), cost * share * part
        if streams and role == "total":
            for metric, part in zip(_STREAM_COSTS, (1.0, 0.6, 0.4), strict=True):
                yield Measure(metric, role), cost * share * part * rate / megabytes
    for role in _ROLES[1:]:
        for place, metric in enumerate(_PER_SIDE, start=1):
            yield Measure(metric, role), rate * place * random.lognormvariate(0, _NOISE)
    for place, metric in enumerate(_PERCENTILES, start=1):
        yield Measure(metric), 1000 * users / rate * place


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
        with transaction.atomic():
            row = Study.objects.create(slug=slug(study), title=f"Synthetic study {study}")
            made = list(islice(records(study), left))
            write(Vocabulary(row), [(record, ()) for record in made])
            left -= len(made)
    if missing:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    fill(int(sys.argv[1]))
