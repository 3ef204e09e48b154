"""All models."""

from perfdb.results.models.dimensions import (
    Alias,
    Device,
    DimensionCount,
    Experiment,
    Level,
    RunCount,
    SearchName,
    Study,
    StudyActivity,
    System,
    Workload,
)
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
from perfdb.results.models.trend import Delivery, Subscription, TrendAct, TrendChange, TrendEvent, TrendLook
from perfdb.results.models.upload import Artifact, Job, PartialFile, Problem, Upload, UploadFile, UploadRun

__all__ = ["Alias", "Device", "Experiment", "Level", "Study", "System", "Workload"]
__all__ += ["DimensionCount", "RunCount", "SearchName", "StudyActivity"]
__all__ += ["ApiToken", "FrozenLink", "Page", "SavedQuery", "SignInLink"]
__all__ += ["Claim", "Disagreement", "PublishedFigure", "PublishedPercent", "RemovedItem", "ReportItem", "TableMapping"]
__all__ += ["CounterLayout", "CounterSet", "Measure", "MeasurementHistory", "RunEvidence", "RunSource", "Trace"]
__all__ += ["Note", "Run", "RunChange"]
__all__ += ["Delivery", "Subscription", "TrendAct", "TrendChange", "TrendEvent", "TrendLook"]
__all__ += ["Artifact", "Job", "PartialFile", "Problem", "Upload", "UploadFile", "UploadRun"]
