"""What a run was measured on and how, for its page: the dimensions in words, and every fact with its line."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.html import format_html

from perfdb.analysis.dimensions import FACTOR
from perfdb.results.changes.provenance import Place
from perfdb.results.models import Run
from perfdb.results.runs import evidence as origins
from perfdb.results.runs.normalize.alias_dimensions import PRINTED, printed_text
from perfdb.results.runs.record import FactValue


@dataclass(frozen=True, slots=True)
class Fact:
    """A circumstance as printed; without a place when a person gave it."""

    key: str
    text: str
    place: Place | None


def subtitle(run: Run) -> list[str]:
    """The run in one line: workload, device, MTU, users and trial, as far as they are known."""
    parts = (
        run.workload and run.workload.name,
        run.device and run.device.name,
        f"MTU {run.mtu}" if run.mtu is not None else None,
        f"{run.users} user{'' if run.users == 1 else 's'}" if run.users is not None else None,
        f"trial {run.trial}",
    )
    return [part for part in parts if part]


def of(run: Run) -> list[tuple[str, object]]:
    """The dimensions and the system, each with its title; a missing one is None and shown as missing."""
    fixed: list[tuple[str, object]] = [
        ("Study", run.study),
        ("Campaign", _as_printed(run, "campaign", run.campaign)),
        ("Workload", _as_printed(run, "workload", run.workload)),
        ("Device", _as_printed(run, "device", run.device)),
        ("MTU (bytes)", _as_printed(run, "mtu", run.mtu)),
        ("Users", _as_printed(run, "users", run.users)),
        ("Layer", _as_printed(run, "layer", run.layer)),
        ("Trial", _as_printed(run, "trial", run.trial)),
        ("System", _as_printed(run, "system", run.system)),
        ("Processors", run.system and run.system.processors),
        ("Level", _as_printed(run, "level", run.level)),
        ("Started (UTC)", _started(run)),
    ]
    factors = sorted(run.factors.items())
    return [*fixed, *((key.replace("_", " "), _as_printed(run, f"{FACTOR}{key}", value)) for key, value in factors)]


def _started(run: Run) -> str:
    """The moment; of a run that has no date of its own the day of what dates it."""
    dated_by = _facts(run).get("dated_by")
    if dated_by is not None:
        return format_html('{} <span class="muted">by {}</span>', f"{run.started:%Y-%m-%d}", dated_by.text)
    return f"{run.started:%Y-%m-%d %H:%M:%S}"


def _as_printed(run: Run, dimension: str, value: object) -> object:
    """A value of a dimension, and beside it what the files say where that differs."""
    text = printed_text(_facts(run), dimension)
    if value in (None, "") or text in (None, "", str(value)):
        return value
    return format_html('{} <span class="muted">printed as {}</span>', value, text)


def _facts(run: Run) -> dict[str, FactValue]:
    evidence = getattr(run, "evidence", None)
    return origins.decode_facts(evidence) if evidence else {}


def facts(run: Run, paths: Mapping[int, str]) -> list[Fact]:
    """Everything that the files say besides figures, by key. ``paths``: artifact -> path."""
    # What aliases keep for themselves is said beside the dimensions.
    return [_fact(key, fact, paths) for key, fact in sorted(_facts(run).items()) if not key.startswith(PRINTED)]


def _fact(key: str, fact: FactValue, paths: Mapping[int, str]) -> Fact:
    place = Place(fact.artifact, paths.get(fact.artifact, ""), fact.line) if fact.artifact and fact.line else None
    return Fact(key, fact.text, place)
