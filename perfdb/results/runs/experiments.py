"""Vocabulary and experiments: from dimension values to rows, each made once.

An experiment's key is the XOR of a stable 64-bit hash per dimension value. Taking a dimension out is one more
XOR, so runs that are equal in all dimensions but one meet in ``key # z(dimension)``, whatever the dimension is.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import xor
from typing import Any, NamedTuple, TypeVar

from django.db import connection, models

from perfdb.analysis.workloads import Workload as Sizes
from perfdb.results.models import Device, Experiment, Level, Study, System, Workload
from perfdb.results.runs.record import Configuration, SystemIdentity, name_of

_Model = TypeVar("_Model", bound=models.Model)


@lru_cache(65536)
def z(name: str, value: str | int) -> int:
    """The hash of one dimension's value, as a signed 64-bit integer: the same for ever, on every machine."""
    raw = hashlib.blake2b(f"{name}\0{value}".encode(), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def experiment_key(configuration: Configuration) -> int:
    """The key of a configuration; a dimension that is not known does not enter it."""
    return _key(configuration.dimensions())


def _key(dimensions: Mapping[str, str | int]) -> int:
    return reduce(xor, (z(name, value) for name, value in dimensions.items()), 0)


class KeyCollisionError(Exception):
    """Two experiments of one study have the same key although they differ. Not seen yet; never to be ignored."""


class Wanted(NamedTuple):
    """An experiment that is looked for, or made: its configuration, and what follows from it."""

    configuration: Configuration
    dimensions: dict[str, str | int]
    key: int

    @classmethod
    def for_configuration(cls, configuration: Configuration) -> "Wanted":
        """The experiment with a configuration."""
        dimensions = configuration.dimensions()
        return cls(configuration, dimensions, _key(dimensions))


class Stored(NamedTuple):
    """The row of an experiment: its number, and what a run repeats of it."""

    pk: int
    study_id: int
    system_id: int | None
    level_id: int | None
    workload_id: int | None
    device_id: int | None
    mtu: int | None
    users: int | None
    layer: int | None
    campaign: str
    factors: dict[str, str]


# Of many at once a parameter for each value would take longer to be said than to be stored.
_ADD = """
INSERT INTO experiment
    (study_id, system_id, level_id, workload_id, device_id, mtu, users, layer, campaign, factors, key)
SELECT study_id, system_id, level_id, workload_id, device_id, mtu, users, layer, campaign, factors, key
FROM json_to_recordset(%s) AS given (study_id int8, system_id int8, level_id int8, workload_id int8, device_id int8,
    mtu int4, users int4, layer int2, campaign text, factors jsonb, key int8)
ON CONFLICT DO NOTHING RETURNING key, id
"""


_Numbers = tuple[int | None, int | None, int | None, int | None]
"""The numbers of a system, a level, a workload and a device."""

Names = dict[tuple[str, object], models.Model]
"""Rows of the vocabulary by their kind and by what they stand for."""


@dataclass(slots=True)
class Vocabulary:
    """Finds or makes rows of the vocabulary for one study, and remembers them.

    It lasts for a transaction that holds the study: an experiment may be gone after it. ``names`` last for an import.
    """

    study: Study
    # The rows of systems, levels, devices and workloads, which nobody removes.
    names: Names = field(default_factory=dict)
    # The dimensions of each beside it: only by them is it sure to be the one that is meant.
    _experiments: dict[int, tuple[Stored, dict[str, str | int]]] = field(default_factory=dict)
    # Of many experiments the same is said.
    _numbers: dict[object, _Numbers] = field(default_factory=dict)

    def experiment(self, configuration: Configuration) -> Stored:
        """The experiment with this configuration in the study."""
        return self.experiments([Wanted.for_configuration(configuration)])[0]

    def experiments(self, wanted: Sequence[Wanted]) -> list[Stored]:
        """The experiments that are wanted, in their order; all that are new are made in one statement."""
        asked = {each.key: each for each in wanted}
        unknown = [key for key in asked if key not in self._experiments]
        self._find(unknown)
        missing = [key for key in unknown if key not in self._experiments]
        if missing:
            self._add([asked[key] for key in missing])
            # Another import may have made some meanwhile, and then those are the ones that count.
            self._find([key for key in missing if key not in self._experiments])
        found = [self._experiments[each.key] for each in wanted]
        for (experiment, known), own in zip(found, wanted, strict=True):
            if known != own.dimensions:
                raise KeyCollisionError(f"Experiment {experiment.pk} and {own.dimensions} share a key")
        return [experiment for experiment, _ in found]

    def _find(self, keys: Sequence[int]) -> None:
        if not keys:
            return
        rows = Experiment.objects.filter(study=self.study, key__among=keys).values_list("key", *_COLUMNS)
        stored = [(key, Stored(*row)) for key, *row in rows]
        references = {name: {getattr(each, f"{name}_id") for _, each in stored} - {None} for name in _REFERENCES}
        named = {name: _REFERENCES[name].objects.in_bulk(numbers) for name, numbers in references.items()}
        for key, each in stored:
            self._experiments[key] = each, _configuration(each, named).dimensions()

    def _add(self, missing: Sequence[Wanted]) -> None:
        """Make experiments that are not there yet."""
        rows = {each.key: self._row(each.configuration) for each in missing}
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [json.dumps([{**row._asdict(), "key": key} for key, row in rows.items()])])
            made = dict(cursor.fetchall())
        for each in missing:
            if each.key in made:
                self._experiments[each.key] = rows[each.key]._replace(pk=made[each.key]), each.dimensions

    def _row(self, configuration: Configuration) -> Stored:
        """The row of an experiment that has no number yet."""
        each = configuration
        names = each.system, each.level, each.workload, each.device
        numbers = self._numbers.get(names)
        if numbers is None:
            numbers = self._numbers[names] = self._numbers_of(*names)
        factors = dict(each.factors)
        return Stored(0, self.study.pk, *numbers, each.mtu, each.users, each.layer, each.campaign, factors)

    def _numbers_of(
        self, system: SystemIdentity | None, level: str | None, workload: Sizes | None, device: str | None
    ) -> _Numbers:
        """The numbers of rows of the vocabulary, in the order of ``Stored``."""
        rows = self._system(system), self._level(level), self._workload(workload), self._device(device)
        system_id, level_id, workload_id, device_id = (None if row is None else row.pk for row in rows)
        return system_id, level_id, workload_id, device_id

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
        found = self.names.get((kind, key))
        if found is None:
            found = self.names[kind, key] = make()
        return found  # type: ignore[return-value] # the kind says which model it is


_COLUMNS = ("pk", *Stored._fields[1:])
_REFERENCES: Mapping[str, Any] = {"system": System, "level": Level, "workload": Workload, "device": Device}


def _configuration(each: Stored | Experiment, named: Mapping[str, Mapping[int, Any]]) -> Configuration:
    """The configuration of an experiment, given the rows of the vocabulary by their numbers."""
    system, level, workload, device = (named[name].get(getattr(each, f"{name}_id")) for name in _REFERENCES)
    return Configuration(
        workload=Sizes(workload.pattern, workload.request_bytes, workload.response_bytes) if workload else None,
        device=device.name if device else None,
        mtu=each.mtu,
        users=each.users,
        layer=each.layer,
        campaign=each.campaign,
        system=SystemIdentity(system.machine, system.host, system.processors, system.memory_bytes) if system else None,
        level=level.name if level else None,
        factors=each.factors,
    )


def configuration_of(experiment: Experiment) -> Configuration:
    """The configuration that an experiment's row stands for."""
    rows = {name: getattr(experiment, name) for name in _REFERENCES}
    return _configuration(experiment, {name: {row.pk: row} if row else {} for name, row in rows.items()})
