"""Application of a mapping: a grid to published runs and agreeing differences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from importers.model import Problem
from importers.published.grid import Cell, CellContent, Grid, Printed, is_nothing, read_cell, read_number
from importers.published.heading_words import read_comparison, read_unit
from importers.published.headings import Headings, Part, PrintedValue, Row, TableProblems, blocks, join_labels
from importers.published.mapping import DIFFERENCES, IN_CELLS, End, Line, Mapping, Name, What

_OF_METRIC = frozenset({"metric", "role", "unit"})
"""Facts of a whole table about the metric, which are no dimensions."""
_MOST_SHOWN = 50
_MOST_TRIED = 300


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that ``table`` prints: ``number`` without marks, ``read_as`` as the unit for conversion."""

    table: str
    metric: str
    role: str
    printed: str
    number: str
    unit: str
    read_as: str
    line: int
    column: int
    row_label: str
    column_label: str


@dataclass(slots=True)
class PublishedRun:
    """A run, or a mean over trials, with facts and values."""

    facts: dict[str, PrintedValue]
    figures: list[Figure] = field(default_factory=list)

    @property
    def values(self) -> frozenset[tuple[str, str]]:
        """Return the dimensions with their values."""
        return frozenset((dimension, said.value) for dimension, said in self.facts.items())

    def figure(self, metric: str, role: str) -> Figure | None:
        """Return the run's value of a metric and role, or None."""
        return next((each for each in self.figures if (each.metric, each.role) == (metric, role)), None)


@dataclass(frozen=True, slots=True)
class Percent:
    """A difference that ``table`` prints, of a ``kind`` of DIFFERENCES, from run ``baseline`` to run ``compared``."""

    table: str
    metric: str
    role: str
    printed: str
    number: str
    decimals: int
    line: int
    column: int
    compared: int
    baseline: int
    kind: What = What.DIFFERENCE


