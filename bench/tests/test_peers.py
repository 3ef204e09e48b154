"""What peers are given of the records that perfdb gets."""

import json

from bench import archive
from bench.peers import METRIC, NEW, OLD, WORKLOAD, flat_row, have_same_means, with_metric


def test_runs_have_the_workload_and_devices_that_peers_are_asked_for() -> None:
    rows = [flat_row(json.loads(line), "peers") for line in with_metric(archive.json_records(6480)).splitlines()]
    assert all(METRIC in row for row in rows)
    asked = [row for row in rows if row["workload"] == WORKLOAD]
    assert {OLD, NEW} <= {row["device"] for row in asked}
    assert {row["sizes"] for row in asked} == {"64/8192"}


def test_answers_are_the_same_but_for_rounding() -> None:
    assert have_same_means({(1500, 1): (9.001, 5.0)}, {(1500, 1): (9.0, 5.004)})
    assert not have_same_means({(1500, 1): (9.01, 5.0)}, {(1500, 1): (9.0, 5.0)})
    assert not have_same_means({(1500, 1): (9.0, 5.0)}, {})
