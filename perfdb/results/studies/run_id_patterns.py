"""The run id pattern of a study: parsing, and decoding of run ids."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from importers.collate.run_ids import (
    RunIdPattern,
    compile_run_ids,
    is_template,
    match_run_id,
    same_value,
    template_to_regex,
)
from perfdb.analysis import dimensions
from perfdb.analysis.query import parameters
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Run, Study
from perfdb.results.queries.observations import DIMENSION_COLUMNS

MAX_DECODED = 50
MAX_CODES = 500
_MAX_LENGTH = 1000
_NUMBERING = ("date", "run_id", "study")


@dataclass(frozen=True, slots=True)
class DecodedDimension:
    """A dimension decoded from a run id; ``stored`` lists other stored values."""

    name: str
    title: str
    code: str
    value: str
    stored: str = ""


@dataclass(frozen=True, slots=True)
class DecodedRunId:
    """A decoded run id (``says`` is None without a match) and the number of stored runs."""

    run_id: str
    says: list[DecodedDimension] | None
    runs: int = 0


def parse_pattern(pattern: str, values: Mapping[str, Any]) -> RunIdPattern | None:
    """Parse a regular expression or template; None for an empty text. Raise QueryError."""
    text = pattern.strip()
    if len(text) > _MAX_LENGTH or "\0" in text:
        raise QueryError("pattern", f"a pattern has at most {_MAX_LENGTH} characters")
    try:
        regex = template_to_regex(text) if is_template(text) else text
        groups = compile_run_ids(regex).groupindex
    except ValueError as error:
        raise QueryError("pattern", f"the run-id pattern {error}") from None
    return RunIdPattern(regex, _check_values(values, groups)) if regex else None


def _check_values(values: Mapping[str, Any], groups: Mapping[str, int]) -> dict[str, dict[str, str]]:
    if sum(len(codes) for codes in values.values() if isinstance(codes, Mapping)) > MAX_CODES:
        raise QueryError("values", f"at most {MAX_CODES} codes are taken")
    found = {}
    for name, codes in values.items():
        if not isinstance(codes, Mapping):
            raise QueryError("values", f"{name} must be a table of codes and values")
        if name not in groups:
            raise QueryError("values", f"the pattern has no group {name}", groups)
        found[name] = {str(code): str(value).strip() for code, value in codes.items() if str(value).strip()}
    return {name: codes for name, codes in found.items() if codes}


def decode_run_ids(study: Study, pattern: RunIdPattern | None, run_ids: Iterable[str]) -> list[DecodedRunId]:
    """Decode up to `MAX_DECODED` run ids, and find stored runs with other values."""
    if pattern is None:
        return []
    compiled = compile_run_ids(pattern.regex)
    named = list(dict.fromkeys(text.strip() for text in run_ids if text.strip()))[:MAX_DECODED]
    stored = _stored(study, named, compiled.groupindex)
    found = []
    for run_id in named:
        match, runs = match_run_id(compiled, run_id), stored[run_id]
        codes = match.groupdict().items() if match else ()
        says = [_decode_dimension(name, code, pattern, runs) for name, code in codes if code is not None]
        found.append(DecodedRunId(run_id, says if match else None, len(runs)))
    return found


def _stored(study: Study, run_ids: list[str], groups: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the dimensions of stored runs by run id."""
    columns = {name: DIMENSION_COLUMNS[name] for name in groups if name in DIMENSION_COLUMNS and name not in _NUMBERING}
    runs = Run.objects.filter(study=study, run_id__in=run_ids).exclude(status=Run.Status.WITHDRAWN).order_by("pk")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run_id, *values in runs.values_list("run_id", *columns.values()):
        found[run_id].append(dict(zip(columns, values, strict=True)))
    return found


def _decode_dimension(name: str, code: str, pattern: RunIdPattern, stored: list[dict[str, Any]]) -> DecodedDimension:
    value = pattern.values.get(name, {}).get(code, code)
    other = [each[name] for each in stored if each.get(name) is not None and not _same(name, value, each[name])]
    # Only if the trial is encoded, trials have different run ids.
    return DecodedDimension(name, _title(name), code, value, ", ".join(map(str, dict.fromkeys(other))))


def _same(name: str, text: str, stored: object) -> bool:
    try:
        return parameters.parse_value(dimensions.dimension(name), text) == stored or same_value(text, str(stored))
    except QueryError:
        return same_value(text, str(stored))


def _title(name: str) -> str:
    try:
        return dimensions.dimension(name).title
    except KeyError:
        return name.replace("_", " ")
