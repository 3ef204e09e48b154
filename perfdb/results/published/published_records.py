"""Published runs as records: dimensions, converted figures, runs of several tables, audit."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from importers.model import Fact, Fragment, Kind, Problem, Reading, Severity, Status
from importers.published.apply_mapping import Figure, Percent, PublishedRun
from importers.published.mapping import What
from perfdb.analysis import metrics, units
from perfdb.analysis.audit.audit_run import PercentRow, audit_percents, audit_runs
from perfdb.analysis.audit.printed_values import Disagreement, Method, Printed, PrintedRun
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.metrics import Better, Measure
from perfdb.results.published.map_tables import ReadTable
from perfdb.results.runs.normalize import Context
from perfdb.results.runs.normalize.alias_dimensions import align
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


@dataclass(slots=True)
class PublishedRecord:
    """A run's record with all printed figures; ``named``: the run id is printed."""

    record: RunRecord
    named: bool
    figures: list[Figure]
    processors: int | None = None
    trials: int = 1
    method: Method | None = None


@dataclass(slots=True)
class Records:
    """The runs of a paste in order of appearance, with problems and titles of tables by place.

    Differences have the indexes of both runs; ``disagreements`` of the audit stand behind the index of the run.
    """

    runs: list[PublishedRecord] = field(default_factory=list)
    percents: list[Percent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    disagreements: list[tuple[int, Disagreement]] = field(default_factory=list)


def make_records(tables: Iterable[ReadTable], context: Context) -> Records:
    """Make and audit the records of all tables in a file; a configuration in several tables is one run."""
    (file,) = context.artifacts
    found = Records()
    for table in tables:
        found.titles[table.grid.place] = table.grid.title
        found.problems.extend(each._replace(file=file) for each in table.applied.problems)
        at = [_merge(found.runs, _record(run, file, context)) for run in table.applied.runs]
        found.percents.extend(
            replace(each, compared=at[each.compared], baseline=at[each.baseline]) for each in table.applied.percents
        )
    for each in found.runs:
        each.record.fragments = [_fragment(each, file)]
    found.disagreements = [*_audit(found)]
    for run, disagreement in found.disagreements:
        record = found.runs[run].record
        record.problems.append(_to_problem(disagreement, file, record.run_id))
    return found


def _record(run: PublishedRun, file: str, context: Context) -> PublishedRecord:
    artifact = context.artifacts[file]
    facts = {
        # Without a line, as supplied by a person, a workload has the sizes of the glossary.
        _AS_FACT.get(key, key): FactValue(fact.value, artifact, 0 if key == "workload" else fact.line)
        for key, fact in run.facts.items()
        if key not in {*AUDIT_FACTS, "trial"}
    }
    own: list[Problem] = []
    record = RunRecord(
        run_id=facts["run_id"].text.strip() if "run_id" in facts else "",
        trial=_whole(run, "trial", own, _LARGEST_TRIAL) or 1,
        status=Status.COMPLETE,
        started=context.received,
        configuration=configuration_of(facts, context.artifacts, own),
        facts=facts,
    )
    # An alias may give a value to a text that is none by itself, and ends the problem.
    record.problems = own
    align(record, context.aliases, context.aliases.dimensions, context.artifacts)
    named = bool(record.run_id)
    record.run_id = record.run_id or make_label(record.configuration)
    answer = PublishedRecord(record, named, list(run.figures))
    answer.processors = _whole(run, PROCESSORS, record.problems, 2**31 - 1)
    answer.trials = _whole(run, TRIALS, record.problems, 10_000) or 1
    answer.method = _METHODS.get(run.facts[METHOD].value) if METHOD in run.facts else None
    _add_values(record, run.figures, file, artifact, record.problems)
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


def _add_values(
    record: RunRecord, figures: Iterable[Figure], file: str, artifact: int, problems: list[Problem]
) -> None:
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
            record.values[measure] = Value(value, Origin.PUBLISHED, figure.printed, artifact, figure.line)
            continue
        message, remedy = f"{why}; {figure.printed} stays out.", "Say another metric or unit of its heading."
        place = (file, figure.line, record.run_id)
        problems.append(Problem(Severity.WARNING, "published.no-value", message, remedy, *place))


def _merge(runs: list[PublishedRecord], new: PublishedRecord) -> int:
    """Merge a record into that of the same run, or add the record; return the index of the run.

    Of a value printed twice, the first counts.
    """
    for at, known in enumerate(runs):
        if is_same_run(known.record, new.record, known_named=known.named, new_named=new.named):
            if new.named and not known.named:
                known.record.run_id, known.named = new.record.run_id, True
            # The value printed first is stored; the audit sees all.
            known.record.values = {**new.record.values, **known.record.values}
            known.record.facts = {**new.record.facts, **known.record.facts}
            known.record.problems += new.record.problems
            known.figures += new.figures
            known.processors = known.processors or new.processors
            return at
    runs.append(new)
    return len(runs) - 1


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


def _fragment(run: PublishedRecord, file: str) -> Fragment:
    """Return the figures of a run as a fragment, whose digest identifies equal figures."""
    record = run.record
    lines = [each.line for each in run.figures]
    return Fragment(
        file=file,
        format=FORMAT,
        format_version=VERSION,
        kind=Kind.REPORT,
        first_line=min(lines, default=1),
        last_line=max(lines, default=1),
        run_id=record.run_id,
        trial=record.trial,
        facts=tuple(Fact(key, fact.text, fact.line) for key, fact in sorted(record.facts.items())),
        readings=tuple(
            Reading(each.metric, each.number, each.read_as, each.line, each.role, each.table) for each in run.figures
        ),
    )


def _audit(records: Records) -> Iterator[tuple[int, Disagreement]]:
    """Yield (index of a run, disagreement): printed figures and differences are recomputed from others."""
    runs = [_printed_run(run) for run in records.runs]
    for at, of_run in enumerate(audit_runs(runs, records.titles)):
        yield from ((at, each) for each in of_run)
    for percent in records.percents:
        if (row := _percent_row(percent, records.runs)) is not None:
            yield from ((percent.compared, each) for each in audit_percents([row]))


def _to_problem(found: Disagreement, file: str, run_id: str) -> Problem:
    """Return a disagreement as a problem of the run."""
    message = f"{found.place}: {found.message}" if found.place else found.message
    remedy = "The figure is stored as printed."
    return Problem(Severity(found.severity), f"audit.{found.kind}", message, remedy, file, found.line, run_id)


def _printed_run(run: PublishedRecord) -> PrintedRun:
    configuration = run.record.configuration
    return PrintedRun(
        figures=tuple(_printed(each) for each in run.figures if each.metric in metrics.BY_NAME),
        users=configuration.users,
        processors=run.processors or (configuration.system.processors if configuration.system else None),
        workload=configuration.workload,
        mtu=configuration.mtu,
        method=run.method,
        trials=run.trials,
        peers=frozenset(item for item in configuration.dimensions().items() if item[0] not in {"users", "mtu"}),
    )


def _printed(each: Figure) -> Printed:
    return Printed(Measure(each.metric, each.role), Quantity(each.number, each.read_as, each.line), each.table)


def _percent_row(each: Percent, runs: Sequence[PublishedRecord]) -> PercentRow | None:
    """Return a difference with both figures of the table, or None without both."""
    wanted = (each.table, each.metric, each.role)
    base, other = (
        next((figure for figure in runs[at].figures if (figure.table, figure.metric, figure.role) == wanted), None)
        for at in (each.baseline, each.compared)
    )
    if base is None or other is None or each.metric not in metrics.BY_NAME:
        return None
    falls = each.kind is What.IMPROVEMENT and metrics.BY_NAME[each.metric].better is Better.LOWER
    return PercentRow(
        _printed(base),
        _printed(other),
        Quantity(each.number, "%", each.line),
        each.table,
        absolute=each.kind is What.ABSOLUTE,
        reduction=falls or each.kind is What.REDUCTION,
    )
