"""Published runs as records: dimensions read, figures converted, runs of several tables merged."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from importers.model import Fact, Fragment, Kind, Problem, Reading, Severity, Status
from importers.published.apply_mapping import Figure, Percent, PublishedRun
from perfdb.analysis import metrics, units
from perfdb.analysis.audit.printed_values import Method
from perfdb.analysis.metrics import Measure
from perfdb.results.published.map_tables import ReadTable
from perfdb.results.runs.normalize.alias_dimensions import Aliases, align
from perfdb.results.runs.normalize.configuration import configuration_of
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, Value

FORMAT, VERSION = "published", 1
# Facts of a table for its audit, which are no dimensions.
PROCESSORS, TRIALS, METHOD = "processors", "trials", "method"
AUDIT_FACTS = (PROCESSORS, TRIALS, METHOD)
_METHODS = {method.value: method for method in Method}
_AS_FACT = {"system": "machine"}
_NO_NAME = re.compile(r"[^a-z0-9.+]+")
_LARGEST_TRIAL = 2**15 - 1


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A figure, and the table that prints the figure."""

    table: str
    figure: Figure


@dataclass(slots=True)
class PublishedRecord:
    """A run's record with all printed figures; ``named``: the run id is printed."""

    record: RunRecord
    named: bool
    figures: list[PrintedFigure] = field(default_factory=list)
    processors: int | None = None
    trials: int = 1
    method: Method | None = None


@dataclass(frozen=True, slots=True)
class PrintedPercent:
    """A printed difference between two records."""

    table: str
    percent: Percent
    compared: PublishedRecord
    baseline: PublishedRecord


