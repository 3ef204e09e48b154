"""How a uperf run ended, by its messages and by whether its statistics are all there."""

import re
from collections.abc import Sequence

from importers.key_values import whole
from importers.model import Status
from importers.problem_log import ProblemLog
from importers.uperf.blocks import Block
from importers.uperf.line_patterns import Piece

_AGAIN = "Measure again."
_FAILURES = re.compile(
    r"\*\*\* Slave aborted! \*\*\*|Error connecting to .*|\*\* TCP: Cannot connect to .*|Error parsing .*|Error 1: .*"
    r"|Wrong goodbye magic.*|Error saying goodbye.*"
)
_ABORTED = re.compile(r"\*\*\* Slave aborted! \*\*\*|Wrong goodbye magic.*|Error saying goodbye.*")
_INTERRUPTED = re.compile(r"Got SIG\w+.*")
_HUNG_PERCENT = 5.0


def judge(block: Block, measured: str | None, found: ProblemLog) -> Status:
    """The run's status; anything but complete comes with a warning that says what uperf said."""
    failure = _first(block.others, _FAILURES)
    aborted = _first(block.others, _ABORTED)
    interrupted = _first(block.others, _INTERRUPTED)
    whole = block.difference is not None and any(host.strip() == "master" for (host,), _ in block.hosts)
    if aborted is not None or (failure is not None and not whole):
        cause = aborted or failure
        _warn_failed(block, cause.line if cause else block.last_line, found)
        return Status.FAILED
    if interrupted is not None:
        message = f"The run was interrupted ({interrupted.text.strip()}); its figures are not used."
        found.warn("uperf.interrupted", message, _AGAIN, interrupted.line)
        return Status.INCOMPLETE
    if not whole:
        message = "The log ends before its run statistics: it was cut off, or uperf was killed."
        found.warn("uperf.cut-off", message, "Transfer the file again, or measure again.", block.last_line)
        return Status.INCOMPLETE
    if measured is None or not _did_something(block, measured):
        message = "No transaction moved data or finished an operation; there are no figures."
        found.warn("uperf.nothing-done", message, "Check profile and slave, then measure again.", block.last_line)
        return Status.FAILED
    _warn_of_errors(block, found)
    _warn_of_hung_slave(block, found)
    return Status.COMPLETE


def _first(pieces: Sequence[Piece], pattern: re.Pattern[str]) -> Piece | None:
    return next((piece for piece in pieces if pattern.match(piece.text)), None)


def failures(block: Block) -> str:
    """What uperf said of its failure, at most three different messages; empty where it said nothing."""
    said = [piece.text.strip()[:150] for piece in block.others if _FAILURES.match(piece.text)]
    return "; ".join(dict.fromkeys(said[:3]))


def _warn_failed(block: Block, line: int, found: ProblemLog) -> None:
    message = f"uperf failed: {failures(block)}. None of its figures is used."
    found.warn("uperf.failed", message, "Check slave, profile and variables, then measure again.", line)


def _did_something(block: Block, measured: str) -> bool:
    rows = block.raw.get(measured) or block.progress.get(measured) or []
    # Of both kinds of lines operations are the last that they say.
    return bool(rows) and whole(rows[-1][0][-1]) > 0


def _warn_of_errors(block: Block, found: ProblemLog) -> None:
    if block.errors is None:
        return
    said = [piece.text.strip()[:150] for piece in block.others if piece.text.startswith("** ")]
    causes = f" ({'; '.join(dict.fromkeys(said[:3]))})" if said else ""
    message = f"uperf counted {block.errors.text} errors during the run{causes}; its figures are complete."
    found.warn("uperf.errors", message, "See whether so many errors matter for the result.", block.errors.line)


def _warn_of_hung_slave(block: Block, found: ProblemLog) -> None:
    """The slave's time differs from the master's. With CRR it waits ten seconds more, which is uperf's way."""
    differ = block.difference
    if differ is None or "n" in differ.text or abs(float(differ.text)) <= _HUNG_PERCENT or block.connects_always:
        return
    message = f"Slave and master differ by {differ.text} % in time: the slave may have hung."
    found.warn("uperf.slave-time", message, "Compare with other runs of this experiment.", differ.line)
