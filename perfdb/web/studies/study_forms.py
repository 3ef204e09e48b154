"""Forms of a study: texts, run ID pattern, and test plan."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from django.db.models import Model
from django.http import QueryDict

from importers.collate.run_ids import RunIdPattern
from perfdb.analysis.dimensions import DIMENSIONS, FACTOR
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.query.query import REPEATS
from perfdb.analysis.trends.histories import BY_DATE
from perfdb.results.models import Experiment, Study
from perfdb.results.studies import run_id_patterns, study_details
from perfdb.results.studies.run_id_patterns import DecodedRunId
from perfdb.results.studies.study_details import ABOUT_PART

# Rows that are offered blank; sending the form offers as many again.
_BLANK = 3
# So many codes are offered for what the tried run ids hold.
_MOST_OFFERED = 24
# Codes that are numbers of their own mostly stand for themselves.
_PLAIN = ("trial", "users")
_NOTE = re.compile(r"\[(?P<tables>[^\]]*)\] *(?P<text>.*)")
PLANNED = tuple(each.name for each in DIMENSIONS if each.name not in REPEATS and each.name != "study")


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of a study; ``notes`` begin with tables in brackets, one a line."""

    title: str = ""
    source: str = ""
    purpose: str = ""
    method: str = ""
    trend_order: str = BY_DATE
    notes: str = ""

    @classmethod
    def from_study(cls, study: Study) -> "Texts":
        """Return a study's present texts."""
        notes = "\n".join(map(_noted, study.notes))
        return cls(study.title, study.source, study.purpose, study.method, study.trend_order, notes)

    @classmethod
    def sent(cls, data: QueryDict) -> "Texts":
        """Return a form's texts with LF line ends."""
        return cls(**{each.name: str(data.get(each.name, "")).replace("\r\n", "\n").strip() for each in fields(cls)})

    def columns(self) -> dict[str, Any]:
        """Return the values of the study's columns."""
        return asdict(self) | {"notes": [_note(line) for line in self.notes.splitlines() if line.strip()]}

    def differing(self, study: Study) -> list[tuple[str, str]]:
        """Return (field, text) of the study's fields that differ from the form's."""
        now, mine = asdict(Texts.from_study(study)), asdict(self)
        return [(name.replace("_", " ").capitalize(), text) for name, text in now.items() if text != mine[name]]


def _noted(note: Mapping[str, Any]) -> str:
    text = " ".join(str(note.get("text", "")).split())
    return f"[{', '.join(map(str, note['tables']))}] {text}" if note.get("tables") else text


def _note(line: str) -> dict[str, Any]:
    match = _NOTE.fullmatch(line.strip())
    if match is None:
        return {"tables": [], "text": line.strip()}
    return {"tables": [each.strip() for each in match["tables"].split(",") if each.strip()], "text": match["text"]}


class Code(NamedTuple):
    """A code in run IDs: group of the pattern, code, and value."""

    group: str = ""
    code: str = ""
    means: str = ""


@dataclass(frozen=True, slots=True)
class Pattern:
    """The run ID pattern and its codes, as texts of the form."""

    pattern: str = ""
    codes: tuple[Code, ...] = ()

    @classmethod
    def from_study(cls, study: Study) -> "Pattern":
        """Return a study's present pattern."""
        values = study.run_id_values if isinstance(study.run_id_values, dict) else {}
        codes = (Code(name, code, str(value)) for name, each in values.items() for code, value in each.items())
        return cls(study.run_id_pattern, tuple(codes))

    @classmethod
    def sent(cls, data: QueryDict) -> "Pattern":
        """Return a form's pattern without rows that lack a code."""
        columns = (data.getlist(name) for name in ("group", "code", "means"))
        rows = (Code(*(text.strip() for text in row)) for row in zip(*columns, strict=False))
        return cls(str(data.get("pattern", "")).strip(), tuple(row for row in rows if row.code))

    def values(self) -> dict[str, dict[str, str]]:
        """Return the codes' values by group. Raise QueryError for two values of a code."""
        found: dict[str, dict[str, str]] = {}
        for row in self.codes:
            if row.means and found.setdefault(row.group, {}).setdefault(row.code, row.means) != row.means:
                raise QueryError("values", f"{row.group} {row.code} has two meanings")
        return found

    def columns(self) -> dict[str, Any]:
        """Return the values of the study's columns. Raise QueryError."""
        return study_details.pattern_columns(run_id_patterns.parse_pattern(self.pattern, self.values()))


