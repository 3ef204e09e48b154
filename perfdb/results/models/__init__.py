"""All models by subject: `vocabulary` (what runs are about), `run` (and its evidence), `upload`, `report`, `access`."""

from perfdb.results.models.access import ApiToken, SignInLink
from perfdb.results.models.published import TableMapping
from perfdb.results.models.report import Claim, Disagreement, PublishedFigure, PublishedPercent, ReportItem
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
    "Claim",
    "CounterLayout",
    "CounterSet",
    "Device",
    "Disagreement",
    "Experiment",
    "Job",
    "Level",
    "Measure",
    "MeasurementHistory",
    "Problem",
    "PublishedFigure",
    "PublishedPercent",
    "ReportItem",
    "Run",
    "RunEvidence",
    "RunSource",
    "SignInLink",
    "Study",
    "System",
    "TableMapping",
    "Trace",
    "Upload",
    "UploadFile",
    "UploadRun",
    "Workload",
]
