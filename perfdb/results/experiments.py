"""Vocabulary and experiments: from dimension values to rows, each made once.

An experiment's key is the XOR of a stable 64-bit hash per dimension value. Taking a dimension out is one more
XOR, so runs that are equal in all dimensions but one meet in ``key # z(dimension)``, whatever the dimension is.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import xor
from typing import TypeVar

from django.db import models

from perfdb.analysis.workloads import Workload as Sizes
from perfdb.results.models import Device, Experiment, Level, Study, System, Workload
from perfdb.results.record import Configuration, SystemIdentity, name_of

_Model = TypeVar("_Model", bound=models.Model)


def z(name: str, value: str | int) -> int:
    """The hash of one dimension's value, as a signed 64-bit integer: the same for ever, on every machine."""
    raw = hashlib.blake2b(f"{name}\0{value}".encode(), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def experiment_key(configuration: Configuration) -> int:
    """The key of a configuration; a dimension that is not known does not enter it."""
    return reduce(xor, (z(name, value) for name, value in configuration.dimensions().items()), 0)


class KeyCollisionError(Exception):
    """Two experiments of one study have the same key although they differ. Not seen yet; never to be ignored."""


@dataclass(slots=True)
class Vocabulary:
    """Finds or makes rows of the vocabulary for one study, and remembers them while an import lasts."""

    study: Study
    _found: dict[tuple[str, object], models.Model] = field(default_factory=dict)

    def experiment(self, configuration: Configuration) -> Experiment:
        """The experiment with this configuration in the study."""
        return self.experiments([configuration])[0]

    def experiments(self, configurations: Sequence[Configuration]) -> list[Experiment]:
        """The experiments with these configurations, in their order; all that are new are made in one statement."""
        keys = [experiment_key(each) for each in configurations]
        asked = dict(zip(keys, configurations, strict=True))
        wanted = {key: each for key, each in asked.items() if ("experiment", key) not in self._found}
        self._find(wanted)
        missing = {key: each for key, each in wanted.items() if ("experiment", key) not in self._found}
        if missing:
            made = [self._new_experiment(key, each) for key, each in missing.items()]
            # Another import may have made some meanwhile: those that are there are the ones that count.
            Experiment.objects.bulk_create(made, ignore_conflicts=True)
            self._find(missing)
        found = [self._experiment(key) for key in keys]
        for experiment, configuration in zip(found, configurations, strict=True):
            if configuration_of(experiment).dimensions() != configuration.dimensions():
                raise KeyCollisionError(f"{experiment} and {configuration.dimensions()} share a key")
        return found

    def _find(self, keys: Iterable[int]) -> None:
        related = Experiment.objects.select_related("system", "level", "workload", "device", "study")
        for experiment in related.filter(study=self.study, key__in=list(keys)):
            self._found["experiment", experiment.key] = experiment

    def _experiment(self, key: int) -> Experiment:
        return self._found["experiment", key]  # type: ignore[return-value] # the kind says which model it is

    def _new_experiment(self, key: int, configuration: Configuration) -> Experiment:
        return Experiment(
            study=self.study,
            key=key,
            system=self._system(configuration.system),
            level=self._level(configuration.level),
            workload=self._workload(configuration.workload),
            device=self._device(configuration.device),
            mtu=configuration.mtu,
            users=configuration.users,
            layer=configuration.layer,
            campaign=configuration.campaign,
            factors=dict(configuration.factors),
        )

    def _system(self, identity: SystemIdentity | None) -> System | None:
        if identity is None or not identity.name:
            return None
        fields = {
            "machine": identity.machine,
            "host": identity.host,
            "processors": identity.processors,
            "memory_bytes": identity.memory_bytes,
        }
        make = lambda: System.objects.get_or_create(**fields, defaults={"name": identity.name})[0]  # noqa: E731
        return self._once("system", identity, make)

    def _level(self, name: str | None) -> Level | None:
        return None if name is None else self._once("level", name, lambda: Level.objects.get_or_create(name=name)[0])

    def _device(self, name: str | None) -> Device | None:
        return None if name is None else self._once("device", name, lambda: Device.objects.get_or_create(name=name)[0])

    def _workload(self, sizes: Sizes | None) -> Workload | None:
        if sizes is None:
            return None
        name = name_of(sizes)
        fields = {
            "pattern": sizes.pattern,
            "request_bytes": sizes.request_bytes,
            "response_bytes": sizes.response_bytes,
        }
        return self._once(
            "workload", sizes, lambda: Workload.objects.get_or_create(**fields, defaults={"name": name})[0]
        )

    def _once(self, kind: str, key: object, make: Callable[[], _Model]) -> _Model:
        found = self._found.get((kind, key))
        if found is None:
            found = self._found[kind, key] = make()
        return found  # type: ignore[return-value] # the kind says which model it is


def configuration_of(experiment: Experiment) -> Configuration:
    """The configuration that an experiment's row stands for."""
    workload, system = experiment.workload, experiment.system
    return Configuration(
        workload=Sizes(workload.pattern, workload.request_bytes, workload.response_bytes) if workload else None,
        device=experiment.device.name if experiment.device else None,
        mtu=experiment.mtu,
        users=experiment.users,
        layer=experiment.layer,
        campaign=experiment.campaign,
        system=SystemIdentity(system.machine, system.host, system.processors, system.memory_bytes) if system else None,
        level=experiment.level.name if experiment.level else None,
        factors=experiment.factors,
    )
