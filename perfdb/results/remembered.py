"""What experiments are, kept in the memory of a process: an experiment's row is written once and never changed.

All that tells runs apart but their trial, day and name is their experiment's. Reading that anew with every run takes
PostgreSQL longer than all else of a question. What experiments refer to is kept by name, until a name is changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from perfdb.results import packed
from perfdb.results.packed import NO_ROW, Numbers
from perfdb.results.runs.vocabulary import NAMES, names_of

MOST = 100_000
"""So many experiments are kept, at some 100 bytes each; with more it begins anew."""

STATES = 2
"""So many states are known at a time: a process may read from a replica as well, which is a server of its own."""

REFERENCES = tuple(NAMES)
NUMBERS = ("mtu", "users", "layer")
TEXTS = ("campaign", "factors")
_COLUMNS = {
    "id": packed.row_number("id"),
    **{name: packed.row_number(f"{name}_id") for name in REFERENCES},
    **{name: packed.number(name) for name in NUMBERS},
    "campaign": packed.text("NULLIF(campaign, '')"),
    "factors": packed.text("factors::text"),
}
_PLACES = {name: place for place, name in enumerate(name for name in _COLUMNS if name != "id")}


@dataclass(frozen=True, slots=True)
class Experiments:
    """Experiments in the order of their ids.

    ``columns``: a row for each of ``REFERENCES``, ``NUMBERS`` and ``TEXTS``; of a text (factors are JSON) its place in
    ``texts``. ``names``: those that are referred to, by table and id. Threads share it: what is learnt makes another.
    """

    ids: Numbers
    columns: Numbers
    texts: Sequence[str | None]
    names: Mapping[str, Mapping[int, str]]

    @classmethod
    def none(cls) -> Self:
        """Nothing is known yet."""
        return cls(np.empty(0, np.int64), np.empty((len(_COLUMNS) - 1, 0), np.int64), (), {})

    def column(self, name: str) -> Numbers:
        """A column by its name."""
        found: Numbers = self.columns[_PLACES[name]]
        return found

    def among(self, ids: Numbers) -> Self:
        """Those that are known of these ids, which are given in order."""
        at = np.searchsorted(self.ids, ids)
        at = at[at < len(self.ids)]
        at = at[self.ids[at] == ids[: len(at)]]
        return replace(self, ids=self.ids[at], columns=self.columns[:, at])

    def learnt(self, ids: Numbers) -> Self:
        """These, and others that are read; what is gone meanwhile is not among them."""
        row = packed.read(_COLUMNS, "experiment WHERE id = ANY(%s)", [ids.tolist()])
        if not row:
            return self
        texts = {text: place for place, text in enumerate(self.texts)}
        for name in TEXTS:
            row[name] = np.array([texts.setdefault(text, len(texts)) for text in row[name]])
        known = np.concatenate([self.ids, row["id"]])
        columns = np.hstack([self.columns, np.vstack([row[name] for name in _PLACES])])
        order = np.argsort(known)
        names = self._named(row)
        return replace(self, ids=known[order], columns=columns[:, order], texts=tuple(texts), names=names)

    def _named(self, row: Mapping[str, Numbers]) -> dict[str, dict[int, str]]:
        """The names with those of what some rows refer to."""
        names = {table: dict(self.names.get(table, {})) for table in REFERENCES}
        unknown = {table: set(row[table].tolist()) - {NO_ROW} - names[table].keys() for table in REFERENCES}
        for table, found in names_of(unknown).items():
            names[table].update(found)
        return names


class Memory:
    """What a process knows of experiments."""

    def __init__(self) -> None:
        self._known: dict[str, Experiments] = {}

    def experiments(self, state: str, ids: Numbers) -> Experiments:
        """The experiments of these ids, each given once and in order; those that are gone are not among them.

        ``state``: what ``naming.STATE`` was in the statement that found the ids.
        """
        known = self._known.get(state) or Experiments.none()
        found = known.among(ids)
        if len(found.ids) == len(ids):
            return found
        missing = np.setdiff1d(ids, found.ids, assume_unique=True)
        if len(known.ids) + len(missing) > MOST:
            known, missing = Experiments.none(), ids
        known = known.learnt(missing)
        if len(known.ids) <= MOST:
            others = [each for each in self._known.items() if each[0] != state]
            self._known = dict([*others, (state, known)][-STATES:])
        return known.among(ids)


MEMORY = Memory()
"""That of this process."""
