"""Runs with evidence, notes and the history of changes.

A question reads ``run`` alone: dimensions as typed columns, a few hot metrics as columns, all values in ``values`` by
slot. The origins of values are in other tables. docs/decisions/one-row-per-run.md has the measurements.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Upper

from perfdb.results.models.dimensions import Device, Experiment, Level, Row, Study, System, Workload
from perfdb.results.models.upload import Artifact, Upload


class RealField(models.FloatField):  # type: ignore[type-arg]
    """A four-byte float, sufficient for interval traces."""

    def db_type(self, connection: Any) -> str:
        """Return PostgreSQL's name of the type."""
        return "real"


class Measure(Row):
    """A (metric, role) pair with the slot in ``run.values``, which is never reused."""

    slot = models.SmallIntegerField(primary_key=True)
    metric = models.TextField()
    role = models.TextField()
    unit = models.TextField()
    better = models.TextField()
    decimals = models.SmallIntegerField()

    class Meta:
        db_table = "measure"
        constraints = [
            models.UniqueConstraint(fields=["metric", "role"], name="measure_metric_role"),
            models.CheckConstraint(condition=Q(slot__gte=1), name="measure_slot_positive"),
            models.CheckConstraint(condition=Q(better__in=["higher", "lower", "neutral"]), name="measure_better"),
        ]


def _vocabulary(model: type[models.Model]) -> Any:
    """Return a foreign key without a database constraint; the experiment's has one."""
    return models.ForeignKey(model, models.DO_NOTHING, null=True, db_constraint=False, db_index=False)


def _study() -> Any:
    """Return a reference to the run's study, by which tables may be partitioned.

    When a run moves to another study, a trigger updates the reference.
    """
    return models.ForeignKey(Study, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")


class Run(models.Model):
    """One execution of an experiment.

    Columns of eight bytes come first, so that PostgreSQL adds no padding between columns.
    """

    class Status(models.TextChoices):
        """The status of a run; only complete runs enter tables."""

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
    # Words that people give runs to find them again; NULL without any.
    tags = ArrayField(models.TextField(), null=True)

    # The metrics with role total that have a column of their own.
    HOT: ClassVar[tuple[str, ...]] = (
        *("trans_per_s", "mb_per_s", "response_ms", "elapsed_s", "cpu_util"),
        *("cpu_ms_per_trans", "virtual_cpu_ms_per_trans", "cp_cpu_ms_per_trans", "cpu_ms_per_mb"),
    )

    class Meta:
        db_table = "run"
        constraints = [
            models.UniqueConstraint(
                fields=["experiment", "run_id", "trial"], condition=~Q(status="withdrawn"), name="run_identity"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["complete", "failed", "incomplete", "withdrawn"]), name="run_status"
            ),
            models.CheckConstraint(condition=Q(trial__gte=1), name="run_trial_positive"),
        ]
        indexes = [
            models.Index(fields=["study", "workload", "device"], name="run_study_workload_device"),
            models.Index(fields=["study", "run_id"], name="run_study_run_id"),
            models.Index("workload", "device", F("trans_per_s").desc(nulls_last=True), name="run_best"),
            models.Index("workload", "device", F("mb_per_s").desc(nulls_last=True), name="run_best_throughput"),
            models.Index(fields=["-started", "-id"], name="run_newest"),
            # Studies and devices have their time: the newest of one may be older than many others.
            models.Index(fields=["study", "-started", "-id"], name="run_study_newest"),
            models.Index(fields=["device", "-started", "-id"], name="run_device_newest"),
            GinIndex(fields=["factors"], name="run_factors", opclasses=["jsonb_path_ops"]),
            GinIndex(fields=["tags"], condition=Q(tags__isnull=False), name="run_tags"),
        ]

    def __str__(self) -> str:
        return self.run_id


class RunEvidence(Row):
    """The origins of a run's values, and the facts.

    `perfdb.results.runs.evidence` writes and reads the columns:

    - ``slots``: the slots with a value.
    - ``origins``: one letter per slot: r reported by a log, d derived, p published in a document, g given by a person.
    - ``printed``: one line per slot, empty without a printed text.
    - ``artifacts`` and ``lines`` (from 1): one element per slot, 0 for a value without a place; or a single element
      that all values from logs share; or no element.
    - ``formulas``: ``id/version`` of each derived value.
    - ``facts``: key -> {"text", "artifact", "line"}, or the text alone if the values have a single artifact and line.
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


class MeasurementHistory(Row):
    """A former derived value of a run, which a later derivation changed."""

    run = models.ForeignKey(Run, models.CASCADE)
    measure = models.ForeignKey(Measure, models.PROTECT)
    value = models.FloatField()
    formula = models.TextField()
    replaced = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "measurement_history"


class CounterLayout(Row):
    """The names of counters in order, shared by all sets of the same counters."""

    names = ArrayField(models.TextField(), unique=True)

    class Meta:
        db_table = "counter_layout"


class CounterSet(Row):
    """The counters of one role (and adapter) before and after a run.

    Units are base units (seconds, bytes, counts). The counter ``time`` is the local time of the capture in seconds, so
    that the difference is the elapsed time. A missing half has artifact 0 and NULLs. ``usable`` is false for a refused
    pair.
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
        constraints = [models.UniqueConstraint(fields=["run", "role", "subject"], name="counter_set_identity")]


class Trace(Row):
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
        constraints = [models.UniqueConstraint(fields=["run", "listing", "position"], name="trace_identity")]


class RunSource(Row):
    """An artifact, with its upload, that a run is made of."""

    # A unique key begins with the run.
    run = models.ForeignKey(Run, models.CASCADE, db_index=False, related_name="sources")
    study = _study()
    artifact = models.ForeignKey(Artifact, models.PROTECT)
    upload = models.ForeignKey(Upload, models.PROTECT)
    path = models.TextField()
    format = models.TextField()
    format_version = models.SmallIntegerField()
    # Digests of the fragments' content, by which the same evidence in another file is recognised.
    digests = ArrayField(models.TextField())
    # First and last line of each fragment: a newer importer's fragments have other digests but the same lines.
    spans = ArrayField(ArrayField(models.IntegerField(), size=2), default=list)
    # Whether the artifact has the load driver's log of the client: only then the trial identifies the run.
    driver = models.BooleanField()

    class Meta:
        db_table = "run_source"
        constraints = [
            models.UniqueConstraint(fields=["run", "artifact", "upload", "path"], name="run_source_identity")
        ]


class Note(Row):
    """A person's remark on a run, shown with every number of the run."""

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="notes")
    text = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created = models.DateTimeField(auto_now_add=True)
    edited = models.DateTimeField(null=True)

    class Meta:
        db_table = "note"
        ordering = ["created", "pk"]
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="note_not_empty")]
        indexes = [GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="note_like")]


class RunChange(Row):
    """A change of a stored run by a person or a job."""

    class Kind(models.TextChoices):
        EXTENDED = "extended"
        REBUILT = "rebuilt"
        WITHDRAWN = "withdrawn"
        RESTORED = "restored"
        TAGGED = "tagged"
        UNTAGGED = "untagged"
        NOTED = "noted"
        NOTE_EDITED = "note-edited"
        NOTE_REMOVED = "note-removed"

    run = models.ForeignKey("results.Run", models.CASCADE, related_name="changes")
    kind = models.CharField(max_length=12, choices=Kind)
    # For people: the tag, the note's former text, the reason of a withdrawal.
    detail = models.TextField(blank=True)
    # The status to which a withdrawn run returns.
    status_before = models.CharField(max_length=10, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    made = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "run_change"
        ordering = ["made", "pk"]