def offered_codes(written: Pattern, tried: Sequence[DecodedRunId]) -> list[Code]:
    """Return the form's rows: written ones, codes met in run IDs, and blank ones."""
    there = {(row.group, row.code) for row in written.codes}
    met = {(said.name, said.code) for each in tried for said in each.says or () if said.name not in _PLAIN}
    rest = [Code(group, code) for group, code in sorted(met - there)]
    return [*written.codes, *rest[:_MOST_OFFERED], *[Code()] * _BLANK]


def groups_of(pattern: RunIdPattern | None) -> list[str]:
    """Return the names of a pattern's groups."""
    return list(re.compile(pattern.regex).groupindex) if pattern else []


class Values(NamedTuple):
    """A dimension and values, separated by commas, or by lines for values with commas."""

    dimension: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A part of a test plan, as texts of the form."""

    name: str = ""
    trials: str = ""
    figure: str = ""
    rows: tuple[Values, ...] = ()

    @classmethod
    def from_stored(cls, part: Mapping[str, Any]) -> "PlanPart":
        """Return a stored part as texts."""
        named = [name for name in part if name not in ABOUT_PART]
        rows = tuple(Values(name, _listed(part[name])) for name in parameters.sort_dimensions(named))
        return cls(str(part.get("name", "")), str(part.get("trials", "")), str(part.get("figure", "")), rows)

    def stored(self) -> dict[str, Any]:
        """Return the part as the study stores parts. Raise QueryError."""
        if self.trials and not (self.trials.isdecimal() and len(self.trials) < 6):
            raise QueryError("plan", f"trials must be a whole number above 0, not {self.trials!r}")
        said = {"name": self.name, "figure": self.figure, "trials": int(self.trials) if self.trials else None}
        lists: dict[str, list[str | int]] = {}
        for row in self.rows:
            lists.setdefault(row.dimension, []).extend(_values(row))
        return {name: value for name, value in said.items() if value not in ("", None)} | lists

    @property
    def blank(self) -> bool:
        """Return whether the form of the part was left empty."""
        return not (self.name or self.trials or self.rows)

    @property
    def offered(self) -> list[Values]:
        """Return the rows to show, with blank ones at the end."""
        return [*self.rows, *[Values()] * _BLANK]


def _listed(values: Sequence[object]) -> str:
    texts = [str(value) for value in values]
    return "\n".join([*texts, ""]) if any("," in text for text in texts) else ", ".join(texts)


def _values(row: Values) -> Iterator[str | int]:
    """Yield the values of a row, numbers for numeric dimensions."""
    whole = parameters.find_dimension("plan", row.dimension).whole
    for text in row.text.split("\n" if "\n" in row.text else ","):
        if value := text.strip():
            yield int(value) if whole and value.isdecimal() and value.isascii() and len(value) < 19 else value


def plan_of(study: Study) -> list[PlanPart]:
    """Return the parts of a study's plan."""
    return [PlanPart.from_stored(part) for part in study.plan]


def plan_sent(data: QueryDict) -> list[PlanPart]:
    """Return the parts of a form that are not blank; ``part`` numbers the parts."""
    parts = []
    for number in data.getlist("part"):
        texts = {name: str(data.get(f"{name}-{number}", "")).strip() for name in ABOUT_PART}
        columns = (data.getlist(f"{name}-{number}") for name in ("dimension", "values"))
        rows = (Values(name.strip(), text.replace("\r\n", "\n")) for name, text in zip(*columns, strict=False))
        parts.append(PlanPart(**texts, rows=tuple(row for row in rows if row.dimension and row.text.strip())))
    return [part for part in parts if not part.blank]


def present(study: Study) -> dict[str, list[str]]:
    """Return the values of the study's experiments by dimension."""
    model: type[Model] = Experiment
    found = {}
    for name in PLANNED:
        column = f"{name}__name" if model._meta.get_field(name).is_relation else name
        values = Experiment.objects.filter(study=study).order_by().values_list(column, flat=True).distinct()
        if there := [value for value in values if value not in (None, "")]:
            found[name] = [str(value) for value in sorted(there, key=parameters.value_order)]
    return found


def of_present(values: Mapping[str, Sequence[str]]) -> PlanPart:
    """Return a part of the plan with every combination of the varying values."""
    rows = tuple(Values(name, _listed(each)) for name, each in values.items() if len(each) > 1 or name == "workload")
    return PlanPart(name="what is there", rows=rows)


def dimensions(parts: Sequence[PlanPart]) -> list[str]:
    """Return the dimensions that a part may list, with the factors in use."""
    factors = {row.dimension for part in parts for row in part.rows if row.dimension.startswith(FACTOR)}
    return [*PLANNED, *sorted(factors)]
