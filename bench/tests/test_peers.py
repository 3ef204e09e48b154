"""What peers are given of the records that perfdb gets."""

import json

from bench import inputs
from bench.peers.__main__ import METRIC, NEW, OLD, WORKLOAD, printed, same
from bench.peers.datasette import _row


def test_runs_have_the_workload_and_devices_that_peers_are_asked_for() -> None:
    rows = [_row(json.loads(line), "peers") for line in printed(inputs.records(6480)).splitlines()]
    assert all(METRIC in row for row in rows)
    asked = [row for row in rows if row["workload"] == WORKLOAD]
    assert {OLD, NEW} <= {row["device"] for row in asked}
    assert {row["sizes"] for row in asked} == {"64/8192"}


def test_answers_are_the_same_but_for_rounding() -> None:
    assert same({(1500, 1): (9.001, 5.0)}, {(1500, 1): (9.0, 5.004)})
    assert not same({(1500, 1): (9.01, 5.0)}, {(1500, 1): (9.0, 5.0)})
    assert not same({(1500, 1): (9.0, 5.0)}, {})
