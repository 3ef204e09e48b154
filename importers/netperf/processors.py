"""CPU utilisation and service demand of both ends, checked for plausibility."""

from dataclasses import dataclass, field

from importers.fragment_builder import FragmentBuilder, Printed, is_decimal
from importers.model import ProblemLog


@dataclass(slots=True)
class End:
    """One machine's CPU %, service demand with unit, and method of measurement."""

    util: Printed | None = None
    demand: Printed | None = None
    method: str = ""
    unit: str = ""

    def take(self, util: Printed | None, demand: Printed | None, method: str, unit: str) -> None:
        """Take figures; -1, nan and the method U (unknown) mean not measured."""
        self.method, self.unit = method, unit
        if method != "U":
            self.util, self.demand = _drop_invalid(util), _drop_invalid(demand)

    def equals(self, other: "End") -> bool:
        """Return whether both ends have the same figures."""
        if not (self.util and other.util and self.demand and other.demand):
            return False
        return (self.util.text, self.demand.text) == (other.util.text, other.demand.text)


@dataclass(slots=True)
class Processors:
    """Both ends: ``local`` is netperf's machine, for data of either direction."""

    local: End = field(default_factory=End)
    remote: End = field(default_factory=End)

    def gather(self, into: FragmentBuilder, found: ProblemLog) -> None:
        """Keep both roles' readings; figures above 100 % become facts, with a warning."""
        utils = [end.util for end in (self.local, self.remote) if end.util is not None]
        refused = [util for util in utils if float(util.text) > 100]
        for name, role, end in (("local", "client", self.local), ("remote", "server", self.remote)):
            printed = end.util or end.demand
            into.add_printed(f"cpu_method.{name}", Printed(end.method, printed.line) if printed else None)
            if refused:
                into.add_printed(f"refused.{name}_cpu_util", end.util)
                into.add_printed(f"refused.{name}_service_demand", end.demand)
                continue
            into.add_reading("cpu_util", end.util, "%", role)
            into.add_reading("cpu_ms_per_mb" if "KB" in end.unit else "cpu_ms_per_trans", end.demand, end.unit, role)
        if refused:
            _report_impossible(refused[0], found)
        elif self.local.equals(self.remote):
            _report_same_machine(self.local, into, found)


def _drop_invalid(printed: Printed | None) -> Printed | None:
    if printed is None or not is_decimal(printed.text) or float(printed.text) < 0:
        return None
    return printed


def _report_impossible(util: Printed, found: ProblemLog) -> None:
    message = f"CPU utilisation of {util.text} % is more than all processors: no CPU figure of this test was used."
    remedy = "Both ends ran on one machine, or netperf counted the processors of the other; measure CPU time apart."
    found.warn("netperf.cpu-above-100", message, remedy, util.line)


def _report_same_machine(end: End, into: FragmentBuilder, found: ProblemLog) -> None:
    line = end.util.line if end.util else None
    into.add_printed("cpu_shared", Printed("local and remote figures are equal", line or 0))
    message = "Both ends have the very same CPU figures: each seems to count the work of both, on one machine."
    found.note("netperf.same-machine", message, "Do not add the figures of client and server.", line)
