"""What differs between a stored run and the same run rebuilt, one line a difference, for people to read."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from importers.model import Problem as Found
from perfdb.results.models import Problem, Run
from perfdb.results.runs.normalize.alias_dimensions import PRINTED
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import FactValue, RunRecord, Value


@dataclass(frozen=True, slots=True)
class Difference:
    """``old`` is empty for what is added, ``new`` for what goes. ``what``: dimension, value, fact, problem, …"""

    what: str
    name: str
    old: str
    new: str

    @property
    def kind(self) -> str:
        """Added, removed or changed."""
        return "changed" if self.old and self.new else "added" if self.new else "removed"


_Texts = Mapping[str, str]


def differences(run: Run, after: RunRecord) -> list[Difference]:
    """All that storing ``after`` in the place of a run would change of it."""
    before = read_record(run)
    status = run.status if run.status == Run.Status.WITHDRAWN else after.status
    pairs: list[tuple[str, _Texts, _Texts]] = [
        ("status", {"": run.status}, {"": status}),
        ("run id", {"": run.run_id}, {"": after.run_id}),
        ("start", {"": before.started.isoformat(" ")}, {"": after.started.isoformat(" ")}),
        ("dimension", _spelled(before.configuration.dimensions()), _spelled(after.configuration.dimensions())),
        ("value", _values(before), _values(after)),
        ("fact", _facts(before.facts), _facts(after.facts)),
        ("counter", _counters(before), _counters(after)),
        ("trace", _stored_traces(run), _traces(after)),
        ("problem", _problems(run.problems.all()), _problems(after.problems)),
    ]
    return [each for what, old, new in pairs for each in _between(what, old, new)]


def _between(what: str, old: _Texts, new: _Texts) -> Iterable[Difference]:
    names = dict.fromkeys((*old, *new))
    return (
        Difference(what, name, old.get(name, ""), new.get(name, "")) for name in names if old.get(name) != new.get(name)
    )


def _spelled(dimensions: Mapping[str, str | int]) -> _Texts:
    return {name: str(value) for name, value in dimensions.items()}


def _values(record: RunRecord) -> _Texts:
    return {str(measure): _said(value) for measure, value in record.values.items()}


def _said(value: Value) -> str:
    """A value with where it comes from: ``9077.29 (reported, line 12)``, ``0.41 (derived, cpu_per_trans/2)``."""
    place = value.formula or (f"line {value.line}" if value.line else "")
    return f"{value.value!r} ({', '.join(part for part in (value.origin.word, place) if part)})"


def _facts(facts: Mapping[str, FactValue]) -> _Texts:
    """The facts as printed, without what aliases keep for themselves."""
    return {key: fact.text or "(blank)" for key, fact in facts.items() if not key.startswith(PRINTED)}


def _counters(record: RunRecord) -> _Texts:
    return {
        " ".join(part for part in (counters.role, counters.subject, name) if part): f"{before} to {after}{unused}"
        for counters in record.counters
        for unused in ("" if counters.usable else " (not used)",)
        for name, before, after in zip(counters.names, counters.before, counters.after, strict=True)
    }


def _stored_traces(run: Run) -> _Texts:
    rows = run.traces.values_list("listing", "column", "unit", "samples")
    return {f"{listing}.{column} {unit}".strip(): _course(samples) for listing, column, unit, samples in rows}


def _traces(record: RunRecord) -> _Texts:
    return {f"{each.listing}.{each.column} {each.unit}".strip(): _course(each.samples) for each in record.traces}


def _course(samples: list[float]) -> str:
    """Samples as four-byte floats, which is how they are stored: their number, and a sum that tells them apart."""
    stored = [sample for sample in array("f", samples) if sample == sample]  # noqa: PLR0124 - NaN is not itself
    weighted = sum(number * sample for number, sample in enumerate(stored, start=1))
    return f"{len(samples)} samples, weighted sum {weighted:.6g}"


def _problems(problems: "Iterable[Problem | Found]") -> _Texts:
    return {f"{each.code}: {each.message}": str(each.severity) for each in problems}
