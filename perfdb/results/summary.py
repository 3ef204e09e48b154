"""What a preview shows of a run record: its dimensions, main figures and files, ready to print."""

from collections.abc import Collection, Mapping
from typing import Any

from importers.collate import assumed
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.models import Run
from perfdb.results.prepare.configuration import PROCESSORS
from perfdb.results.record import RunRecord

ASKED = ("workload", "device", "mtu", "users")
"""The dimensions that every run ought to have: a preview asks for those that nobody says."""


def summary_of(record: RunRecord) -> dict[str, Any]:
    """``{"dimensions": {name: value}, "figures": [{"measure", "value", "unit", "printed"}], "files": [path]}``."""
    return {
        "dimensions": record.configuration.dimensions(),
        "figures": [_figure(record, name) for name in Run.HOT if Measure(name) in record.values],
        "files": list(dict.fromkeys(fragment.file for fragment in record.fragments)),
    }


def gaps_of(record: RunRecord, given: Mapping[str, str]) -> dict[str, Any]:
    """``{"place": [path, first line, last line], "lacks": [fact], "assumed": [fact], "given": {fact: text}}``.

    Where a correction of this run is kept, what no file and nobody says of it, and what a person said that counts.
    """
    first = record.fragments[0]
    known = {key for key, fact in record.facts.items() if not fact.artifact}
    taken = record.facts.get(assumed.KEY)
    return {
        "place": [first.file, first.first_line, first.last_line],
        "lacks": lacking(record, record.configuration.dimensions()),
        "assumed": sorted(assumed.keys_in(taken.text) & set(ASKED)) if taken else [],
        "given": {key: text for key, text in given.items() if key in known and record.facts[key].text == text},
    }


def lacking(record: RunRecord, told: Collection[str]) -> list[str]:
    """The dimensions that nobody says, where these are ``told``; processors only where times become shares of them."""
    lacks = [name for name in ASKED if name not in told]
    counted = any(measure.metric == PROCESSORS.metric for measure in record.values)
    return [*lacks, PROCESSORS.metric] if record.counters and not counted else lacks


def _figure(record: RunRecord, name: str) -> dict[str, Any]:
    metric, value = metrics.BY_NAME[name], record.values[Measure(name)]
    printed = units.round_half_up(value.value, units.decimals_for([value.value], metric.decimals))
    return {"measure": name, "value": value.value, "unit": metric.unit, "printed": printed}
