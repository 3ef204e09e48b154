"""Summaries of runs on the page of an upload: dimensions, main values and files.

A preview stores them. For a stored run with the same content the summary stays empty and is read from the run, which
further evidence, an alias or a newer importer may have changed.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from importers.collate.circumstances import ASSUMED, listed_keys
from perfdb.analysis import metrics, units
from perfdb.analysis.dimensions import NUMBERS
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import lacks_sizes
from perfdb.results.database.sql import execute
from perfdb.results.models import Run, RunSource, UploadRun
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.record import RunRecord
from perfdb.results.runs.vocabulary import NAME_PATHS

Summary = dict[str, Any]

ASKED = ("workload", "device", "mtu", "users")
"""The dimensions that every run should have: a preview asks for missing ones."""


def summary_of(record: RunRecord) -> Summary:
    """Return dimensions, main values and files of a run.

    ``{"dimensions": {name: value}, "figures": [{"measure", "value", "unit", "printed"}], "files": [path]}``
    """
    values = record.values
    return {
        "dimensions": record.configuration.dimensions(),
        "figures": _figures(values[at].value if (at := Measure(name)) in values else None for name in Run.HOT),
        "files": list(dict.fromkeys(fragment.file for fragment in record.fragments)),
    }


def gaps_of(record: RunRecord, given: Mapping[str, str]) -> Summary:
    """Return the place for corrections, and missing, assumed and supplied facts.

    ``{"place": [path, first line, last line], "lacks": [fact], "assumed": [fact], "given": {fact: text}}``
    """
    first = record.fragments[0]
    lacks = _lacking(record.configuration.dimensions())
    if record.counters and not any(measure.metric == PROCESSORS.metric for measure in record.values):
        # CPU times need the number.
        lacks.append(PROCESSORS.metric)
    return {
        "place": [first.file, first.first_line, first.last_line],
        "lacks": lacks,
        "assumed": _assumed(record),
        "given": _given(record, given),
    }


def _assumed(record: RunRecord) -> list[str]:
    """Return the dimensions whose values are only assumed."""
    fact = record.facts.get(ASSUMED)
    return sorted(listed_keys(fact.text) & set(ASKED)) if fact else []


def _given(record: RunRecord, given: Mapping[str, str]) -> dict[str, str]:
    """Return the supplied facts that count: no file of the run has them."""
    own = {key: fact.text for key in given if (fact := record.facts.get(key)) and not fact.artifact}
    return {key: text for key, text in given.items() if own.get(key) == text}


def _lacking(dimensions: Mapping[str, Any]) -> list[str]:
    """Return the dimensions to ask for: missing ones, and a workload of unknown sizes."""
    return [name for name in ASKED if name not in dimensions or (name == "workload" and lacks_sizes(dimensions[name]))]


def _figures(values: Iterable[float | None]) -> list[dict[str, Any]]:
    """Return the known main values in the order of `Run.HOT`."""
    return [
        {"measure": name, "value": value, "unit": metric.unit, "printed": units.round_for_print(value, metric.decimals)}
        for name, metric, value in zip(Run.HOT, map(metrics.BY_NAME.__getitem__, Run.HOT), values, strict=True)
        if value is not None
    ]


# --- Summaries of stored runs -------------------------------------------------------------------------------------

_KEEP = """
UPDATE upload_run SET summary = given.summary FROM json_to_recordset(%s) AS given (id int8, summary jsonb)
WHERE upload_run.id = given.id
"""
_NOWHERE = ["", 0, 0]
NOTHING: Summary = {
    **{"dimensions": {}, "figures": [], "files": [], "place": _NOWHERE},
    **{"lacks": [], "assumed": [], "given": {}},
}
"""The summary of a run that was removed otherwise than by undoing its upload."""

# In the order of `Configuration.dimensions`.
_COLUMNS = {"campaign": "campaign", **NAME_PATHS, **{name: name for name in NUMBERS}}


def is_known_from_run(record: RunRecord, given: Mapping[str, str]) -> bool:
    """Return whether the stored run has the whole summary: one log, no supplied facts."""
    return len(record.fragments) == 1 and not (record.counters or _given(record, given) or _assumed(record))


def fill_in(rows: Iterable[UploadRun]) -> None:
    """Set empty summaries of rows from stored runs, without saving."""
    empty: dict[int, list[UploadRun]] = defaultdict(list)
    for row in rows:
        if not row.summary:
            row.summary = NOTHING
            empty[row.upload_id].append(row)
    for upload, own in empty.items():
        found = summaries_of_runs(upload, [row.run_id for row in own if row.run_id is not None])
        for row in own:
            row.summary = found.get(row.run_id or 0, NOTHING)


def save_summaries(rows: QuerySet[UploadRun]) -> None:
    """Save empty summaries of rows before the runs are removed or changed."""
    own = list(rows.filter(summary={}))
    fill_in(own)
    execute(_KEEP, json.dumps([{"id": row.pk, "summary": row.summary} for row in own]))


def summaries_of_runs(upload: int, runs: Sequence[int]) -> dict[int, Summary]:
    """Return the summaries of stored runs by ID, with the files of this upload."""
    if not runs:
        return {}
    places: dict[int, list[tuple[str, list[list[int]]]]] = defaultdict(list)
    sources = RunSource.objects.filter(run__pk__among=runs, upload=upload).order_by("pk")
    for run, path, spans in sources.values_list("run_id", "path", "spans"):
        places[run].append((path, spans))
    rows = Run.objects.filter(pk__among=runs).values_list("pk", "factors", *_COLUMNS.values(), *Run.HOT)
    return {pk: _summary_of_stored(places[pk], factors, columns) for pk, factors, *columns in rows}


def _summary_of_stored(
    places: Sequence[tuple[str, list[list[int]]]], factors: Mapping[str, str], columns: Sequence[Any]
) -> Summary:
    """Return a summary; ``columns`` are the dimensions without factors, then the main values."""
    named: dict[str, Any] = dict(zip(_COLUMNS, columns, strict=False))
    named |= {f"factor.{name}": value for name, value in sorted(factors.items())}
    dimensions = {name: value for name, value in named.items() if value is not None and value != ""}
    return NOTHING | {
        "dimensions": dimensions,
        "figures": _figures(columns[len(_COLUMNS) :]),
        "files": [path for path, _ in places],
        "place": [places[0][0], *places[0][1][0]] if places and places[0][1] else _NOWHERE,
        "lacks": _lacking(dimensions),
    }
