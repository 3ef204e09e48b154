"""The runs of a question among runs that were read before, for pages that ask many questions of the same ones.

The rows chosen are those that `perfdb.results.queries.conditions.narrow_runs` chooses in the database; a test
compares both.
Rows do not hold tags: a question that names one is for the database.
"""

from collections.abc import Callable, Sequence

from perfdb.analysis.dimensions import Value
from perfdb.analysis.query.parameters import QueryError, Range, ordered
from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.table import Observations, Row

_Test = Callable[[Row], bool]


def narrowed(query: Query, found: Observations) -> Observations:
    """Of these runs those that a query's filters, exclusions and ranges leave; raises QueryError for a tag."""
    tests = [_among(found, name, values) for name, values in query.filters.items()]
    tests += [_not(_among(found, name, values)) for name, values in query.exclude.items()]
    tests += [_within(found, name, ends) for name, ends in query.ranges.items()]
    return found.only([row for row in found.rows if all(test(row) for test in tests)])


def _among(found: Observations, name: str, values: Sequence[Value]) -> _Test:
    if name == "tag":
        raise QueryError(name, "tags are not among what was read of these runs")
    wanted = set(values)
    if name == "run":
        return lambda row: row[0] in wanted
    read = found.key([name])
    if name == "workload":
        # RR is every workload of that pattern, whatever its sizes.
        return lambda row: (text := read(row)[0]) in wanted or str(text or "").partition(" ")[0] in wanted
    return lambda row: read(row)[0] in wanted


def _not(test: _Test) -> _Test:
    return lambda row: not test(row)


def _within(found: Observations, name: str, ends: Range) -> _Test:
    read = found.key([name])

    def test(row: Row) -> bool:
        (value,) = read(row)
        if value is None:
            return False
        above = ends.low is None or ordered(ends.low) <= ordered(value)
        return above and (ends.high is None or ordered(value) <= ordered(ends.high))

    return test
