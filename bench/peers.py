"""perfdb beside Datasette (SQLite, a row a run): ``python -m bench.peers [--records N]``.

Both get the same JSON records and are asked for the means of two devices at every MTU and number of users; perfdb
answers with trials, intervals and verdicts beside the means. The means must be equal but for rounding.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from bench import archive
from bench.instance import ROOT, Client, find_free_port, run_instance, run_server
from bench.measure import measure_seconds

STUDY, METRIC, WORKLOAD, OLD, NEW = "bench-peers", "trans_per_s", "CRR", "OSA 1", "veth 1"
PACKAGES = ("datasette==0.65.2", "sqlite-utils==3.39")
_TURNS = 21
# Half of the last digit of a rate in the records.
_ROUNDING = 0.005
_QUESTION = """
SELECT mtu, users,
       avg(trans_per_s) FILTER (WHERE device = :old) AS old, avg(trans_per_s) FILTER (WHERE device = :new) AS new
FROM runs WHERE study = :study AND workload = :workload AND device IN (:old, :new)
GROUP BY mtu, users HAVING old IS NOT NULL AND new IS NOT NULL
"""

# (MTU, users) -> the mean of each of the two devices.
Means = Mapping[tuple[int, int], tuple[float, float]]


def main() -> int:
    """Measure both; return 1 where the answers differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    records = with_metric(archive.json_records(parser.parse_args().records))
    print(f"{len(records.splitlines()):,} records\n{'':22}{'import':>12}{'question':>12}")
    with TemporaryDirectory(prefix="perfdb-peers-") as folder:
        ours, theirs = _measure_perfdb(Path(folder), records), _measure_datasette(Path(folder), records)
    is_same = have_same_means(ours, theirs)
    print(f"the answers {'are equal' if is_same else 'differ'}: {len(ours)} pairs of means")
    return 0 if is_same else 1


def with_metric(records: bytes) -> bytes:
    """Return only the records that have the metric, which a peer cannot derive."""
    return b"".join(line for line in records.splitlines(keepends=True) if f'"{METRIC}"'.encode() in line)


def have_same_means(ours: Means, theirs: Means) -> bool:
    """Return whether both have the same cells with equal means."""
    return ours.keys() == theirs.keys() and all(
        math.isclose(one, other, abs_tol=_ROUNDING)
        for key, means in ours.items()
        for one, other in zip(means, theirs[key], strict=True)
    )


def flat_row(record: dict[str, Any], study: str) -> dict[str, Any]:
    """Return a record as one flat row for a table."""
    named = {name: record[name] for name in ("run_id", "trial", "started")}
    workload, _, sizes = record["dimensions"]["workload"].partition(" ")
    dimensions = record["dimensions"] | {"workload": workload, "sizes": sizes}
    return {"study": study, **named, **dimensions, **record["factors"], **record["metrics"]}


def _measure_perfdb(folder: Path, records: bytes) -> Means:
    chosen = {"study": STUDY, "workload": WORKLOAD, "device": [OLD, NEW], "baseline": f"device:{OLD}"}
    question = urlencode({"metric": METRIC, "rows": "mtu,users", "columns": "device"} | chosen, doseq=True)
    with run_instance(folder, 0) as instance:
        import_s = measure_seconds(lambda: instance.client.send_records(records, STUDY))
        return _ask("perfdb", import_s, lambda: _means(instance.client.json(f"/api/v1/tables/?{question}")))


def _means(answer: Any) -> Means:
    """Return the means of the cells that both devices have."""
    (table,) = answer["tables"]
    found: dict[tuple[int, int], dict[str, float]] = {}
    for cell in table["cells"]:
        row, column = table["rows"][cell["row"]], table["columns"][cell["column"]]
        if values := [each["value"] for each in cell["values"]]:
            found.setdefault((row["mtu"], row["users"]), {})[column["device"]] = statistics.fmean(values)
    return {key: (both[OLD], both[NEW]) for key, both in found.items() if len(both) == 2}


def _measure_datasette(folder: Path, records: bytes) -> Means:
    env, file = {"PYTHONPATH": str(install(*PACKAGES, name="datasette"))}, str(folder / "perf.db")
    lines = [json.dumps(flat_row(json.loads(line), STUDY)).encode() + b"\n" for line in records.splitlines()]

    def run(command: str, *arguments: str) -> None:
        argv = [sys.executable, "-m", "sqlite_utils", command, file, "runs", *arguments]
        subprocess.run(argv, input=b"".join(lines), env=os.environ | env, check=True, stdout=subprocess.DEVNULL)

    def load() -> None:
        run("insert", "-", "--nl", "--alter")
        run("create-index", "study", "workload", "device")

    import_s = measure_seconds(load)
    values = {"sql": _QUESTION, "_shape": "array", "study": STUDY, "workload": WORKLOAD, "old": OLD, "new": NEW}

    def ask(client: Client) -> Means:
        rows = client.json(f"/perf.json?{urlencode(values)}")
        return {(row["mtu"], row["users"]): (row["old"], row["new"]) for row in rows}

    port = find_free_port()
    argv = ["datasette", "serve", file, "--port", str(port)]
    with run_server(argv, env, "running on", "Datasette did not start", subprocess.STDOUT):
        return _ask("Datasette", import_s, lambda: ask(Client(port)))


def install(*arguments: str, name: str) -> Path:
    """Install packages with uv in a folder of var/peers; return the folder. Raise CalledProcessError."""
    folder = ROOT / "var" / "peers" / name
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(folder)]
    subprocess.run([*command, *arguments], check=True)
    return folder


def _ask(name: str, import_s: float, ask: Callable[[], Means]) -> Means:
    """Print the median time of a question, and return the answer."""
    question_s = statistics.median(measure_seconds(ask) for _ in range(_TURNS))
    print(f"{name:22}{import_s:10.2f} s{1000 * question_s:9.1f} ms", flush=True)
    return ask()


if __name__ == "__main__":
    sys.exit(main())
