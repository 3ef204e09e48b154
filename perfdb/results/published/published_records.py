"""Published runs as records: dimensions read, figures converted, and the same run of several tables put together."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from importers.model import Fact, Fragment, Kind, Problem, Reading, Severity, Status
from importers.published.published_runs import Figure, Percent, PublishedRun
from perfdb.analysis import metrics, units
from perfdb.analysis.audit import Method
from perfdb.analysis.metrics import Measure
from perfdb.results.published.map_tables import ReadTable
from perfdb.results.runs.normalize.alias_dimensions import Aliases, align
from perfdb.results.runs.normalize.configuration import configuration_of
from perfdb.results.runs.record import Configuration, FactValue, Origin, RunRecord, Value

FORMAT, VERSION = "published", 1
# Said of a table for its audit; none of them is a dimension of a run.
PROCESSORS, TRIALS, METHOD = "processors", "trials", "method"
FOR_THE_AUDIT = (PROCESSORS, TRIALS, METHOD)
_METHODS = {method.value: method for method in Method}
_AS_FACT = {"system": "machine"}
_NO_NAME = re.compile(r"[^a-z0-9.+]+")
_LARGEST_TRIAL = 2**15 - 1


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A figure with the table it is printed in."""

    table: str
    figure: Figure


@dataclass(slots=True)
class PublishedRecord:
    """A run's record with every figure that is printed of it; ``named``: its run id is printed too."""

    record: RunRecord
    named: bool
    figures: list[PrintedFigure] = field(default_factory=list)
    processors: int | None = None
    trials: int = 1
    method: Method | None = None


@dataclass(frozen=True, slots=True)
class PrintedPercent:
    """A printed difference with its table and the records that it is between."""

    table: str
    percent: Percent
    compared: PublishedRecord
    baseline: PublishedRecord


@dataclass(slots=True)
class Records:
    """All runs of a paste in the order in which they first appear, and the differences between them."""

    runs: list[PublishedRecord] = field(default_factory=list)
    percents: list[PrintedPercent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Source:
    """The file that the tables are in, and what the study means by printed texts."""

    file: str
    artifact: int
    received: datetime
    aliases: Aliases


def records_of(tables: Sequence[ReadTable], source: Source) -> Records:
    """The records of all tables. A configuration that is printed in several tables is one run."""
    found = Records()
    for table in tables:
        found.problems.extend(_in_file(table.applied.problems, source.file))
        runs = [_merged(found, _record(table.place, run, source, found.problems)) for run in table.applied.runs]
        found.percents.extend(
            PrintedPercent(table.place, each, runs[each.compared], runs[each.baseline])
            for each in table.applied.percents
        )
    for each in found.runs:
        each.record.fragments = [_fragment(each, source)]
    return found


def _in_file(problems: Iterable[Problem], file: str) -> list[Problem]:
    return [Problem(p.severity, p.code, p.message, p.remedy, file, p.line, p.run_id) for p in problems]


def _record(table: str, run: PublishedRun, source: Source, problems: list[Problem]) -> PublishedRecord:
    facts = {
        # Only a person's word names a workload with the sizes that the glossary gives it.
        _AS_FACT.get(key, key): FactValue(said.value, source.artifact, 0 if key == "workload" else said.line)
        for key, said in run.facts.items()
        if key not in {*FOR_THE_AUDIT, "trial"}
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
    record.run_id = record.run_id or label_of(record.configuration)
    answer = PublishedRecord(record, named, [PrintedFigure(table, figure) for figure in run.figures])
    answer.processors = _whole(run, PROCESSORS, own, 2**31 - 1)
    answer.trials = _whole(run, TRIALS, own, 10_000) or 1
    answer.method = _METHODS.get(run.facts[METHOD].value) if METHOD in run.facts else None
    _add_values(record, run.figures, source, own)
    record.problems = own
    return answer


def _whole(run: PublishedRun, key: str, problems: list[Problem], most: int) -> int | None:
    """A number that is said of a run; None where it is not, or is no number."""
    said = run.facts.get(key)
    if said is None:
        return None
    if said.value.isdecimal() and 0 < len(said.value) < 12 and 0 < int(said.value) <= most:
        return int(said.value)
    message = f"{key} {said.value[:40]} is no number from 1 to {most}; it is left out."
    problems.append(Problem(Severity.WARNING, "published.no-value", message, f"Correct {key}.", line=said.line or None))
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
        problems.append(
            Problem(
                Severity.WARNING,
                "published.no-value",
                f"{why}; {figure.printed} stays out.",
                "Say another metric or unit of its heading.",
                source.file,
                figure.line,
                record.run_id,
            )
        )


def _merged(found: Records, new: PublishedRecord) -> PublishedRecord:
    """The record of the same run from an earlier table, with the new figures; else the new one, which is kept."""
    for known in found.runs:
        if same_run(known.record, new.record, known_named=known.named, new_named=new.named):
            if new.named and not known.named:
                known.record.run_id, known.named = new.record.run_id, True
            # What was printed first is stored; the audit sees all.
            known.record.values = {**new.record.values, **known.record.values}
            known.record.facts = {**new.record.facts, **known.record.facts}
            known.record.problems += new.record.problems
            known.figures += new.figures
            known.processors = known.processors or new.processors
            return known
    found.runs.append(new)
    return new


def same_run(known: RunRecord, new: RunRecord, *, known_named: bool, new_named: bool) -> bool:
    """Whether two records are of one run: equal dimensions and trial, and no two different run ids."""
    if known.trial != new.trial or (known_named and new_named and known.run_id != new.run_id):
        return False
    return known.configuration.dimensions() == new.configuration.dimensions()


def label_of(configuration: Configuration) -> str:
    """A name for a run of which none is printed, made of its dimensions: ``osa-strg-8992-50-layer2``."""
    dimensions = dict(configuration.dimensions())
    first = ("device", "workload", "mtu", "users")
    parts = [str(dimensions.pop(name)) for name in first if name in dimensions]
    parts += [f"{name.removeprefix('factor.')}{value}" for name, value in dimensions.items() if name not in _COMMON]
    return "-".join(filter(None, (_NO_NAME.sub("-", part.casefold()).strip("-") for part in parts))) or "published"


# The same for all runs of most studies, and long.
_COMMON = frozenset({"system", "level"})


def _fragment(run: PublishedRecord, source: Source) -> Fragment:
    """What the tables say of a run, as one piece of evidence: its digest tells the same figures again."""
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


def union(stored: Mapping[Measure, Value], new: Mapping[Measure, Value]) -> dict[Measure, Value]:
    """Both runs' values; of a figure that both have the new one."""
    return {**stored, **new}
