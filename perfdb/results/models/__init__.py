"""All models, by subject: `vocabulary` (what runs are about), `run` (runs and their evidence), `upload`, `access`."""

from perfdb.results.models.access import ApiToken, SignInLink
from perfdb.results.models.run import (
    CounterLayout,
    CounterSet,
    Measure,
    MeasurementHistory,
    Run,
    RunEvidence,
    RunSource,
    Trace,
)
from perfdb.results.models.upload import Artifact, Job, Problem, Upload, UploadFile, UploadRun
from perfdb.results.models.vocabulary import Alias, Device, Experiment, Level, Study, System, Workload

__all__ = [
    "Alias",
    "ApiToken",
    "Artifact",
    "CounterLayout",
    "CounterSet",
    "Device",
    "Experiment",
    "Job",
    "Level",
    "Measure",
    "MeasurementHistory",
    "Problem",
    "Run",
    "RunEvidence",
    "RunSource",
    "SignInLink",
    "Study",
    "System",
    "Trace",
    "Upload",
    "UploadFile",
    "UploadRun",
    "Workload",
]
