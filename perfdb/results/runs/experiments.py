"""Vocabulary and experiments: rows for dimension values, each made once.

The key of an experiment is the XOR of a stable 64-bit hash per dimension value. Removing a dimension is one more XOR,
so runs that are equal in all dimensions but one share ``key # hash_value(dimension)`` for any dimension.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, reduce
from operator import xor
from typing import Any

from django.db.models import Max

from perfdb.analysis.dimensions import NUMBERS
from perfdb.analysis.workloads import Workload as Sizes
from perfdb.results.models import Device, Experiment, Level, Run, RunEvidence, Study, System, Workload
from perfdb.results.runs import evidence
from perfdb.results.runs.normalize.alias_dimensions import PRINTED
from perfdb.results.runs.record import Configuration, FactValue, RunRecord, SystemIdentity, format_workload

_TRIAL = f"{PRINTED}trial"


@lru_cache(65536)
def hash_value(name: str, value: str | int) -> int:
    """Return the stable hash of a dimension's value, a signed 64-bit integer."""
    raw = hashlib.blake2b(f"{name}\0{value}".encode(), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def experiment_key(configuration: Configuration) -> int:
    """Return the key of a configuration; unknown dimensions do not enter the key."""
    return _key_of(configuration.dimensions())


def _key_of(dimensions: Mapping[str, str | int]) -> int:
    return reduce(xor, (hash_value(name, value) for name, value in dimensions.items()), 0)


class KeyCollisionError(Exception):
    """Two different experiments of one study have the same key."""


@dataclass(slots=True)
class Vocabulary:
    """Vocabulary rows and experiments of one study, found or made.

    An instance is of use for one transaction that holds the study: afterwards an experiment may be gone.
    """

    study: Study
    _rows: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    # By key, with the dimensions, which detect collisions.
    _experiments: dict[int, tuple[Experiment, dict[str, str | int]]] = field(default_factory=dict)

    def experiment(self, configuration: Configuration) -> Experiment:
        """Return the experiment with this configuration, stored if new."""
        return self.experiments([configuration])[0]

    def experiments(self, configurations: Sequence[Configuration]) -> list[Experiment]:
        """Return the experiments of configurations; store new ones in one statement.

        Raise KeyCollisionError if two different experiments have one key.
        """
        dimensions = [each.dimensions() for each in configurations]
        keys, known = [_key_of(each) for each in dimensions], self._experiments
        if unread := set(keys) - known.keys():
            stored = Experiment.objects.filter(study=self.study, key__among=unread)
            for each in stored.prefetch_related("system", "level", "workload", "device"):
                known[each.key] = each, read_configuration(each).dimensions()
        wanted = dict(zip(keys, zip(configurations, dimensions, strict=True), strict=True))
        new = [self._build(key, own) for key, (own, _) in wanted.items() if key not in known]
        # No other process makes experiments of the study while this transaction holds the study.
        for each in Experiment.objects.bulk_create(new):
            known[each.key] = each, wanted[each.key][1]
        for key, own_dimensions in zip(keys, dimensions, strict=True):
            experiment, stored_dimensions = known[key]
            if stored_dimensions != own_dimensions:
                raise KeyCollisionError(f"Experiment {experiment.pk} and {own_dimensions} share a key")
        return [known[key][0] for key in keys]

    def _build(self, key: int, configuration: Configuration) -> Experiment:
        each, sizes, identity = configuration, configuration.workload, configuration.system
        return Experiment(
            study=self.study,
            key=key,
            system=self._find(System, identity.name, asdict(identity)) if identity and identity.name else None,
            level=self._find(Level, each.level) if each.level is not None else None,
            workload=self._find(Workload, format_workload(sizes), asdict(sizes)) if sizes else None,
            device=self._find(Device, each.device) if each.device is not None else None,
            campaign=each.campaign,
            factors=dict(each.factors),
            **{name: getattr(each, name) for name in NUMBERS},
        )

    def _find(self, model: Any, name: str, identity: Mapping[str, Any] | None = None) -> Any:
        """Return the row with these fields, by default the name; a new one gets the name."""
        fields = {"name": name} if identity is None else identity
        key = model, *fields.values()
        if key not in self._rows:
            self._rows[key] = model.objects.get_or_create(**fields, defaults={"name": name})[0]
        return self._rows[key]


def read_configuration(experiment: Experiment) -> Configuration:
    """Return the configuration of an experiment."""
    system, workload = experiment.system, experiment.workload
    return Configuration(
        workload=Sizes(workload.pattern, workload.request_bytes, workload.response_bytes) if workload else None,
        device=experiment.device.name if experiment.device else None,
        campaign=experiment.campaign,
        system=SystemIdentity(system.machine, system.host, system.processors, system.memory_bytes) if system else None,
        level=experiment.level.name if experiment.level else None,
        factors=experiment.factors,
        **{name: getattr(experiment, name) for name in NUMBERS},
    )


def keep_trial(run: Run, record: RunRecord) -> None:
    """Copy the fact ``printed.trial`` of a stored run to a record of equal trial."""
    facts = evidence.decode_facts(RunEvidence.objects.get(run=run))
    if _TRIAL in facts and record.trial == run.trial:
        record.facts[_TRIAL] = facts[_TRIAL]


def settle_trial(vocabulary: Vocabulary, run: Run, record: RunRecord) -> None:
    """Set a record's intended trial, or a free one if another run has it.

    The fact ``printed.trial`` keeps the intended number, which returns once free.
    """
    wanted = int(record.facts.pop(_TRIAL, FactValue(str(record.trial))).text)
    record.trial = wanted
    if record.status == Run.Status.WITHDRAWN:
        return
    same = Run.objects.filter(study=run.study_id, run_id=record.run_id).exclude(pk=run.pk)
    there = same.filter(experiment=vocabulary.experiment(record.configuration).pk).exclude(status=Run.Status.WITHDRAWN)
    taken = set(there.values_list("trial", flat=True))
    if wanted in taken:
        last = max(same.aggregate(last=Max("trial"))["last"], wanted)
        record.trial = run.trial if run.trial not in taken else last + 1
        record.facts[_TRIAL] = FactValue(str(wanted))
