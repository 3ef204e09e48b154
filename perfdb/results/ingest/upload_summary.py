"""What an upload shows of a run: its dimensions, main figures and files, ready to print.

A preview keeps it, for there is no run yet. Where a run is stored that says the same it is left empty and read from
there, as the run is now: more evidence, another alias or a later version of an importer may have changed it.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from importers.collate import assumptions
from perfdb.analysis import metrics, units
from perfdb.analysis.metrics import Measure
from perfdb.results.models import Run, RunSource, UploadRun
from perfdb.results.runs.normalize.configuration import PROCESSORS
from perfdb.results.runs.record import RunRecord

Summary = dict[str, Any]

ASKED = ("workload", "device", "mtu", "users")
"""The dimensions that every run ought to have: a preview asks for those that nobody says."""


def summary_of(record: RunRecord) -> Summary:
    """``{"dimensions": {name: value}, "figures": [{"measure", "value", "unit", "printed"}], "files": [path]}``."""
    values = record.values
    return {
        "dimensions": record.configuration.dimensions(),
        "figures": _figures(values[at].value if (at := Measure(name)) in values else None for name in Run.HOT),
        "files": list(dict.fromkeys(fragment.file for fragment in record.fragments)),
    }


def gaps_of(record: RunRecord, given: Mapping[str, str]) -> Summary:
    """``{"place": [path, first line, last line], "lacks": [fact], "assumed": [fact], "given": {fact: text}}``.

    Where a correction of this run is kept, what no file and nobody says of it, and what a person said that counts.
    """
    first = record.fragments[0]
    return {
        "place": [first.file, first.first_line, first.last_line],
        "lacks": lacking(record, record.configuration.dimensions()),
        "assumed": _assumed(record),
        "given": _given(record, given),
    }


def _assumed(record: RunRecord) -> list[str]:
    """Return the dimensions whose values are only assumed."""
    fact = record.facts.get(assumptions.KEY)
    return sorted(assumptions.listed_keys(fact.text) & set(ASKED)) if fact else []


def _given(record: RunRecord, given: Mapping[str, str]) -> dict[str, str]:
    """Return the supplied facts that count: no file of the run has them."""
    counts = {key for key in given if (fact := record.facts.get(key)) and not fact.artifact and fact.text == given[key]}
    return {key: text for key, text in given.items() if key in counts}


def lacking(record: RunRecord, told: Collection[str]) -> list[str]:
    """The dimensions that nobody says, where these are ``told``; processors only where times become shares of them."""
    lacks = [name for name in ASKED if name not in told]
    counted = any(measure.metric == PROCESSORS.metric for measure in record.values)
    return [*lacks, PROCESSORS.metric] if record.counters and not counted else lacks


def _figures(values: Iterable[float | None]) -> list[dict[str, Any]]:
    """The main figures that there are, in the order of `Run.HOT`."""
    return [_figure(name, value) for name, value in zip(Run.HOT, values, strict=True) if value is not None]


def _figure(name: str, value: float) -> dict[str, Any]:
    metric = metrics.BY_NAME[name]
    printed = units.round_for_print(value, metric.decimals)
    return {"measure": name, "value": value, "unit": metric.unit, "printed": printed}


# --- Of stored runs -----------------------------------------------------------------------------------------------

# Of thousands of rows, a case for each would take longer to be said than all the rest.
_KEEP = """
UPDATE upload_run SET summary = given.summary FROM json_to_recordset(%s) AS given (id int8, summary jsonb)
WHERE upload_run.id = given.id
"""
_NOWHERE = ["", 0, 0]
NOTHING: Summary = {
    **{"dimensions": {}, "figures": [], "files": [], "place": _NOWHERE},
    **{"lacks": [], "assumed": [], "given": {}},
}
"""Of a run that somebody removed, other than by taking its upload back."""

# In the order of `Configuration.dimensions`.
_COLUMNS = {
    "campaign": "campaign",
    **{name: f"{name}__name" for name in ("system", "level", "workload", "device")},
    **{name: name for name in ("mtu", "users", "layer")},
}


def is_known_from_run(record: RunRecord, given: Mapping[str, str]) -> bool:
    """Return whether the summary can be read from the stored run: one log, and nothing supplied or assumed."""
    return len(record.fragments) == 1 and not (record.counters or _given(record, given) or _assumed(record))


def fill_in(rows: Iterable[UploadRun]) -> None:
    """Give the rows of an upload the summaries that their runs say; they are not saved."""
    empty: dict[int, list[UploadRun]] = defaultdict(list)
    for row in rows:
        if not row.summary:
            row.summary = NOTHING
            empty[row.upload_id].append(row)
    for upload, own in empty.items():
        found = of_runs(upload, [row.run_id for row in own if row.run_id is not None])
        for row in own:
            row.summary = found.get(row.run_id or 0, NOTHING)


def keep(rows: QuerySet[UploadRun]) -> None:
    """Save what only the runs of these rows say, which are about to go, or to be another upload's."""
    own = list(rows.filter(summary={}))
    fill_in(own)
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, [json.dumps([{"id": row.pk, "summary": row.summary} for row in own])])


def of_runs(upload: int, runs: Sequence[int]) -> dict[int, Summary]:
    """The summaries of runs as they are stored now, by their ids; the files are those that this upload brought."""
    if not runs:
        return {}
    places: dict[int, list[tuple[str, list[list[int]]]]] = defaultdict(list)
    sources = RunSource.objects.filter(run__pk__among=runs, upload=upload).order_by("pk")
    for run, path, spans in sources.values_list("run_id", "path", "spans"):
        places[run].append((path, spans))
    # As text: most runs have factors that others have too.
    factors = Cast("factors", TextField())
    rows = Run.objects.filter(pk__among=runs).values_list("pk", factors, *_COLUMNS.values(), *Run.HOT)
    return {pk: _of_stored(places[pk], _factors(text), columns) for pk, text, *columns in rows}


@lru_cache(4096)
def _factors(text: str) -> dict[str, str]:
    return {f"factor.{name}": value for name, value in sorted(json.loads(text).items())}


def _of_stored(
    places: Sequence[tuple[str, list[list[int]]]], factors: dict[str, str], columns: Sequence[Any]
) -> Summary:
    """``columns``: the dimensions but factors, then the main figures."""
    named: dict[str, Any] = dict(zip(_COLUMNS, columns, strict=False)) | factors
    dimensions = {name: value for name, value in named.items() if value is not None and value != ""}
    return {
        "dimensions": dimensions,
        "figures": _figures(columns[len(_COLUMNS) :]),
        "files": [path for path, _ in places],
        "place": [places[0][0], *places[0][1][0]] if places and places[0][1] else _NOWHERE,
        "lacks": [name for name in ASKED if name not in dimensions],
        "assumed": [],
        "given": {},
    }