@dataclass(slots=True)
class Records:
    """The runs of a paste in order of appearance, with differences, problems and titles of tables by place."""

    runs: list[PublishedRecord] = field(default_factory=list)
    percents: list[PrintedPercent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """The file of the tables, and the study's aliases."""

    file: str
    artifact: int
    received: datetime
    aliases: Aliases


def make_records(tables: Sequence[ReadTable], source: Source) -> Records:
    """Make the records of all tables; a configuration in several tables is one run."""
    found = Records()
    for table in tables:
        found.titles[table.place] = table.grid.title
        found.problems.extend(each._replace(file=source.file) for each in table.applied.problems)
        runs = [_merge(found, _record(table.place, run, source, found.problems)) for run in table.applied.runs]
        found.percents.extend(
            PrintedPercent(table.place, each, runs[each.compared], runs[each.baseline])
            for each in table.applied.percents
        )
    for each in found.runs:
        each.record.fragments = [_fragment(each, source)]
    return found


def _record(table: str, run: PublishedRun, source: Source, problems: list[Problem]) -> PublishedRecord:
    facts = {
        # Without a line, as supplied by a person, a workload has the sizes of the glossary.
        _AS_FACT.get(key, key): FactValue(fact.value, source.artifact, 0 if key == "workload" else fact.line)
        for key, fact in run.facts.items()
        if key not in {*AUDIT_FACTS, "trial"}
    }
    own: list[Problem] = []
    record = RunRecord(
        run_id=facts["run_id"].text.strip() if "run_id" in facts else "",
        trial=_whole(run, "trial", own, _LARGEST_TRIAL) or 1,
        status=Status.COMPLETE,
        started=source.received,
        configuration=configuration_of(facts, {source.file: source.artifact}, own),
        facts=facts,
    )
    align(record, source.aliases, source.aliases.dimensions, {source.file: source.artifact})
    named = bool(record.run_id)
    record.run_id = record.run_id or make_label(record.configuration)
    answer = PublishedRecord(record, named, [PrintedFigure(table, figure) for figure in run.figures])
    answer.processors = _whole(run, PROCESSORS, own, 2**31 - 1)
    answer.trials = _whole(run, TRIALS, own, 10_000) or 1
    answer.method = _METHODS.get(run.facts[METHOD].value) if METHOD in run.facts else None
    _add_values(record, run.figures, source, own)
    record.problems = own
    return answer


def _whole(run: PublishedRun, key: str, problems: list[Problem], most: int) -> int | None:
    """Return the whole number of a fact, or None and a problem."""
    fact = run.facts.get(key)
    if fact is None:
        return None
    if fact.value.isdecimal() and 0 < len(fact.value) < 12 and 0 < int(fact.value) <= most:
        return int(fact.value)
    message = f"{key} {fact.value[:40]} is no number from 1 to {most}; it is left out."
    problems.append(Problem(Severity.WARNING, "published.no-value", message, f"Correct {key}.", line=fact.line or None))
    return None


def _add_values(record: RunRecord, figures: Iterable[Figure], source: Source, problems: list[Problem]) -> None:
    for figure in figures:
        try:
            metric = metrics.BY_NAME[figure.metric]
            value = units.convert(figure.number, figure.read_as or metric.unit, figure.metric)
        except KeyError:
            why = f"There is no metric {figure.metric[:60]!r}"
        except ValueError as error:
            why = f"{figure.metric} of {record.run_id}: {error}"
        else:
            measure = Measure(figure.metric, figure.role)
            record.values[measure] = Value(value, Origin.PUBLISHED, figure.printed, source.artifact, figure.line)
            continue
        message, remedy = f"{why}; {figure.printed} stays out.", "Say another metric or unit of its heading."
        place = (source.file, figure.line, record.run_id)
        problems.append(Problem(Severity.WARNING, "published.no-value", message, remedy, *place))


def _merge(found: Records, new: PublishedRecord) -> PublishedRecord:
    """Merge a record into that of the same run, or add it.

    Return the merged or added record. Of a value printed twice, the first counts.
    """
    for known in found.runs:
        if is_same_run(known.record, new.record, known_named=known.named, new_named=new.named):
            if new.named and not known.named:
                known.record.run_id, known.named = new.record.run_id, True
            # The value printed first is stored; the audit sees all.
            known.record.values = {**new.record.values, **known.record.values}
            known.record.facts = {**new.record.facts, **known.record.facts}
            known.record.problems += new.record.problems
            known.figures += new.figures
            known.processors = known.processors or new.processors
            return known
    found.runs.append(new)
    return new


def is_same_run(known: RunRecord, new: RunRecord, *, known_named: bool, new_named: bool) -> bool:
    """Return whether dimensions and trial are equal, and no two run ids differ."""
    if known.trial != new.trial or (known_named and new_named and known.run_id != new.run_id):
        return False
    return known.configuration.dimensions() == new.configuration.dimensions()


def make_label(configuration: Configuration) -> str:
    """Return a run id made of dimensions, such as ``osa-strg-8992-50-layer2``."""
    dimensions = dict(configuration.dimensions())
    first = ("device", "workload", "mtu", "users")
    parts = [str(dimensions.pop(name)) for name in first if name in dimensions]
    parts += [f"{name.removeprefix('factor.')}{value}" for name, value in dimensions.items() if name not in _COMMON]
    return "-".join(filter(None, (_NO_NAME.sub("-", part.casefold()).strip("-") for part in parts))) or "published"


# Long, and equal for all runs of most studies.
_COMMON = frozenset({"system", "level"})


def _fragment(run: PublishedRecord, source: Source) -> Fragment:
    """Return the figures of a run as a fragment, whose digest identifies equal figures."""
    record = run.record
    lines = [each.figure.line for each in run.figures]
    return Fragment(
        file=source.file,
        format=FORMAT,
        format_version=VERSION,
        kind=Kind.REPORT,
        first_line=min(lines, default=1),
        last_line=max(lines, default=1),
        run_id=record.run_id,
        trial=record.trial,
        facts=tuple(Fact(key, fact.text, fact.line) for key, fact in sorted(record.facts.items())),
        readings=tuple(_reading(each) for each in run.figures),
    )


def _reading(each: PrintedFigure) -> Reading:
    figure = each.figure
    return Reading(figure.metric, figure.number, figure.read_as, figure.line, figure.role, each.table)
