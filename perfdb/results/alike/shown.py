"""The main figures of many runs as their summaries show them."""

import json
from collections.abc import Iterator
from itertools import compress

import numpy as np

from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.alike.table import Table
from perfdb.results.models import Run


def main_figures(table: Table) -> Iterator[str]:
    """The entries of ``summary.summary_of`` for each run as JSON, without those that are no finite numbers."""
    columns, present = [], []
    for name in Run.HOT:
        values, metric = table.number(Measure(name)), metrics.BY_NAME[name]
        present.append(there := np.isfinite(values))
        head, unit = f'{{"measure": "{name}", "value": ', f', "unit": {json.dumps(metric.unit)}, "printed": "'
        columns.append(
            [
                f'{head}{value!r}{unit}{units.round_for_print(value, metric.decimals)}"}}' if is_there else ""
                for value, is_there in zip(values.tolist(), there.tolist(), strict=True)
            ]
        )
    for own, is_there in zip(zip(*columns, strict=True), zip(*present, strict=True), strict=True):
        yield ", ".join(compress(own, is_there))
