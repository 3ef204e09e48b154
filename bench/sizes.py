"""What a run takes on disk: ``python -m bench.sizes [--runs N]``, beside the narrow rows that hold the same values.

A narrow row is (run_id, metric_id, value) with its primary key and an index on the metric, which is the least that
finds the runs of a metric. What narrow rows do not hold (where each value comes from) is told by itself.
"""

import argparse
import sys
from pathlib import Path

import psycopg

from bench.instance import ROOT, Instance

BAR = 0.35
_NARROW = """
CREATE TABLE bench_narrow AS
  SELECT run.id AS run_id, each.slot::integer AS metric_id, each.value
  FROM run, unnest(run."values") WITH ORDINALITY AS each (value, slot) WHERE each.value IS NOT NULL;
ALTER TABLE bench_narrow ADD PRIMARY KEY (run_id, metric_id);
CREATE INDEX ON bench_narrow (metric_id, run_id);
"""
_SIZES = """
SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM bench_narrow),
  pg_total_relation_size('run'), pg_total_relation_size('run_evidence'), pg_total_relation_size('bench_narrow')
"""


def main() -> int:
    """Print the sizes; 1 where the bar does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, help="runs in the archive")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="where archives are kept")
    asked = parser.parse_args()
    with (
        Instance(asked.folder, asked.runs) as instance,
        psycopg.connect(instance.address, autocommit=True) as connection,
    ):
        connection.execute("VACUUM FULL run")
        connection.execute("VACUUM FULL run_evidence")
        try:
            connection.execute(_NARROW)
            row = connection.execute(_SIZES).fetchone()
        finally:
            connection.execute("DROP TABLE IF EXISTS bench_narrow")
    assert row is not None
    runs, values, run, evidence, narrow = map(int, row)
    print(f"{runs:,} runs of {values / runs:.1f} values")
    print(f"run with its indexes   {run / runs:8,.0f} bytes a run")
    print(f"narrow rows            {narrow / runs:8,.0f} bytes a run")
    print(f"ratio {run / narrow:.2f}, bar {BAR} {'holds' if run <= BAR * narrow else 'OVER'}")
    print(f"where values come from {evidence / runs:8,.0f} bytes a run")
    return int(run > BAR * narrow)


if __name__ == "__main__":
    sys.exit(main())
