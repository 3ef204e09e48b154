"""What experiments are, kept in the memory of a process: an experiment's row is written once and never changed.

All that tells runs apart but their trial, day and name is their experiment's. Reading that anew with every run takes
PostgreSQL longer than all else of a question.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from perfdb.results import packed
from perfdb.results.packed import Numbers

MOST = 100_000
"""So many experiments are kept, at some 100 bytes each; with more it begins anew."""

TABLE = "pg_relation_filenode('experiment')::bigint"
"""SQL for what is another number where the table is another one, in which an id may stand for another experiment."""

REFERENCES = ("study", "system", "level", "workload", "device")
NUMBERS = ("mtu", "users", "layer")
TEXTS = ("campaign", "factors")
_NAMES = (*REFERENCES, *NUMBERS, *TEXTS)
_COLUMNS = {
    "id": packed.row_number("id"),
    **{name: packed.row_number(f"{name}_id") for name in REFERENCES},
    **{name: packed.number(name) for name in NUMBERS},
    "campaign": packed.text("NULLIF(campaign, '')"),
    "factors": packed.text("factors::text"),
}


@dataclass(frozen=True, slots=True)
class Experiments:
    """Experiments of a table in the order of their ids.

    ``columns``: a row for each of ``REFERENCES``, ``NUMBERS`` and ``TEXTS``; of a text (factors are JSON) its place in
    ``texts``. Threads share it: what is learnt makes another one.
    """

    table: int
    ids: Numbers
    columns: Numbers
    texts: Sequence[str | None] = ()

    @classmethod
    def none(cls, table: int) -> Self:
        """Nothing is known of a table yet."""
        return cls(table, np.empty(0, np.int64), np.empty((len(_NAMES), 0), np.int64))

    def column(self, name: str) -> Numbers:
        """A column by its name."""
        found: Numbers = self.columns[_NAMES.index(name)]
        return found

    def among(self, ids: Numbers) -> Self:
        """Those that are known of these ids, which are given in order."""
        at = np.searchsorted(self.ids, ids)
        at = at[at < len(self.ids)]
        at = at[self.ids[at] == ids[: len(at)]]
        return replace(self, ids=self.ids[at], columns=self.columns[:, at])

    def learnt(self, ids: Numbers) -> Self:
        """These, and others that are read; what is gone meanwhile is not among them."""
        row, _ = packed.read(_COLUMNS, "experiment WHERE id = ANY(%s)", [ids.tolist()])
        if not row:
            return self
        texts = {text: place for place, text in enumerate(self.texts)}
        for name in TEXTS:
            row[name] = np.array([texts.setdefault(text, len(texts)) for text in row[name]])
        known = np.concatenate([self.ids, row["id"]])
        columns = np.hstack([self.columns, np.vstack([row[name] for name in _NAMES])])
        order = np.argsort(known)
        return replace(self, ids=known[order], columns=columns[:, order], texts=tuple(texts))


class Memory:
    """What a process knows of experiments."""

    def __init__(self) -> None:
        self._known = Experiments.none(0)

    def experiments(self, table: int, ids: Numbers) -> Experiments:
        """The experiments of these ids, each given once and in order; those that are gone are not among them.

        ``table``: what ``TABLE`` was in the statement that found the ids.
        """
        known = self._known if self._known.table == table else Experiments.none(table)
        found = known.among(ids)
        if len(found.ids) == len(ids):
            return found
        missing = np.setdiff1d(ids, found.ids, assume_unique=True)
        if len(known.ids) + len(missing) > MOST:
            known, missing = Experiments.none(table), ids
        known = known.learnt(missing)
        if len(known.ids) <= MOST:
            self._known = known
        return known.among(ids)


MEMORY = Memory()
"""That of this process."""
