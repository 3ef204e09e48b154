"""How a study's run ids encode dimensions: reading what people write, and what it says of ids and of stored runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from importers.collate import RunIdPattern
from importers.collate.run_id_patterns import compile_run_ids, fitting, from_template, is_template
from importers.collate.run_ids import same_value
from perfdb.analysis import dimensions
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, Study
from perfdb.results.queries.observations import DIMENSION_COLUMNS

MOST_TRIED = 50
MOST_CODES = 500
_LONGEST = 1000
_NUMBERING = ("date", "run_id", "study")


@dataclass(frozen=True, slots=True)
class Said:
    """What a run id says of one dimension; ``stored`` is what stored runs of it have where that is something else."""

    name: str
    title: str
    code: str
    value: str
    stored: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """A run id by a pattern: ``says`` is None where the pattern does not fit; ``runs`` counts stored runs of it."""

    run_id: str
    says: list[Said] | None
    runs: int = 0


def understood(pattern: str, values: Mapping[str, Any]) -> RunIdPattern | None:
    """A pattern as written, a regular expression or a template; None where there is none. Raises QueryError."""
    text = pattern.strip()
    if len(text) > _LONGEST or "\0" in text:
        raise QueryError("pattern", f"a pattern has at most {_LONGEST} characters")
    try:
        regex = from_template(text) if is_template(text) else text
        groups = compile_run_ids(regex).groupindex
    except ValueError as error:
        raise QueryError("pattern", f"the run-id pattern {error}") from None
    return RunIdPattern(regex, _checked(values, groups)) if regex else None


def _checked(values: Mapping[str, Any], groups: Mapping[str, int]) -> dict[str, dict[str, str]]:
    if sum(len(codes) for codes in values.values() if isinstance(codes, Mapping)) > MOST_CODES:
        raise QueryError("values", f"at most {MOST_CODES} codes are taken")
    found = {}
    for name, codes in values.items():
        if not isinstance(codes, Mapping):
            raise QueryError("values", f"{name} must be a table of codes and values")
        if name not in groups:
            raise QueryError("values", f"the pattern has no group {name}", groups)
        found[name] = {str(code): str(value).strip() for code, value in codes.items() if str(value).strip()}
    return {name: codes for name, codes in found.items() if codes}


def tried(study: Study, pattern: RunIdPattern | None, run_ids: Iterable[str]) -> list[Tried]:
    """What each of these run ids says, the first `MOST_TRIED` of them, and where stored runs say otherwise."""
    if pattern is None:
        return []
    compiled = compile_run_ids(pattern.regex)
    named = list(dict.fromkeys(text.strip() for text in run_ids if text.strip()))[:MOST_TRIED]
    stored = _stored(study, named, compiled.groupindex)
    return [_tried(fitting(compiled, run_id), pattern, run_id, stored.get(run_id, [])) for run_id in named]


def _stored(study: Study, run_ids: list[str], groups: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """The dimensions that stored runs of these ids have."""
    columns = {name: DIMENSION_COLUMNS[name] for name in groups if name in DIMENSION_COLUMNS and name not in _NUMBERING}
    runs = Run.objects.filter(study=study, run_id__in=run_ids).exclude(status=Run.Status.WITHDRAWN).order_by("pk")
    found: dict[str, list[dict[str, Any]]] = {}
    for run_id, *values in runs.values_list("run_id", *columns.values()):
        found.setdefault(run_id, []).append(dict(zip(columns, values, strict=True)))
    return found


def _tried(match: Any, pattern: RunIdPattern, run_id: str, stored: list[dict[str, Any]]) -> Tried:
    if match is None:
        return Tried(run_id, None, len(stored))
    codes = {name: code for name, code in match.groupdict().items() if code is not None}
    return Tried(run_id, [_said(name, code, pattern, stored) for name, code in codes.items()], len(stored))


def _said(name: str, code: str, pattern: RunIdPattern, stored: list[dict[str, Any]]) -> Said:
    value = pattern.values.get(name, {}).get(code, code)
    other = [each[name] for each in stored if each.get(name) is not None and not _same(name, value, each[name])]
    # Several trials have one run id: its trial is in the id of each of them only where that tells them apart.
    return Said(name, _title(name), code, value, ", ".join(map(str, dict.fromkeys(other))))


def _same(name: str, text: str, stored: object) -> bool:
    try:
        return parameters.value(dimensions.dimension(name), text) == stored or same_value(text, str(stored))
    except QueryError:
        return same_value(text, str(stored))


def _title(name: str) -> str:
    try:
        return dimensions.dimension(name).title
    except KeyError:
        return name.replace("_", " ")
