"""Application of a mapping: a grid to published runs and differences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from importers.published.grid import Cell, Grid
from importers.published.heading_words import read_unit
from importers.published.headings import Headings, Part, Row, TableProblems, blocks, join_labels
from importers.published.mapping import ROLE, UNIT, Mapping, Name, What
from importers.published.printed_numbers import Printed, is_nothing, read_number
from importers.published.published_runs import Applied, Figure, Percent, PrintedValue, PublishedRun

METRIC = "metric"


def apply_mapping(grid: Grid, mapping: Mapping) -> Applied:
    """Read a grid by a mapping; unreadable cells become problems."""
    return _Application(grid, mapping).read()


@dataclass(frozen=True, slots=True)
class _Place:
    """A cell with its labels and its name in problems."""

    cell: Cell
    row_label: str
    column_label: str

    @property
    def text(self) -> str:
        return join_labels([self.row_label, self.column_label])

    @property
    def key(self) -> str:
        return f"{self.cell.line}/{self.cell.column}"


class _Application:
    def __init__(self, grid: Grid, mapping: Mapping) -> None:
        self._grid, self._mapping = grid, mapping
        self._problems = TableProblems()
        self._headings = Headings(grid, mapping, self._problems)
        self._answer = Applied(problems=self._problems.problems)
        self._places: dict[tuple[tuple[str, str], ...], int] = {}
        self._differences: list[tuple[Part, _Place, Name]] = []
        self._by_value: dict[str, list[int]] = {}

    def read(self) -> Applied:
        mapping, grid = self._mapping, self._grid
        if mapping.head >= len(grid.rows) or mapping.side >= grid.width:
            remedy = "Say that fewer rows and columns are headings."
            self._problems.report(
                "published.no-body", "All of the table is headings.", grid.line, about="", remedy=remedy
            )
            return self._answer
        columns = self._headings.columns()
        rows = grid.rows[mapping.head :]
        for at, block in blocks(self._headings.rows(rows)):
            self._read_block(columns, rows[at : at + len(block)], block)
        for run_at, run in enumerate(self._answer.runs if self._differences else ()):
            if mapping.difference in run.facts:
                self._by_value.setdefault(run.facts[mapping.difference].value, []).append(run_at)
        for difference in self._differences:
            self._add_percent(*difference)
        return self._answer

    def _read_block(self, columns: Sequence[Part], rows: Sequence[Sequence[Cell]], parts: Sequence[Row]) -> None:
        """Read the rows of a section; rows of values apply to all."""
        values = self._headings.values_of_columns(rows, parts)
        names = self._headings.names_of_columns()
        for row, part in zip(rows, parts, strict=True):
            if part.section or part.values or part.part.ignored:
                continue
            own = part.part.joined(Part(self._headings.values_of_row(row, names)))
            own.label = part.part.label or join_labels(
                [cell.text for cell, name in zip(row, names, strict=True) if name]
            )
            for at, cell in enumerate(row[self._mapping.side :], start=self._mapping.side):
                if not (names[at] or columns[at].ignored or is_nothing(cell.text)):
                    whole = columns[at].joined(Part(values[at])).joined(own)
                    whole.name = own.name or columns[at].name or self._fixed_name()
                    self._read_cell(whole, _Place(cell, own.label, columns[at].label), part.name)

    def _fixed_name(self) -> Name | None:
        """Return the metric of the whole table, if given."""
        fixed = self._mapping.fixed
        if not fixed.get(METRIC):
            return None
        printed = fixed.get(UNIT, "")
        unit = read_unit(printed)
        return Name(What.MEASURE, fixed[METRIC], fixed.get(ROLE) or "total", printed, unit.read_as if unit else printed)

    def _read_cell(self, part: Part, place: _Place, row_name: str) -> None:
        name = part.name
        if name is None or not name.metric:
            heading = row_name or place.column_label or place.row_label
            message = f"It is not said which metric this is: {heading}; its figures stay out."
            self._problems.report("published.no-metric", message, place.cell.line, about=heading)
            return
        name = replace(name, role=part.role) if part.role and name.role == "total" else name
        if part.difference:
            self._differences.append((part, place, name))
        else:
            self._add_figure(part, place, _with_unit(name, part.unit))

    def _add_figure(self, part: Part, place: _Place, name: Name) -> None:
        found = read_number(place.cell.text)
        own = read_unit(found.unit) if found and found.unit else None
        if found is None or (found.unit and own is None):
            message = f"{place.cell.text[:60]} is no figure ({place.text}); it stays out."
            remedy = "Correct the cell, or empty it."
            self._problems.report("published.no-number", message, place.cell.line, about=place.key, remedy=remedy)
            return
        if own is not None:
            name = replace(name, unit=found.unit, read_as=own.read_as)
        if not name.read_as:
            message = (
                f"{name.metric} ({place.row_label or place.column_label}) has no unit that is known; its own is taken."
            )
            about = f"{name.metric} {place.row_label}"
            self._problems.report(
                "published.no-unit", message, place.cell.line, about=about, remedy="Say the unit.", note=True
            )
        self._put(self._answer.runs[self._run(part.facts)], place, name, found)

    def _put(self, run: PublishedRun, place: _Place, name: Name, found: Printed) -> None:
        if run.figure(name.metric, name.role) is not None:
            message = f"{name.metric} of the same run stands in the table twice ({place.text}); the first one counts."
            remedy = "Say by which heading the two differ."
            self._problems.report("published.twice", message, place.cell.line, about=place.key, remedy=remedy)
            return
        run.figures.append(
            Figure(
                metric=name.metric,
                role=name.role,
                printed=place.cell.text,
                number=found.number,
                unit=name.unit,
                read_as=name.read_as,
                decimals=found.decimals,
                row_label=place.row_label,
                column_label=place.column_label,
                line=place.cell.line,
                column=place.cell.column,
            )
        )

    def _run(self, facts: dict[str, PrintedValue]) -> int:
        """Return the index of the run with these facts; add a new run.

        Facts of the whole table are added.
        """
        fixed = {
            dimension: PrintedValue(self._headings.value(dimension, text), text)
            for dimension, text in self._mapping.fixed.items()
            if text and dimension not in {METRIC, ROLE, UNIT, *facts}
        }
        whole = fixed | facts
        key = tuple(sorted((dimension, said.value) for dimension, said in whole.items()))
        if key not in self._places:
            self._places[key] = len(self._answer.runs)
            self._answer.runs.append(PublishedRun(whole))
        return self._places[key]

    # Differences.

    def _add_percent(self, part: Part, place: _Place, name: Name) -> None:
        mapping, line = self._mapping, place.cell.line
        found = read_number(place.cell.text)
        if found is None or found.unit not in {"", "%"}:
            message = f"{place.cell.text[:60]} is no difference in per cent ({place.text})."
            self._problems.report("published.no-number", message, line, about=place.key, remedy="Correct the cell.")
            return
        compared, baseline = (self._end(part.facts, value, name) for value in (mapping.compared, mapping.baseline))
        if compared is None or baseline is None or compared == baseline:
            message = f"It is not known between which runs {place.cell.text} is the difference ({place.text})."
            remedy = "Say which values are compared."
            self._problems.report("published.no-difference", message, line, about=place.key, remedy=remedy)
            return
        self._answer.percents.append(
            Percent(
                metric=name.metric,
                role=name.role,
                printed=place.cell.text,
                number=found.number,
                decimals=found.decimals,
                compared=compared,
                baseline=baseline,
                row_label=place.row_label,
                column_label=place.column_label,
                line=line,
                column=place.cell.column,
            )
        )

    def _end(self, facts: dict[str, PrintedValue], value: str, name: Name) -> int | None:
        """Return the only run of one side of a difference, by all its headings."""
        dimension = self._mapping.difference
        if not dimension:
            return None
        wanted = {key: said.value for key, said in facts.items() if key not in {dimension, "run_id"}}
        fitting = [
            at
            for at in self._by_value.get(self._headings.value(dimension, value), ())
            if self._agrees(self._answer.runs[at], wanted) and self._answer.runs[at].figure(name.metric, name.role)
        ]
        return fitting[0] if len(fitting) == 1 else None

    @staticmethod
    def _agrees(run: PublishedRun, wanted: dict[str, str]) -> bool:
        return all(key in run.facts and run.facts[key].value == text for key, text in wanted.items())


def _with_unit(name: Name, printed: str) -> Name:
    """Return the name with its own unit, else that of its row or column."""
    unit = read_unit(printed) if printed and not name.unit else None
    return replace(name, unit=printed, read_as=unit.read_as) if unit else name
