"""Check of monitor reports: a report's window must be within the run's measured time."""

from dataclasses import dataclass
from datetime import datetime

from perfdb.analysis.checks.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Window:
    """Start and end of a measurement, local times."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        shape = "%H:%M:%S" if self.start.date() == self.end.date() else "%Y-%m-%d %H:%M:%S"
        return f"{self.start:{shape}} to {self.end:{shape}}"


def overlap(report: Window, driver: Window) -> bool:
    """Return whether both windows have any time in common."""
    return report.start < driver.end and driver.start < report.end


def check_window(report: Window, driver: Window) -> Finding | None:
    """Return a finding if a report reaches beyond the driver's time."""
    covers = f"The report covers {_with_day(report, driver)}, but the driver log of this run covers {driver}: "
    remedy = "Make the report again for the time that the driver measured."
    if not overlap(report, driver):
        message = f"{covers}they do not overlap, so no CPU per transaction is worked out."
        return Finding(Severity.WARNING, "report.other-window", message, remedy)
    if report.start < driver.start or driver.end < report.end:
        message = f"{covers}the report reaches beyond it, so its figures hold time that was not measured."
        return Finding(Severity.WARNING, "report.partial-window", message, remedy)
    return None


def _with_day(report: Window, driver: Window) -> str:
    """Return the report's window, with its day if that differs from the driver's."""
    same = report.start.date() == driver.start.date()
    return str(report) if same or report.start.date() != report.end.date() else f"{report} on {report.start:%Y-%m-%d}"
