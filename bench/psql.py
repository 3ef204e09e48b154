"""psql as a floor: one process that answers statement after statement, as a person at a terminal would see it."""

import subprocess
from collections.abc import Mapping

_END = "--end of the answer--"
_SEPARATOR = "\x1f"


class Psql:
    """A psql that stays open; ``rows`` are read to the last byte, so that sending them is part of the time."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        argv = ["psql", "-XqAt", "-F", _SEPARATOR, "-v", "ON_ERROR_STOP=1"]
        self._process = subprocess.Popen(
            argv, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def answer(self, statement: str) -> list[str]:
        """The lines of the answer, as printed; raises RuntimeError where the statement fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{statement};\n\\echo {_END}\n")
        self._process.stdin.flush()
        lines: list[str] = []
        for line in self._process.stdout:
            if line.rstrip("\n") == _END:
                return lines
            lines.append(line)
        raise RuntimeError("psql refused a statement; its message stands above")

    def rows(self, statement: str) -> list[list[str]]:
        """The same, cut into columns."""
        return [line.rstrip("\n").split(_SEPARATOR) for line in self.answer(statement)]

    def close(self) -> None:
        """End it."""
        self._process.communicate("\\q\n")
