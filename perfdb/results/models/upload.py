"""Uploads: the files as received, what was recognised in them, the jobs that work on them, and problems."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper

from perfdb.results.models.dimensions import Study


class Artifact(models.Model):
    """A file as received, kept once by its digest under ``MEDIA_ROOT``; never altered, always downloadable."""

    sha256 = models.CharField(max_length=64, unique=True)
    size = models.BigIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "artifact"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=Q(size__gte=0), name="artifact_size_not_negative"),
        ]

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def path(self) -> str:
        """The name under which the storage keeps it."""
        return f"{self.sha256[:2]}/{self.sha256}"


class Upload(models.Model):
    """One act of bringing files in. ``facts`` is what the person gave because the files lack it."""

    class State(models.TextChoices):
        """Where it stands. ``preview`` waits for a person."""

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
    # A person asked to see it first; otherwise it is accepted by itself unless something must be asked.
    preview_asked = models.BooleanField(default=False)
    facts = models.JSONField(default=dict)
    # What the person added to it in the preview, act by act: {"facts": {…}, "places": [[path, first line, last line]]}.
    corrections = models.JSONField(default=list)
    # What the person chose for conflicts: identity ("run_id/trial") -> keep, replace, trial.
    decisions = models.JSONField(default=dict)
    files_read = models.IntegerField(default=0)
    runs_loaded = models.IntegerField(default=0)
    runs_found = models.IntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)
    settled = models.DateTimeField(null=True)

    class Meta:
        db_table = "upload"
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["-created", "-id"], name="upload_newest")]

    def __str__(self) -> str:
        return f"Upload {self.pk}"


class PartialFile(models.Model):
    """A large file on its way: its pieces are appended to one file on disk until all ``size`` bytes are there."""

    token = models.CharField(max_length=22, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    # Path as the sender names it, and what it takes for the same file when it comes back after a break.
    path = models.TextField()
    fingerprint = models.TextField()
    size = models.BigIntegerField()
    received = models.BigIntegerField(default=0)
    # Of the whole, where the sender says it; compared when all is there.
    sha256 = models.CharField(max_length=64, blank=True)
    # The upload that has taken it: who asks again, for the answer was lost, is led there.
    upload = models.ForeignKey(Upload, models.CASCADE, null=True)
    created = models.DateTimeField(auto_now_add=True)
    touched = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "partial_file"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=Q(received__gte=0, received__lte=models.F("size")), name="partial_bounds"),
        ]

    def __str__(self) -> str:
        return f"{self.path}: {self.received} of {self.size}"


class UploadFile(models.Model):
    """One file of an upload: its relative path and what it was recognised as; a member of a zip names it."""

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="files")
    artifact = models.ForeignKey(Artifact, models.PROTECT)
    container = models.ForeignKey("self", models.CASCADE, null=True)
    path = models.TextField()
    format = models.TextField(blank=True)
    # The person's choice where recognition found none or two.
    forced_format = models.TextField(blank=True)
    encoding = models.TextField(blank=True)
    # The person left it out of the preview; it is kept and not read.
    excluded = models.BooleanField(default=False)

    class Meta:
        db_table = "upload_file"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["upload", "path"], name="upload_file_path"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            GinIndex(OpClass(Upper("path"), name="gin_trgm_ops"), name="upload_file_like"),
        ]

    def __str__(self) -> str:
        return self.path


class UploadRun(models.Model):
    """A run that an upload brought, and what became of it; in preview: what would become of it."""

    class Outcome(models.TextChoices):
        """What loading did, or would do."""

        NEW = "new"
        EXTENDED = "extended"
        ALREADY_THERE = "already-there"
        CONFLICT = "conflict"
        REJECTED = "rejected"

    # A unique key begins with the upload.
    upload = models.ForeignKey(Upload, models.CASCADE, db_index=False, related_name="runs")
    run = models.ForeignKey("results.Run", models.SET_NULL, null=True, related_name="upload_runs")
    # The run that this one replaced by the person's decision; undo brings it back.
    replaced = models.ForeignKey("results.Run", models.SET_NULL, null=True, db_index=False, related_name="replaced_by")
    replaced_status = models.CharField(max_length=10, blank=True)
    # Its place among the runs of the upload, and whether it was loaded or is still a preview.
    number = models.IntegerField()
    loaded = models.BooleanField(default=False)
    # The run id as printed (``run_id`` is the reference's own column).
    run_label = models.TextField()
    trial = models.SmallIntegerField()
    outcome = models.CharField(max_length=13, choices=Outcome)
    status = models.CharField(max_length=10)
    # Dimensions, main figures and files, for the preview: nothing is looked up there.
    summary = models.JSONField(default=dict)

    class Meta:
        db_table = "upload_run"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["upload", "number"], name="upload_run_number"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["replaced"], condition=Q(replaced__isnull=False), name="upload_run_replaced"),
        ]

    def __str__(self) -> str:
        return f"{self.run_label}/{self.trial}: {self.outcome}"


class Problem(models.Model):
    """Something an importer or a check could not accept; belongs to an upload, a run or both."""

    class Severity(models.TextChoices):
        """An error stored nothing of what it concerns; warnings and notes stand beside the run."""

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
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=Q(upload__isnull=False) | Q(run__isnull=False), name="problem_belongs_somewhere"
            ),
        ]

    def __str__(self) -> str:
        return self.message


class Job(models.Model):
    """One piece of background work. This row is the truth; the broker's message carries only its id.

    It may concern an upload, a study, or neither; ``about`` is what else its kind has to know.
    """

    class State(models.TextChoices):
        """A failed job said why; a job whose lease ran out is sent again."""

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
    # What it did; while it runs: what is done so far, from which the next attempt goes on.
    outcome = models.JSONField(default=dict)

    class Meta:
        db_table = "job"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["state", "lease_until"], condition=Q(state__in=["queued", "running"]), name="job_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} job {self.pk}"
