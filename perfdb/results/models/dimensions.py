"""Studies, systems, levels, devices, workloads, aliases, experiments, and counts of runs.

The counts and the names for the search are kept by triggers (migration ``0001_schema``).
"""

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper

INBOX = "inbox"


class Row(models.Model):
    """A row that nothing names: the text is the table and the key."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self._meta.db_table} {self.pk}"


class Study(models.Model):
    """A set of measurements; ``version`` rises with each change of data."""

    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=200)
    purpose = models.TextField(blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True)
    # How run ids encode dimensions: a regular expression with named groups, and per group printed -> value.
    run_id_pattern = models.TextField(blank=True)
    run_id_values = models.JSONField(default=dict, blank=True)
    # Method and publication as prose; the planned values by dimension.
    method = models.TextField(blank=True)
    source = models.TextField(blank=True)
    notes = models.JSONField(default=list, blank=True)
    plan = models.JSONField(default=list, blank=True)
    # What orders the points of its trends: date, campaign, level, or a factor such as factor.commit.
    trend_order = models.TextField(default="date")
    # The secret of its published read-only address; NULL without one.
    share_token = models.CharField(max_length=22, null=True, unique=True)  # noqa: DJ001 - several have none
    # The digest of the document that the study was loaded from; empty without one.
    document_digest = models.TextField(blank=True)
    version = models.BigIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "study"
        constraints = [
            models.UniqueConstraint(fields=["owner", "slug"], name="study_owner_slug", nulls_distinct=False),
            # Each user has an inbox of the same slug; any other slug is an address and unique.
            models.UniqueConstraint(fields=["slug"], condition=~Q(slug=INBOX), name="study_slug"),
        ]

    def __str__(self) -> str:
        return self.title


class System(models.Model):
    """A measured system, identified by machine, host, processors and memory."""

    name = models.TextField()
    machine = models.TextField(blank=True)
    host = models.TextField(blank=True)
    processors = models.IntegerField(null=True)
    memory_bytes = models.BigIntegerField(null=True)
    facts = models.JSONField(default=dict)

    class Meta:
        db_table = "system"
        constraints = [
            models.UniqueConstraint(
                fields=["machine", "host", "processors", "memory_bytes"], name="system_identity", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return self.name


class Level(models.Model):
    """A named set of software levels, such as hypervisor, kernel and driver."""

    name = models.TextField(unique=True)
    facts = models.JSONField(default=dict)

    class Meta:
        db_table = "level"

    def __str__(self) -> str:
        return self.name


class Device(models.Model):
    """The connectivity under test, named as in the logs."""

    class Kind(models.TextChoices):
        """The kind of a device: real if frames leave the machine."""

        REAL = "real"
        VIRTUAL = "virtual"
        UNKNOWN = "unknown"

    name = models.TextField(unique=True)
    kind = models.CharField(max_length=7, choices=Kind, default=Kind.UNKNOWN)
    speed_bits_per_s = models.BigIntegerField(null=True)

    class Meta:
        db_table = "device"
        constraints = [models.CheckConstraint(condition=Q(kind__in=["real", "virtual", "unknown"]), name="device_kind")]

    def __str__(self) -> str:
        return self.name


class Workload(models.Model):
    """A traffic pattern and the sizes in bytes, if the pattern has any."""

    name = models.TextField(unique=True)
    pattern = models.TextField()
    request_bytes = models.BigIntegerField(null=True)
    response_bytes = models.BigIntegerField(null=True)

    class Meta:
        db_table = "workload"
        constraints = [
            models.UniqueConstraint(fields=["pattern", "request_bytes", "response_bytes"], name="workload_identity"),
            models.CheckConstraint(
                condition=Q(request_bytes__gte=0, response_bytes__gte=0), name="workload_sizes_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Alias(Row):
    """A study's second spelling of a value: ``QDIO GBE`` means the device ``QDIO``.

    Texts are compared by ``folded``: without regard to capitals and outer blanks.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="aliases")
    dimension = models.TextField()
    printed = models.TextField()
    folded = models.TextField()
    meaning = models.TextField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "alias"
        constraints = [models.UniqueConstraint(fields=["study", "dimension", "folded"], name="alias_printed")]


class Experiment(models.Model):
    """One configuration, repeated in trials.

    ``key`` is the XOR of a hash for each dimension value: one more XOR gives the key of all dimensions but one
    (`perfdb.results.runs.experiments`).
    """

    # A unique key begins with the study.
    study = models.ForeignKey(Study, models.PROTECT, db_index=False)
    system = models.ForeignKey(System, models.PROTECT, null=True)
    level = models.ForeignKey(Level, models.PROTECT, null=True)
    workload = models.ForeignKey(Workload, models.PROTECT, null=True)
    device = models.ForeignKey(Device, models.PROTECT, null=True)
    key = models.BigIntegerField()
    mtu = models.IntegerField(null=True)
    users = models.IntegerField(null=True)
    layer = models.SmallIntegerField(null=True)
    campaign = models.TextField(blank=True)
    factors = models.JSONField(default=dict)

    class Meta:
        db_table = "experiment"
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="experiment_study_key"),
            models.CheckConstraint(condition=Q(mtu__gt=0), name="experiment_mtu_positive"),
            models.CheckConstraint(condition=Q(users__gt=0), name="experiment_users_positive"),
        ]

    def __str__(self) -> str:
        parts = (self.workload, self.device, self.mtu and f"MTU {self.mtu}", self.users and f"{self.users} users")
        return " · ".join(str(part) for part in parts if part)


class RunCount(Row):
    """The number of an experiment's runs with a status; may be 0."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    status = models.CharField(max_length=10)
    runs = models.BigIntegerField()

    class Meta:
        db_table = "run_count"
        constraints = [models.UniqueConstraint(fields=["experiment", "status"], name="run_count_once")]


class DimensionCount(Row):
    """Number of a study's runs by dimension, value and status.

    The number may be 0. ``name`` is a dimension, ``factor.NAME`` for a factor, or "" for all runs. ``value`` is "" for
    a missing value; a missing factor has no row.
    """

    study = models.ForeignKey(Study, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    status = models.CharField(max_length=10)
    name = models.TextField()
    value = models.TextField()
    runs = models.BigIntegerField()

    class Meta:
        db_table = "dimension_count"
        constraints = [
            models.UniqueConstraint(fields=["study", "status", "name", "value"], name="dimension_count_once")
        ]


class StudyActivity(Row):
    """The number of a study's runs without withdrawn ones, and the last change's time."""

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, db_constraint=False, related_name="activity")
    runs = models.BigIntegerField(default=0)
    changed = models.DateTimeField()

    class Meta:
        db_table = "study_activity"


class SearchName(Row):
    """A run id or tag for the search, stored once for all runs.

    The row stays when the last run goes, so the search checks for runs.
    """

    class Kind(models.TextChoices):
        RUN = "run"
        TAG = "tag"

    kind = models.CharField(max_length=3, choices=Kind)
    text = models.TextField()

    class Meta:
        db_table = "search_name"
        constraints = [models.UniqueConstraint(fields=["kind", "text"], name="search_name_once")]
        indexes = [
            # For prefixes, and for substrings and similar texts; both in capitals.
            models.Index("kind", OpClass(Upper("text"), name="text_pattern_ops"), name="search_name_begins"),
            GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="search_name_like"),
        ]
