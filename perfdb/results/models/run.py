"""Runs and their evidence.

Reading a table touches ``run`` alone: dimensions repeated as typed columns, a few hot metrics as columns, every
value in ``values`` by slot. Where a value came from (printed text, file, line, formula) is cold and stands in
tables of its own. docs/architecture.md gives the measurements behind this layout.
"""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from perfdb.results.models.dimensions import Device, Experiment, Level, Study, System, Workload
from perfdb.results.models.upload import Artifact, Upload


class RealField(models.FloatField):  # type: ignore[type-arg]
    """A four-byte float: enough to draw an interval trace, at half the size."""

    def db_type(self, connection: Any) -> str:
        """PostgreSQL's name of the type."""
        return "real"


class Measure(models.Model):
    """The registry of (metric, role) pairs. Append only: a slot is an index into ``run.values``, never reused."""

    slot = models.SmallIntegerField(primary_key=True)
    metric = models.TextField()
    role = models.TextField()
    unit = models.TextField()
    better = models.TextField()
    decimals = models.SmallIntegerField()

    class Meta:
        db_table = "measure"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["metric", "role"], name="measure_metric_role"),
            models.CheckConstraint(condition=Q(slot__gte=1), name="measure_slot_positive"),
            models.CheckConstraint(condition=Q(better__in=["higher", "lower", "neutral"]), name="measure_better"),
        ]

    def __str__(self) -> str:
        return f"{self.metric}@{self.role}"


def _vocabulary(model: type[models.Model]) -> Any:
    """A reference without a database constraint: the experiment's own guard it, and six more double COPY's time."""
    return models.ForeignKey(model, models.DO_NOTHING, null=True, db_constraint=False, db_index=False)


def _study() -> Any:
    """The study of the run, which it moves with: what partitions are made by."""
    return models.ForeignKey(Study, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")


class Run(models.Model):
    """One execution of an experiment. Eight-byte columns come first, so that rows have no padding."""

    class Status(models.TextChoices):
        """How it ended; only complete runs enter averages."""

        COMPLETE = "complete"
        FAILED = "failed"
        INCOMPLETE = "incomplete"
        WITHDRAWN = "withdrawn"

    experiment = models.ForeignKey(Experiment, models.PROTECT)
    study = models.ForeignKey(Study, models.DO_NOTHING, db_constraint=False, db_index=False)
    system = _vocabulary(System)
    level = _vocabulary(Level)
    workload = _vocabulary(Workload)
    device = _vocabulary(Device)
    started = models.DateTimeField()
    trans_per_s = models.FloatField(null=True)
    mb_per_s = models.FloatField(null=True)
    response_ms = models.FloatField(null=True)
    elapsed_s = models.FloatField(null=True)
    cpu_util = models.FloatField(null=True)
    cpu_ms_per_trans = models.FloatField(null=True)
    virtual_cpu_ms_per_trans = models.FloatField(null=True)
    cp_cpu_ms_per_trans = models.FloatField(null=True)
    cpu_ms_per_mb = models.FloatField(null=True)
    mtu = models.IntegerField(null=True)
    users = models.IntegerField(null=True)
    layer = models.SmallIntegerField(null=True)
    trial = models.SmallIntegerField()
    status = models.CharField(max_length=10, choices=Status)
    run_id = models.TextField()
    campaign = models.TextField(blank=True)
    factors = models.JSONField(default=dict)
    # A missing measure is NULL; the array may be shorter than the registry.
    values = ArrayField(models.FloatField(null=True), default=list)
    # Words that people put on runs to find them again; NULL for the many that have none.
    tags = ArrayField(models.TextField(), null=True)

    # The metrics with role total that have a column of their own.
    HOT: ClassVar[tuple[str, ...]] = (
        "trans_per_s",
        "mb_per_s",
        "response_ms",
        "elapsed_s",
        "cpu_util",
        "cpu_ms_per_trans",
        "virtual_cpu_ms_per_trans",
        "cp_cpu_ms_per_trans",
        "cpu_ms_per_mb",
    )

    class Meta:
        db_table = "run"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["experiment", "run_id", "trial"],
                condition=~Q(status="withdrawn"),
                name="run_identity",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["complete", "failed", "incomplete", "withdrawn"]), name="run_status"
            ),
            models.CheckConstraint(condition=Q(trial__gte=1), name="run_trial_positive"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["study", "workload", "device"], name="run_study_workload_device"),
            models.Index(fields=["study", "run_id"], name="run_study_run_id"),
            models.Index("workload", "device", F("trans_per_s").desc(nulls_last=True), name="run_best"),
            models.Index("workload", "device", F("mb_per_s").desc(nulls_last=True), name="run_best_throughput"),
            models.Index(fields=["-started", "-id"], name="run_newest"),
            # Studies and devices have their time: looking for the newest of one goes through all that came after it.
            models.Index(fields=["study", "-started", "-id"], name="run_study_newest"),
            models.Index(fields=["device", "-started", "-id"], name="run_device_newest"),
            GinIndex(fields=["factors"], name="run_factors", opclasses=["jsonb_path_ops"]),
            GinIndex(fields=["tags"], condition=Q(tags__isnull=False), name="run_tags"),
        ]

    def __str__(self) -> str:
        return self.run_id