@dataclass(slots=True)
class Applied:
    """The runs and differences of a table by its mapping, and problems."""

    runs: list[PublishedRun] = field(default_factory=list)
    percents: list[Percent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def apply_mapping(grid: Grid, mapping: Mapping) -> Applied:
    """Read a grid by a mapping; unreadable cells become problems."""
    return _Application(grid, mapping).read()


@dataclass(frozen=True, slots=True)
class _Place:
    """A cell with labels; ``across``: a difference within the row, not column."""

    cell: Cell
    row_label: str
    column_label: str
    row: int
    across: bool

    @property
    def text(self) -> str:
        return join_labels([self.row_label, self.column_label])


class _Application:
    def __init__(self, grid: Grid, mapping: Mapping) -> None:
        self._grid, self._mapping, self._table = grid, mapping, grid.place
        self._problems = TableProblems()
        self._headings = Headings(grid, mapping, self._problems)
        self._answer = Applied(problems=self._problems.problems)
        self._places: dict[frozenset[tuple[str, str]], int] = {}
        self._differences: list[tuple[Part, _Place, Name]] = []
        self._by_value: dict[str, list[int]] = {}
        # The figures of each row and column of the grid, by its index: the measure, and the index of the run.
        self._in_row: dict[int, list[tuple[int, Name, int]]] = {}
        self._in_column: dict[int, list[tuple[int, Name, int]]] = {}
        self._left_out: list[_Place] = []
        # Differences that belong to one figure: the index of its run, and the kind.
        self._of_figures: list[tuple[int, _Place, Name, Printed, What]] = []

    def read(self) -> Applied:
        mapping, grid = self._mapping, self._grid
        if mapping.head >= len(grid.rows) or mapping.side >= grid.width:
            message, remedy = "All of the table is headings.", "Say that fewer rows and columns are headings."
            self._problems.report("published.no-body", message, grid.line, about="", remedy=remedy)
            return self._answer
        columns = self._headings.columns()
        rows = grid.rows[mapping.head :]
        for at, block in blocks(self._headings.rows(rows)):
            self._read_block(columns, rows[at : at + len(block)], block, at)
        for run_at, run in enumerate(self._answer.runs if self._differences else ()):
            if mapping.difference in run.facts:
                self._by_value.setdefault(run.facts[mapping.difference].value, []).append(run_at)
        for difference in self._differences:
            self._add_percent(*difference)
        self._add_of_figures()
        if self._left_out:
            texts = ", ".join(place.cell.text for place in self._left_out[:_MOST_SHOWN])
            texts += ", …" if len(self._left_out) > _MOST_SHOWN else ""
            message = f"{len(self._left_out)} figures stay out, since the meaning of a heading is not said: {texts}."
            self._problems.report("published.twice", message, self._left_out[0].cell.line, about="")
        return self._answer

    def _read_block(
        self, columns: Sequence[Part], rows: Sequence[Sequence[Cell]], parts: Sequence[Row], first: int
    ) -> None:
        """Read the rows of a section; rows of values apply to all."""
        values = self._headings.values_of_columns(rows, parts)
        names = self._headings.names_of_columns()
        for row_at, (row, part) in enumerate(zip(rows, parts, strict=True), start=first):
            if part.section or part.values or part.part.ignored:
                continue
            own = part.part.joined(Part(self._headings.values_of_row(row, names)))
            named = [cell.text for cell, name in zip(row, names, strict=True) if name]
            own.label = part.part.label or join_labels(named)
            for at, cell in enumerate(row[self._mapping.side :], start=self._mapping.side):
                if not (names[at] or columns[at].ignored or is_nothing(cell.text)):
                    whole = columns[at].joined(Part(values[at])).joined(own)
                    whole.name = own.name or columns[at].name or self._fixed_name()
                    place = _Place(cell, own.label, columns[at].label, row_at, columns[at].difference is not None)
                    self._read_cell(whole, place, part.name)

    def _fixed_name(self) -> Name | None:
        """Return the metric of the whole table, if given."""
        fixed = self._mapping.fixed
        if not fixed.get("metric"):
            return None
        printed = fixed.get("unit", "")
        unit = read_unit(printed)
        read_as = unit.read_as if unit else printed
        return Name(What.MEASURE, fixed["metric"], fixed.get("role") or "total", printed, read_as)

    def _read_cell(self, part: Part, place: _Place, row_name: str) -> None:
        name = part.name
        if part.difference and not (name and name.metric):
            # A column of differences beside columns of metrics is of the metric before.
            name = next((each for _, each, _ in reversed(self._in_row.get(place.row, []))), None)
        if name is None or not name.metric:
            heading = row_name or place.column_label or place.row_label
            message = f"It is not said which metric this is: {heading}; its figures stay out."
            self._problems.report("published.no-metric", message, place.cell.line, about=heading)
            return
        name = replace(name, role=part.role) if part.role and name.role == "total" else name
        if part.difference:
            self._differences.append((part, place, name))
        else:
            # The unit of a row or column is that of a name without an own one.
            unit = read_unit(part.unit) if part.unit and not name.unit else None
            self._add_figure(part, place, replace(name, unit=part.unit, read_as=unit.read_as) if unit else name)

    def _add_figure(self, part: Part, place: _Place, name: Name) -> None:
        content = read_cell(place.cell.text)
        found = content.figure if content else None
        printed = (found.unit or content.remark) if found and content else ""
        own = read_unit(printed) if printed else None
        if printed and own is None and "/s" in name.read_as:
            # 18.4MB in a column of MB/s.
            own = read_unit(f"{printed}/s")
        if content is None or found is None or (found.unit and own is None):
            message = f"{place.cell.text[:60]} is no figure ({place.text}); it stays out."
            self._report("published.no-number", message, place, "Correct the cell, or empty it.")
            return
        if own is not None:
            name = replace(name, unit=printed, read_as=own.read_as)
        if not name.read_as:
            label = place.row_label or place.column_label
            message = f"{name.metric} ({label}) has no unit that is known; its own is taken."
            about = f"{name.metric} {place.row_label}"
            self._report("published.no-unit", message, place, "Say the unit.", about=about, note=True)
        self._put(self._run(part.facts), place, name, content, known_remark=own is not None and not found.unit)

    def _put(self, run_at: int, place: _Place, name: Name, content: CellContent, *, known_remark: bool) -> None:
        run, found = self._answer.runs[run_at], content.figure
        if run.figure(name.metric, name.role) is not None:
            if Line.UNKNOWN in (*self._mapping.top, *self._mapping.left):
                self._left_out.append(place)
                return
            message = f"{name.metric} of the same run stands in the table twice ({place.text}); the first one counts."
            self._report("published.twice", message, place, "Say by which heading the two differ.")
            return
        cell = place.cell
        unit, labels = (name.unit, name.read_as), (place.row_label, place.column_label)
        number = (name.metric, name.role, cell.text, found.number)
        run.figures.append(Figure(self._table, *number, *unit, cell.line, cell.column, *labels))
        self._in_row.setdefault(place.row, []).append((run_at, name, cell.column))
        self._in_column.setdefault(cell.column, []).append((run_at, name, place.row))
        if content.difference is not None:
            kind = self._mapping.names.get(IN_CELLS, Name(What.DIFFERENCE)).what
            kind = kind if content.difference.unit == "%" or kind not in DIFFERENCES else What.ABSOLUTE
            self._of_figures.append((run_at, place, name, content.difference, kind))
        elif content.remark and not known_remark:
            message = f"Only the first number of {cell.text} is stored ({place.text})."
            remedy = "Give each figure a column of its own to store the others."
            self._report("published.in-cell", message, place, remedy, about="remarks", note=True)

    def _run(self, facts: dict[str, PrintedValue]) -> int:
        """Return the index of the perhaps new run with these and the table's facts."""
        fixed = {
            dimension: PrintedValue(self._headings.value(dimension, text), text)
            for dimension, text in self._mapping.fixed.items()
            if text and dimension not in _OF_METRIC | facts.keys()
        }
        run = PublishedRun(fixed | facts)
        at = self._places.setdefault(run.values, len(self._answer.runs))
        if at == len(self._answer.runs):
            self._answer.runs.append(run)
        return at

    def _report(
        self, code: str, message: str, place: _Place, remedy: str, *, about: str = "", note: bool = False
    ) -> None:
        """Report a problem of a cell, once for each cell or ``about``."""
        cell = place.cell
        about = about or f"{cell.line}/{cell.column}"
        self._problems.report(code, message, cell.line, about=about, remedy=remedy, note=note)

    # Differences.

    def _add_percent(self, part: Part, place: _Place, name: Name) -> None:
        found = read_number(place.cell.text)
        own = read_unit(found.unit) if found else None
        absolute = part.difference is What.ABSOLUTE
        if found is None or (found.unit != "%" and found.unit and not (absolute and own)):
            message = f"{place.cell.text[:60]} is no difference ({place.text})."
            self._report("published.no-number", message, place, "Correct the cell.")
            return
        before = self._before(place, name)
        compared, baseline = self._ends(part, before, name)
        if baseline is None and place.across and len(before) == 1 and not self._mapping.difference:
            self._of_figures.append((before[0], place, name, found, part.difference or What.DIFFERENCE))
            return
        if compared is None or baseline is None or compared == baseline:
            self._no_ends(place)
            return
        self._put_percent(place, name, found, (compared, baseline), part.difference or What.DIFFERENCE)

    def _no_ends(self, place: _Place, about: str = "") -> None:
        message = f"It is not known between which runs {place.cell.text} is the difference ({place.text})."
        self._report("published.no-difference", message, place, "Say which values are compared.", about=about)

    def _put_percent(self, place: _Place, name: Name, found: Printed, ends: tuple[int, int], kind: What) -> None:
        cell, number = place.cell, (found.number, found.decimals)
        percent = Percent(self._table, name.metric, name.role, cell.text, *number, cell.line, cell.column, *ends, kind)
        self._answer.percents.append(percent)

    def _before(self, place: _Place, name: Name) -> list[int]:
        """Return the runs of the figures of a metric before a difference, in its row or column."""
        along = self._in_row.get(place.row, []) if place.across else self._in_column.get(place.cell.column, [])
        end = place.cell.column if place.across else place.row
        return [run for run, each, at in along if at < end and (each.metric, each.role) == (name.metric, name.role)]

    def _ends(self, part: Part, before: Sequence[int], name: Name) -> tuple[int | None, int | None]:
        """Return the compared run and the baseline: of the mapping, of the heading, or the two figures before."""
        mapping = self._mapping
        pair = (mapping.compared, mapping.baseline)
        if not any(pair):
            pair = read_comparison(part.heading) or (End.LAST, End.LAST_BUT_ONE)
        places: dict[str, Sequence[int]] = {
            End.FIRST: before[:1],
            End.LAST: before[-1:],
            End.LAST_BUT_ONE: before[-2:-1],
        }
        compared, baseline = (
            next(iter(places[value]), None) if value in places else self._end(part.facts, value, name) for value in pair
        )
        return compared, baseline

    def _add_of_figures(self) -> None:
        """Add differences of single figures, from the only unchanged run differing in one dimension."""
        changed = {(at, name.metric, name.role) for at, _, name, found, _ in self._of_figures if found.value}
        unchanged: dict[tuple[object, ...], list[int]] = {}
        for at, run in enumerate(self._answer.runs if changed else ()):
            for figure in run.figures:
                if (at, figure.metric, figure.role) not in changed:
                    for others in _all_but_one(run):
                        unchanged.setdefault((figure.metric, figure.role, others), []).append(at)
        for at, place, name, found, kind in self._of_figures:
            near = [(name.metric, name.role, others) for others in _all_but_one(self._answer.runs[at])]
            bases = [base for key in near for base in unchanged.get(key, ())]
            if len(bases) == 1 and found.value and kind in DIFFERENCES:
                self._put_percent(place, name, found, (at, bases[0]), kind)
            elif found.value and kind in DIFFERENCES:
                self._no_ends(place, IN_CELLS)

    def _end(self, facts: dict[str, PrintedValue], value: str, name: Name) -> int | None:
        """Return the only run of one side of a difference, by all its headings."""
        dimension = self._mapping.difference
        if not dimension:
            return None
        runs = self._answer.runs
        wanted = {(key, said.value) for key, said in facts.items() if key not in {dimension, "run_id"}}
        near = self._by_value.get(self._headings.value(dimension, value), ())
        fitting = [at for at in near if wanted <= runs[at].values and runs[at].figure(name.metric, name.role)]
        return fitting[0] if len(fitting) == 1 else None


def _all_but_one(run: PublishedRun) -> Iterator[tuple[str, frozenset[tuple[str, str]]]]:
    """Yield each dimension of a run with the values of the others, without its run id."""
    values = frozenset((dimension, value) for dimension, value in run.values if dimension != "run_id")
    for pair in values:
        yield pair[0], values - {pair}


def agreement(grid: Grid, mapping: Mapping) -> dict[What, float]:
    """Return the share of printed differences that follow from the values, by the kind of those of unknown kind.

    Differences in per cent may be off by 1, absolute ones by 2% or a step of the last digit.
    """
    applied = apply_mapping(grid, mapping) if len(grid.rows) <= _MOST_TRIED else Applied()
    shares: dict[What, float] = {}
    for kind in (What.DIFFERENCE, What.REDUCTION, What.ABSOLUTE) if applied.percents else ():
        kinds = [kind if each.kind is What.DIFFERENCE else each.kind for each in applied.percents]
        agreeing = [_agrees(applied, each, own) for each, own in zip(applied.percents, kinds, strict=True)]
        shares[kind] = sum(agreeing) / len(agreeing)
    return shares


def _agrees(applied: Applied, percent: Percent, kind: What) -> bool:
    one, other = (
        next(float(f.number) for f in applied.runs[at].figures if (f.metric, f.role) == (percent.metric, percent.role))
        for at in (percent.compared, percent.baseline)
    )
    printed = float(percent.number)
    if kind is What.ABSOLUTE:
        return abs(one - other - printed) <= abs(printed) * 0.02 + 10.0**-percent.decimals
    change = (one / other - 1) * 100 if other else float("inf")
    wanted = {What.REDUCTION: [-change], What.IMPROVEMENT: [change, -change]}.get(kind, [change])
    return any(abs(each - printed) <= 1 for each in wanted)
