"""What a run was measured on and how, for its page: the dimensions in words, and every fact with its line."""

from collections.abc import Mapping
from dataclasses import dataclass

from perfdb.results.models import Run
from perfdb.results.provenance import Place


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
        ("Campaign", run.campaign),
        ("Workload", run.workload),
        ("Device", run.device),
        ("MTU (bytes)", run.mtu),
        ("Users", run.users),
        ("Layer", run.layer),
        ("Trial", run.trial),
        ("System", run.system),
        ("Processors", run.system and run.system.processors),
        ("Level", run.level),
        ("Started (UTC)", f"{run.started:%Y-%m-%d %H:%M:%S}"),
    ]
    return [*fixed, *((key.replace("_", " "), value) for key, value in sorted(run.factors.items()))]


def facts(run: Run, paths: Mapping[int, str]) -> list[Fact]:
    """Everything that the files say besides figures, by key. ``paths``: artifact -> path."""
    evidence = getattr(run, "evidence", None)
    printed = evidence.facts if evidence else {}
    return [_fact(key, fact, paths) for key, fact in sorted(printed.items())]


def _fact(key: str, fact: Mapping[str, object], paths: Mapping[int, str]) -> Fact:
    artifact, line = int(str(fact.get("artifact") or 0)), int(str(fact.get("line") or 0))
    return Fact(key, str(fact["text"]), Place(artifact, paths.get(artifact, ""), line) if artifact and line else None)
