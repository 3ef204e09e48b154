"""What a preview shows of a run record: its dimensions, main figures and files, ready to print."""

from typing import Any

from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.models import Run
from perfdb.results.record import RunRecord


def summary_of(record: RunRecord) -> dict[str, Any]:
    """``{"dimensions": {name: value}, "figures": [{"measure", "value", "unit", "printed"}], "files": [path]}``."""
    return {
        "dimensions": record.configuration.dimensions(),
        "figures": [_figure(record, name) for name in Run.HOT if Measure(name) in record.values],
        "files": list(dict.fromkeys(fragment.file for fragment in record.fragments)),
    }


def _figure(record: RunRecord, name: str) -> dict[str, Any]:
    metric, value = metrics.BY_NAME[name], record.values[Measure(name)]
    printed = units.round_half_up(value.value, units.decimals_for([value.value], metric.decimals))
    return {"measure": name, "value": value.value, "unit": metric.unit, "printed": printed}
