"""What the owner of a study may say about it, as the form takes it: texts, the run-id pattern and the plan."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from importers.collate import RunIdPattern
from perfdb.analysis import parameters
from perfdb.analysis.dimensions import dimension
from perfdb.analysis.parameters import QueryError
from perfdb.results.models import Run, Study
from perfdb.web.study.coverage import ABOUT, parts_of

TEXTS = ("title", "source", "purpose", "method")
# Tried on the page; a study's own are shown by the list of runs.
MOST_TRIED = 50


@dataclass(frozen=True, slots=True)
class Written:
    """The fields of the form as texts, as they are shown and sent."""

    title: str
    source: str
    purpose: str
    method: str
    pattern: str
    codes: str
    plan: str

    @classmethod
    def of(cls, study: Study) -> "Written":
        """What a study says now."""
        codes = study.run_id_values if isinstance(study.run_id_values, dict) else {}
        return cls(
            study.title,
            study.source,
            study.purpose,
            study.method,
            study.run_id_pattern,
            "\n".join(_table(f"[{_key(name)}]", values) for name, values in codes.items()),
            "\n".join(_table("[[part]]", _in_order(part)) for part in study.plan),
        )

    @classmethod
    def sent(cls, data: Mapping[str, str]) -> "Written":
        """What a form sent; browsers end lines by two characters."""
        return cls(**{name: data.get(name, "").replace("\r\n", "\n").strip() for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Tried:
    """A run id by the pattern: what it encodes, (title, value); None where the pattern does not fit it."""

    run_id: str
    says: list[tuple[str, str]] | None


@dataclass(frozen=True, slots=True)
class Understood:
    """The form's texts with those that have a form of their own read."""

    written: Written
    pattern: RunIdPattern | None
    plan: list[dict[str, Any]]


def understood(written: Written) -> Understood:
    """Read what was written. Raises QueryError for what is not understood."""
    if not written.title or len(written.title) > 200:
        raise QueryError("title", "a study needs a title, of 200 characters at most")
    return Understood(written, pattern_of(written), _plan(written.plan))


def save(study: Study, found: Understood) -> None:
    """Keep it; the study's data has changed for all who read it."""
    texts = {name: getattr(found.written, name) for name in TEXTS}
    with transaction.atomic():
        Study.objects.filter(pk=study.pk).update(
            **texts,
            run_id_pattern=found.pattern.regex if found.pattern else "",
            run_id_values=found.pattern.values if found.pattern else {},
            plan=found.plan,
            version=F("version") + 1,
        )


def tried(pattern: RunIdPattern | None, run_ids: str) -> list[Tried]:
    """What each of these run ids, one a line, says by the pattern."""
    if pattern is None:
        return []
    compiled = re.compile(pattern.regex)
    named = dict.fromkeys(text.strip() for text in run_ids.splitlines() if text.strip())
    return [_tried(compiled, pattern, run_id) for run_id in list(named)[:MOST_TRIED]]


def _tried(compiled: re.Pattern[str], pattern: RunIdPattern, run_id: str) -> Tried:
    match = compiled.fullmatch(run_id)
    if match is None:
        return Tried(run_id, None)
    codes = {name: code for name, code in match.groupdict().items() if code is not None}
    return Tried(run_id, [(_title(name), pattern.values.get(name, {}).get(code, code)) for name, code in codes.items()])


def _title(name: str) -> str:
    try:
        return dimension(name).title
    except KeyError:
        return name


def pattern_of(written: Written) -> RunIdPattern | None:
    """The run-id pattern as written; None where there is none. Raises QueryError."""
    try:
        compiled = re.compile(written.pattern)
    except re.error as error:
        raise QueryError("pattern", f"the run-id pattern is no regular expression: {error}") from None
    codes = _toml("codes", written.codes)
    for name, values in codes.items():
        if not isinstance(values, dict):
            raise QueryError("codes", f"{name} must be a table of codes and values, under a line [{name}]")
        if name not in compiled.groupindex:
            raise QueryError("codes", f"the pattern has no group {name}", compiled.groupindex)
    if not written.pattern:
        return None
    texts = {name: {code: str(value) for code, value in values.items()} for name, values in codes.items()}
    return RunIdPattern(written.pattern, texts)


def _plan(text: str) -> list[dict[str, Any]]:
    written = _toml("plan", text)
    parts = written.pop("part", [])
    if written or not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise QueryError("plan", "a plan is made of parts, each under a line [[part]]")
    for part in parts:
        for name in ("name", "figure"):
            if not isinstance(part.get(name, ""), str):
                raise QueryError("plan", f"the {name} of a part is a text")
    parts_of(parts)
    return parts


def _toml(parameter: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise QueryError(parameter, f"the {parameter} cannot be read as TOML: {error}") from None


def _table(heading: str, values: Mapping[str, object]) -> str:
    """A table in TOML; texts, numbers and lists of them are written there as in JSON."""
    lines = [f"{_key(name)} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "\n".join([heading, *lines, ""])


def _in_order(part: Mapping[str, object]) -> dict[str, object]:
    """What is said of a part, then its dimensions as they are declared: the database keeps no order."""
    names = [*ABOUT, *parameters.in_order(name for name in part if name not in ABOUT)]
    return {name: part[name] for name in names if name in part}


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def examples(study: Study) -> str:
    """Run ids of the study to try a pattern with, the newest first, one a line."""
    return "\n".join(Run.objects.filter(study=study).order_by("-id").values_list("run_id", flat=True)[:5])
