"""Objects kept on disk while an import lasts, for those that are too many for the memory."""

import pickle
from tempfile import TemporaryFile
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Shelf(Generic[_T]):
    """A nameless file: nobody else can open it, and it goes with the process. What is put there is our own."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - it is open as long as the shelf is there

    def put(self, item: _T) -> int:
        """Keep an object; answers its place."""
        place = self._file.seek(0, 2)
        pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)
        return place

    def at(self, place: int) -> _T:
        """The object that was kept there, a new one each time."""
        self._file.seek(place)
        item: _T = pickle.load(self._file)
        return item
