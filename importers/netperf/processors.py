"""CPU utilisation and service demand of both ends, and when they are not to be believed."""

from dataclasses import dataclass, field

from importers.fragment_builder import Gathered, Printed, is_decimal
from importers.problem_log import ProblemLog


@dataclass(slots=True)
class End:
    """The figures of one machine: CPU %, service demand with its unit, and how the CPU time was measured."""

    util: Printed | None = None
    demand: Printed | None = None
    method: str = ""
    unit: str = ""

    def say(self, util: Printed | None, demand: Printed | None, method: str, unit: str) -> None:
        """Take what is printed: -1, nan and the method U (unknown) mean that nothing was measured."""
        self.method, self.unit = method, unit
        if method != "U":
            self.util, self.demand = _measured(util), _measured(demand)

    def is_impossible(self) -> bool:
        """More than all processors busy."""
        return self.util is not None and float(self.util.text) > 100

    def says_the_same(self, other: "End") -> bool:
        """Whether both ends have the very same figures."""
        if not (self.util and other.util and self.demand and other.demand):
            return False
        return (self.util.text, self.demand.text) == (other.util.text, other.demand.text)


@dataclass(slots=True)
class Processors:
    """Both ends: ``local`` is the machine that ran netperf, whichever way the data went."""

    local: End = field(default_factory=End)
    remote: End = field(default_factory=End)

    def gather(self, into: Gathered, found: ProblemLog) -> None:
        """Readings of client and server; figures that cannot be are kept as facts, with a warning."""
        refused = [end.util for end in (self.local, self.remote) if end.util is not None and end.is_impossible()]
        for name, role, end in (("local", "client", self.local), ("remote", "server", self.remote)):
            if end.util is not None or end.demand is not None:
                _method(name, end, into)
            if refused:
                into.fact(f"refused.{name}_cpu_util", end.util)
                into.fact(f"refused.{name}_service_demand", end.demand)
                continue
            into.reading("cpu_util", end.util, "%", role)
            into.reading("cpu_ms_per_mb" if "KB" in end.unit else "cpu_ms_per_trans", end.demand, end.unit, role)
        if refused:
            _report_impossible(refused[0], found)
        elif self.local.says_the_same(self.remote):
            _report_same_machine(self.local, into, found)


def _measured(printed: Printed | None) -> Printed | None:
    if printed is None or not is_decimal(printed.text) or float(printed.text) < 0:
        return None
    return printed


def _method(name: str, end: End, into: Gathered) -> None:
    printed = end.util or end.demand
    into.fact(f"cpu_method.{name}", Printed(end.method, printed.line) if printed else None)


def _report_impossible(util: Printed, found: ProblemLog) -> None:
    message = f"CPU utilisation of {util.text} % is more than all processors: no CPU figure of this test was used."
    remedy = "Both ends ran on one machine, or netperf counted the processors of the other; measure CPU time apart."
    found.warn("netperf.cpu-above-100", message, remedy, util.line)


def _report_same_machine(end: End, into: Gathered, found: ProblemLog) -> None:
    line = end.util.line if end.util else None
    into.fact("cpu_shared", Printed("local and remote figures are equal", line or 0))
    message = "Both ends have the very same CPU figures: each seems to count the work of both, on one machine."
    found.note("netperf.same-machine", message, "Do not add the figures of client and server.", line)