class RunEvidence(models.Model):
    """Where each value of a run came from, as `results.runs.evidence` has it. ``slots`` are those that have a value.

    ``origins``, a letter a slot: r reported by a log, d derived by us, p published in a document, g given by a
    person. ``printed`` are the texts as printed, a line a slot, "" where there was none. ``artifacts`` are ids and
    ``lines`` count from 1, 0 where there is none: one a slot; or one for all that logs print, or none at all, where
    others have none. ``formulas`` are ``id/version`` of the derived values.
    ``facts``: circumstances as printed, key -> {"text", "artifact", "line"}, or the text alone where it stands in the
    only line of the only artifact that the values come from (`perfdb.results.runs.evidence`).
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="evidence")
    study = _study()
    slots = ArrayField(models.SmallIntegerField())
    origins = models.TextField()
    printed = models.TextField()
    artifacts = ArrayField(models.BigIntegerField())
    lines = ArrayField(models.IntegerField())
    formulas = ArrayField(models.TextField())
    facts = models.JSONField(default=dict)

    class Meta:
        db_table = "run_evidence"

    def __str__(self) -> str:
        return f"evidence of run {self.pk}"


class MeasurementHistory(models.Model):
    """A derived value that a later version of its formula replaced."""

    run = models.ForeignKey(Run, models.CASCADE)
    measure = models.ForeignKey(Measure, models.PROTECT)
    value = models.FloatField()
    formula = models.TextField()
    replaced = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "measurement_history"

    def __str__(self) -> str:
        return f"{self.measure} was {self.value}"


class CounterLayout(models.Model):
    """The names of a counter set's elements, in order; shared by all sets that read the same counters."""

    names = ArrayField(models.TextField(), unique=True)

    class Meta:
        db_table = "counter_layout"

    def __str__(self) -> str:
        return ", ".join(self.names)


class CounterSet(models.Model):
    """The counters of one role (and adapter) before and after a run, in base units (seconds, bytes, counts).

    ``time`` is among them: the local time of the capture in seconds, so that its difference is the elapsed time.
    A missing half has artifact 0 and NULLs. ``usable`` is false when the pair was refused; it is kept all the same.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="counter_sets")
    study = _study()
    layout = models.ForeignKey(CounterLayout, models.PROTECT)
    before_artifact = models.BigIntegerField()
    after_artifact = models.BigIntegerField()
    role = models.TextField()
    subject = models.TextField(blank=True)
    host = models.TextField(blank=True)
    usable = models.BooleanField(default=True)
    before = ArrayField(models.FloatField(null=True))
    after = ArrayField(models.FloatField(null=True))
    before_lines = ArrayField(models.IntegerField())
    after_lines = ArrayField(models.IntegerField())

    class Meta:
        db_table = "counter_set"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "role", "subject"], name="counter_set_identity"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.subject}".strip()


class Trace(models.Model):
    """One column of a run's intervals or connections; a missing sample is NaN."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="traces")
    study = _study()
    artifact = models.BigIntegerField()
    listing = models.TextField()
    position = models.SmallIntegerField()
    column = models.TextField()
    unit = models.TextField(blank=True)
    samples = ArrayField(RealField())

    class Meta:
        db_table = "trace"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "listing", "position"], name="trace_identity"),
        ]

    def __str__(self) -> str:
        return f"{self.listing}.{self.column}"


class RunSource(models.Model):
    """Which artifact, brought by which upload, tells about a run: what a run is rebuilt from."""

    # A unique key begins with the run.
    run = models.ForeignKey(Run, models.CASCADE, db_index=False, related_name="sources")
    study = _study()
    artifact = models.ForeignKey(Artifact, models.PROTECT)
    upload = models.ForeignKey(Upload, models.PROTECT)
    path = models.TextField()
    format = models.TextField()
    format_version = models.SmallIntegerField()
    # Digests of the fragments' content, so that the same evidence in another file is known.
    digests = ArrayField(models.TextField())
    # First and last line of each fragment: a newer importer's fragments have other digests and stand in the same lines.
    spans = ArrayField(ArrayField(models.IntegerField(), size=2), default=list)
    # Whether the client's log of the load driver is in it: only then does the run's trial tell it from others.
    driver = models.BooleanField()

    class Meta:
        db_table = "run_source"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "artifact", "upload", "path"], name="run_source_identity"),
        ]

    def __str__(self) -> str:
        return self.path
