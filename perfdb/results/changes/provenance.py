"""The provenance of values: origin, printed text, log line, formula and inputs.

A derived value is stored with formula and version; the inputs follow from the declaration of the formula and are found
in the stored evidence when asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perfdb.analysis import metrics
from perfdb.analysis.formulas.catalogue import BY_ID
from perfdb.analysis.formulas.derivation import explain_derivation
from perfdb.analysis.formulas.run_values import Input as FormulaInput
from perfdb.analysis.formulas.run_values import InputKind
from perfdb.analysis.metrics import Measure, Metric
from perfdb.results.runs.derive import TIME, derive_values
from perfdb.results.runs.record import Origin, RunRecord, Value, moment_to_seconds


@dataclass(frozen=True, slots=True)
class Place:
    """A line of an artifact."""

    artifact: int
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a derived value: a ``metric`` (or fact) or a ``counter``.

    For a counter, ``value`` is after minus before, in base units; ``time`` is the local time of the capture in seconds.
    """

    kind: str
    name: str
    role: str
    value: float
    unit: str
    place: Place | None
    subject: str = ""
    before: float | None = None
    after: float | None = None
    before_place: Place | None = None


@dataclass(frozen=True, slots=True)
class AppliedFormula:
    """The formula of a derived value; ``worked`` and ``inputs`` are empty for another version."""

    id: str
    version: int
    text: str
    source: str
    worked: str
    inputs: Sequence[Input]


@dataclass(frozen=True, slots=True)
class Figure:
    """A value of a run; ``origin`` is reported, derived, published or given."""

    measure: Measure
    metric: Metric
    value: float
    origin: str
    printed: str
    place: Place | None
    formula: AppliedFormula | None


def record_figures(record: RunRecord, paths: Mapping[int, str]) -> list[Figure]:
    """Return a record's values by metric, totals first; ``paths`` of artifacts."""
    finder = _Finder(record, paths)
    order = {metric.name: number for number, metric in enumerate(metrics.METRICS)}
    measures = sorted(record.values, key=lambda m: (order[m.metric], m.role != metrics.TOTAL, m.role))
    return [finder.figure(measure, record.values[measure]) for measure in measures]


class _Finder:
    """Search for the places of a record's values and of formulas' inputs."""

    def __init__(self, record: RunRecord, paths: Mapping[int, str]) -> None:
        self._record = record
        self._paths = paths
        self._derived = {each.measure: each for each in derive_values(record)}

    def figure(self, measure: Measure, value: Value) -> Figure:
        return Figure(
            measure=measure,
            metric=metrics.BY_NAME[measure.metric],
            value=value.value,
            origin=value.origin.word,
            printed=value.printed,
            place=self._place(value.artifact, value.line),
            formula=self._formula(measure, value) if value.origin is Origin.DERIVED else None,
        )

    def _place(self, artifact: int, line: int) -> Place | None:
        return Place(artifact, self._paths.get(artifact, ""), line) if artifact and line else None

    def _formula(self, measure: Measure, value: Value) -> AppliedFormula:
        name, _, version = value.formula.partition("/")
        declared, again = BY_ID.get(name), self._derived.get(measure)
        text, source = (declared.text, declared.source) if declared else ("", "")
        if again is None or value.formula != f"{again.formula}/{again.version}":
            return AppliedFormula(name, int(version or 0), text, source, "", ())
        inputs = [self._input(each) for each in again.inputs]
        return AppliedFormula(name, int(version or 0), text, source, explain_derivation(again), inputs)

    def _input(self, given: FormulaInput) -> Input:
        if given.kind in (InputKind.COUNTER, InputKind.SNAPSHOT):
            return self._counter(given, given.name if given.kind is InputKind.COUNTER else TIME)
        role = given.role or metrics.TOTAL
        again = self._derived.get(Measure(given.name, role))
        if again is not None:
            # A derived input has the place of its own first input.
            first = self._input(again.inputs[0])
            return replace(first, kind="metric", name=given.name, role=role, value=given.value, unit=given.unit)
        value = self._record.values.get(Measure(given.name, role)) or self._record.facts.get(given.name)
        place = self._place(value.artifact, value.line) if value else None
        return Input("metric", given.name, role, given.value, given.unit, place)

    def _counter(self, given: FormulaInput, name: str) -> Input:
        role, subject = given.role, given.subject
        fitting = (each for each in self._record.counters if (each.role, each.subject) == (role, subject))
        counters = next(each for each in fitting if name in each.names)
        at = counters.names.index(name)
        return Input(
            kind="counter",
            name=name,
            role=role,
            value=given.value,
            unit=given.unit,
            place=self._place(counters.after_artifact, counters.after_lines[at]),
            subject=subject,
            before=_number(given.before),
            after=_number(given.after),
            before_place=self._place(counters.before_artifact, counters.before_lines[at]),
        )


def _number(moment: float | datetime | None) -> float | None:
    return moment_to_seconds(moment) if isinstance(moment, datetime) else moment
