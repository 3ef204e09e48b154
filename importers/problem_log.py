"""Collector of the problems of one file."""

from dataclasses import dataclass, field

from importers.model import Problem, Severity

_WARNING = Severity.WARNING  # Python 3.11 looks a member of an enumeration up in four times the time.


@dataclass(slots=True)
class ProblemLog:
    """The problems of a file, each with the file's name and the run concerned."""

    file: str
    run_id: str | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def errors(self) -> bool:
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    def add(self, severity: Severity, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        # By its own name a named tuple is made in twice the time, and a file of failed results has very many.
        self.problems.append(tuple.__new__(Problem, (severity, code, message, remedy, self.file, line, self.run_id)))

    def error(self, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        self.add(Severity.ERROR, code, message, remedy, line)

    def warn(self, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        self.add(_WARNING, code, message, remedy, line)

    def note(self, code: str, message: str, remedy: str = "", line: int | None = None) -> None:
        self.add(Severity.NOTE, code, message, remedy, line)
