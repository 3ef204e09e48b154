"""Stored run as a record, for provenance, comparison and repeated derivation."""

from dataclasses import fields

from perfdb.analysis.metrics import Measure
from perfdb.results import models
from perfdb.results.models import Run, RunEvidence
from perfdb.results.runs import evidence as origins
from perfdb.results.runs.experiments import read_configuration
from perfdb.results.runs.record import Counters, RunRecord
from perfdb.results.runs.vocabulary import MODELS

# The relations of a run that its record is made of too.
EXPERIMENT_ALONG = tuple(f"experiment__{name}" for name in MODELS)
ALONG = ("evidence", *EXPERIMENT_ALONG)
_COUNTER_COLUMNS = tuple(each.name for each in fields(Counters) if each.name != "names")


def read_record(run: Run) -> RunRecord:
    """Return a run's record: values with evidence, counters and facts, without traces and fragments.

    ``evidence`` and the experiment's references are queried unless fetched before (``ALONG``).
    """
    evidence = run.evidence if Run.evidence.is_cached(run) else RunEvidence.objects.get(run=run)
    measures = models.Measure.objects.in_bulk(evidence.slots)
    named = {slot: Measure(each.metric, each.role) for slot, each in measures.items()}
    sets = run.counter_sets.select_related("layout").order_by("role", "subject")
    record = RunRecord(
        run_id=run.run_id,
        trial=run.trial,
        status=run.status,
        started=run.started,
        configuration=read_configuration(run.experiment),
        values={named[slot]: value for slot, value in origins.decode_values(evidence, run.values)},
        counters=[
            Counters(names=row.layout.names, **{name: getattr(row, name) for name in _COUNTER_COLUMNS}) for row in sets
        ],
        facts=origins.decode_facts(evidence),
    )
    record.has_driver = Measure("driver_s") in record.values
    return record
