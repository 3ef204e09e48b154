"""The test plan of a study: parts with lists of values by dimension."""

from collections.abc import Mapping, Sequence
from typing import Any

from perfdb.analysis.insights import plan_coverage
from perfdb.analysis.insights.plan_coverage import Part
from perfdb.analysis.query.parameters import QueryError

# Keys of a part besides its lists of values.
ABOUT = ("name", "figure", "trials")
MAX_PARTS = 100


def parse_plan(written: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Return the parts of a stored plan. Raise QueryError."""
    if len(written) > MAX_PARTS:
        raise QueryError("plan", f"a plan has at most {MAX_PARTS} parts")
    found = []
    for number, part in enumerate(written, 1):
        name = str(part.get("name") or f"part {number}")
        lists = {key: values for key, values in part.items() if key not in ABOUT}
        for key, values in lists.items():
            if not isinstance(values, list):
                raise QueryError("plan", f"part {name!r}: {key} is not a list of values")
            if not all(isinstance(value, str | int) for value in values):
                raise QueryError("plan", f"part {name!r}: {key} has a value that is neither text nor number")
        found.append(plan_coverage.parse_part(name, lists, _trials(name, part.get("trials"))))
    return found


def _trials(name: str, given: object) -> int | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given > 0):
        return given
    raise QueryError("plan", f"part {name!r}: trials must be a whole number above 0, not {given!r}")


def check_plan(written: object) -> list[dict[str, Any]]:
    """Return a plan that a study may store. Raise QueryError."""
    if not isinstance(written, list) or not all(isinstance(part, dict) for part in written):
        raise QueryError("plan", "a plan is a list of parts, each with lists of values by dimension")
    for part in written:
        for name in ("name", "figure"):
            if not isinstance(part.get(name, ""), str):
                raise QueryError("plan", f"the {name} of a part is a text")
    parse_plan(written)
    return written
