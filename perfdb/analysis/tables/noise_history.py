"""What earlier campaigns say about the noise of a table's cells.

A campaign is the runs of one study measured together at one level. Earlier is what began before every campaign that
is compared; only campaigns on the same systems count, for another machine has noise of its own.
"""

import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from perfdb.analysis.comparison.pair import NOTHING_KNOWN, Background
from perfdb.analysis.query.query import REPEATS
from perfdb.analysis.tables.table import Key, Observations, Row, Table, finite

# What may differ between two campaigns of one configuration.
COUPLED = frozenset({"level", "campaign"})

_CAMPAIGN = ("study", "system", "campaign", "level")


def background_of(
    table: Table, observations: Observations, earlier: Observations | None, groups: Iterable[Hashable]
) -> Background:
    """The history of a table's configurations, and the trials of its groups (kind, side) in earlier campaigns."""
    if earlier is None:
        return NOTHING_KNOWN
    rows = _earlier_rows(observations, earlier)
    place = earlier.place(table.measure)
    measured = [(row, value) for row in rows if (value := finite(row, place)) is not None]
    kinds = _samples_by_kind(earlier, measured)
    return Background(
        history=_history(table, earlier, measured),
        earlier={group: kinds.get(str(group[0]), ()) for group in groups if isinstance(group, tuple)},
    )


def _earlier_rows(observations: Observations, earlier: Observations) -> list[Row]:
    """The rows of campaigns that began before all of those in the table, on one of their systems."""
    mine, theirs = _began(observations), _began(earlier)
    if not mine:
        return []
    first = min(theirs.get(campaign, day) for campaign, day in mine.items())
    systems = {campaign[1] for campaign in mine}
    wanted = {
        campaign for campaign, day in theirs.items() if campaign not in mine and day < first and campaign[1] in systems
    }
    read = earlier.key(_CAMPAIGN)
    return [row for row in earlier.rows if read(row) in wanted]


def _began(observations: Observations) -> dict[Key, str]:
    """The first day of each campaign."""
    read, day_of = observations.key(_CAMPAIGN), observations.key(["date"])
    began: dict[Key, str] = {}
    for row in observations.rows:
        campaign, day = read(row), str(day_of(row)[0])
        began[campaign] = min(began.get(campaign, day), day)
    return began


_Measured = Sequence[tuple[Row, float]]


def _history(table: Table, earlier: Observations, measured: _Measured) -> Mapping[Hashable, Sequence[float]]:
    """For each configuration, by the dimensions the table shows, its mean in each campaign."""
    names = [name for name in table.query.shown if name not in COUPLED | REPEATS]
    configuration, campaign = earlier.key(names), earlier.key(_CAMPAIGN)
    samples: dict[Key, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in measured:
        samples[configuration(row)][campaign(row)].append(value)
    return {key: [statistics.fmean(values) for values in by.values()] for key, by in samples.items()}


def _samples_by_kind(earlier: Observations, measured: _Measured) -> Mapping[str, Sequence[Sequence[float]]]:
    """The trials of each experiment, by its traffic pattern."""
    experiment = earlier.key([name for name in earlier.dimensions if name not in REPEATS])
    kind = earlier.key(["workload"])
    samples: dict[str, dict[Key, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in measured:
        samples[str(kind(row)[0] or "").partition(" ")[0]][experiment(row)].append(value)
    return {name: [tuple(values) for values in by.values()] for name, by in samples.items()}
