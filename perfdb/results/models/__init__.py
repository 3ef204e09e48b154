"""All models."""

from perfdb.results.models.counts import DimensionCount, RunCount, SearchName, StudyActivity
from perfdb.results.models.dimensions import Alias, Device, Experiment, Level, Study, System, Workload
from perfdb.results.models.personal import ApiToken, FrozenLink, Page, SavedQuery, SignInLink
from perfdb.results.models.report import (
    Claim,
    Disagreement,
    PublishedFigure,
    PublishedPercent,
    RemovedItem,
    ReportItem,
    TableMapping,
)
from perfdb.results.models.run import (
    CounterLayout,
    CounterSet,
    Measure,
    MeasurementHistory,
    Note,
    Run,
    RunChange,
    RunEvidence,
    RunSource,
    Trace,
)
from perfdb.results.models.subscription import Delivery, Subscription
from perfdb.results.models.trend import TrendAct, TrendChange, TrendEvent, TrendLook
from perfdb.results.models.upload import Artifact, Job, PartialFile, Problem, Upload, UploadFile, UploadRun

__all__ = [
    "Alias",
    "ApiToken",
    "Artifact",
    "Claim",
    "CounterLayout",
    "CounterSet",
    "Delivery",
    "Device",
    "DimensionCount",
    "Disagreement",
    "Experiment",
    "FrozenLink",
    "Job",
    "Level",
    "Measure",
    "MeasurementHistory",
    "Note",
    "Page",
    "PartialFile",
    "Problem",
    "PublishedFigure",
    "PublishedPercent",
    "RemovedItem",
    "ReportItem",
    "Run",
    "RunChange",
    "RunCount",
    "RunEvidence",
    "RunSource",
    "SavedQuery",
    "SearchName",
    "SignInLink",
    "Study",
    "StudyActivity",
    "Subscription",
    "System",
    "TableMapping",
    "Trace",
    "TrendAct",
    "TrendChange",
    "TrendEvent",
    "TrendLook",
    "Upload",
    "UploadFile",
    "UploadRun",
    "Workload",
]
