"""Uploads with files, runs, problems and jobs."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper

from perfdb.results.models.dimensions import Row, Study


class Artifact(Row):
    """A file as received, stored once by digest and never altered."""

    sha256 = models.CharField(max_length=64, unique=True)
    size = models.BigIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "artifact"
        constraints = [models.CheckConstraint(condition=Q(size__gte=0), name="artifact_size_not_negative")]

    @property
    def path(self) -> str:
        """Return the file's name in the storage."""
        return f"{self.sha256[:2]}/{self.sha256}"


class Upload(Row):
    """Files received together; ``facts`` are supplied with the files, which lack them."""

    class State(models.TextChoices):
        """The state of an upload; ``preview`` waits for a person."""

        RECEIVED = "received"
        PARSING = "parsing"
        PREVIEW = "preview"
        LOADING = "loading"
        DONE = "done"
        FAILED = "failed"
        UNDONE = "undone"
        EXPIRED = "expired"

    SETTLED: ClassVar[frozenset[str]] = frozenset({"preview", "done", "failed", "undone", "expired"})

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT)
    study = models.ForeignKey(Study, models.PROTECT)
    state = models.CharField(max_length=8, choices=State, default=State.RECEIVED)
    # Whether a person asked for a preview; otherwise only conflicts and gaps make one.
    preview_asked = models.BooleanField(default=False)
    facts = models.JSONField(default=dict)
    # Corrections in the preview, in order: {"facts": {…}, "places": [[path, first line, last line]]}.
    corrections = models.JSONField(default=list)
    # Decisions on conflicts: identity ("run_id/trial") -> keep, replace, trial.
    decisions = models.JSONField(default=dict)
    files_read = models.IntegerField(default=0)
    runs_loaded = models.IntegerField(default=0)
    runs_found = models.IntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)
    settled = models.DateTimeField(null=True)

    class Meta:
        db_table = "upload"
        indexes = [models.Index(fields=["-created", "-id"], name="upload_newest")]


class PartialFile(Row):
    """A large file being received, in pieces that are appended."""

    token = models.CharField(max_length=22, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    # The sender's path, and the sender's mark of the same file after a break.
    path = models.TextField()
    fingerprint = models.TextField()
    size = models.BigIntegerField()
    received = models.BigIntegerField(default=0)
    # The digest of the whole, if the sender gave one; compared at the end.
    sha256 = models.CharField(max_length=64, blank=True)
    # The upload that took the file, for a sender whose answer was lost.
    upload = models.ForeignKey(Upload, models.CASCADE, null=True)
    created = models.DateTimeField(auto_now_add=True)
    touched = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "partial_file"
        constraints = [
            models.CheckConstraint(condition=Q(received__gte=0, received__lte=models.F("size")), name="partial_bounds")
        ]


class UploadFile(Row):
    """A file of an upload; ``container`` is the archive that the file came in."""

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="files")
    artifact = models.ForeignKey(Artifact, models.PROTECT)
    container = models.ForeignKey("self", models.CASCADE, null=True)
    path = models.TextField()
    format = models.TextField(blank=True)
    # A person's choice if no format or two were recognised.
    forced_format = models.TextField(blank=True)
    encoding = models.TextField(blank=True)
    # Left out in the preview: kept, not read.
    excluded = models.BooleanField(default=False)

    class Meta:
        db_table = "upload_file"
        constraints = [models.UniqueConstraint(fields=["upload", "path"], name="upload_file_path")]
        indexes = [GinIndex(OpClass(Upper("path"), name="gin_trgm_ops"), name="upload_file_like")]


class UploadRun(Row):
    """A run of an upload and the outcome; in a preview, the expected outcome."""

    class Outcome(models.TextChoices):
        NEW = "new"
        EXTENDED = "extended"
        ALREADY_THERE = "already-there"
        CONFLICT = "conflict"
        REJECTED = "rejected"

    # A unique key begins with the upload.
    upload = models.ForeignKey(Upload, models.CASCADE, db_index=False, related_name="runs")
    run = models.ForeignKey("results.Run", models.SET_NULL, null=True, related_name="upload_runs")
    # The run that this one replaced by a person's decision; an undo restores it.
    replaced = models.ForeignKey("results.Run", models.SET_NULL, null=True, db_index=False, related_name="replaced_by")
    replaced_status = models.CharField(max_length=10, blank=True)
    # The position among the upload's runs, and whether the run is stored.
    number = models.IntegerField()
    loaded = models.BooleanField(default=False)
    # The run id as printed (``run_id`` is the reference's own column).
    run_label = models.TextField()
    trial = models.SmallIntegerField()
    outcome = models.CharField(max_length=13, choices=Outcome)
    status = models.CharField(max_length=10)
    # Dimensions, main figures and files for the preview, which looks nothing up.
    summary = models.JSONField(default=dict)

    class Meta:
        db_table = "upload_run"
        constraints = [models.UniqueConstraint(fields=["upload", "number"], name="upload_run_number")]
        indexes = [models.Index(fields=["replaced"], condition=Q(replaced__isnull=False), name="upload_run_replaced")]


class Problem(models.Model):
    """A problem found by an importer or a check, of an upload or run."""

    class Severity(models.TextChoices):
        """The severity: with an error, nothing of the concerned run or file is stored."""

        ERROR = "error"
        WARNING = "warning"
        NOTE = "note"

    upload = models.ForeignKey(Upload, models.CASCADE, null=True, related_name="problems")
    run = models.ForeignKey("results.Run", models.CASCADE, null=True, related_name="problems")
    severity = models.CharField(max_length=7, choices=Severity)
    code = models.TextField()
    message = models.TextField()
    remedy = models.TextField(blank=True)
    file = models.TextField(blank=True)
    line = models.IntegerField(null=True)
    run_label = models.TextField(blank=True)

    class Meta:
        db_table = "problem"
        constraints = [
            models.CheckConstraint(
                condition=Q(upload__isnull=False) | Q(run__isnull=False), name="problem_belongs_somewhere"
            )
        ]

    def __str__(self) -> str:
        return self.message


class Job(models.Model):
    """Background work on an upload, a study or neither.

    This row is the truth; the broker's message carries only the id. ``about`` holds further parameters of the kind.
    """

    class State(models.TextChoices):
        """The state of a job; one whose lease ran out is sent again."""

        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    kind = models.TextField()
    upload = models.ForeignKey(Upload, models.CASCADE, null=True, related_name="jobs")
    study = models.ForeignKey(Study, models.CASCADE, null=True, related_name="jobs")
    about = models.JSONField(default=dict)
    state = models.CharField(max_length=7, choices=State, default=State.QUEUED)
    # Rises with each claim: a worker may write only while it holds the newest attempt (fencing).
    attempt = models.IntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    created = models.DateTimeField(auto_now_add=True)
    sent = models.DateTimeField()
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    # The result; while the job runs, the progress from which the next attempt continues.
    outcome = models.JSONField(default=dict)

    class Meta:
        db_table = "job"
        indexes = [
            models.Index(fields=["state", "lease_until"], condition=Q(state__in=["queued", "running"]), name="job_open")
        ]

    def __str__(self) -> str:
        return f"{self.kind} job {self.pk}"
