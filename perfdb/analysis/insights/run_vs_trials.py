"""Flags of a table's trials, and a run compared with the other trials of its experiment."""

import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from perfdb.analysis.dimensions import describe_values
from perfdb.analysis.metrics import BY_NAME, Measure, Metric
from perfdb.analysis.tables.baseline_comparison import full_key
from perfdb.analysis.tables.table import Table
from perfdb.analysis.tables.tabulate import pattern_reader
from perfdb.analysis.units import finest_step
from perfdb.analysis.verdicts.borrowing import Drawn
from perfdb.analysis.verdicts.flags import FEWEST_TRIALS, Flag, Trial, TrialCell, check_trials
from perfdb.analysis.verdicts.trials import expect_trial, find_noise, mean_intervals


@dataclass(frozen=True, slots=True)
class RunVsTrials:
    """One measure of a run beside its experiment's trials, in the metric's unit.

    ``trials`` are the experiment's trials that count, in order; the run may be one of them. ``mean`` and the 95%
    ``interval`` (None for fewer than two) are of all trials. ``percent`` compares the run with the mean of the other
    trials; None without others or for a mean of zero. ``expected``: where a further trial lies with 95%, from the
    others and the noise of the campaign without the run; None if unknown. ``flags`` concern the run.
    """

    measure: Measure
    run: Hashable
    value: float
    trials: tuple[Trial, ...]
    mean: float | None
    interval: tuple[float, float] | None
    percent: float | None
    expected: tuple[float, float] | None
    flags: tuple[Flag, ...]

    @property
    def others(self) -> int:
        """Return the number of other trials."""
        return len(self.trials) - any(trial.run == self.run for trial in self.trials)

    @property
    def is_usual(self) -> bool | None:
        """Return whether the run lies where its repeats let expect one; None if too few tell."""
        if self.flags:
            return False
        if self.expected is None or self.others < FEWEST_TRIALS - 1:
            return None
        return self.expected[0] <= self.value <= self.expected[1]

    @property
    def metric(self) -> Metric:
        """Return the declared metric."""
        return BY_NAME[self.measure.metric]


def compare_with_trials(
    measure: Measure, run: Hashable, value: float, experiment: Hashable, campaign: Mapping[Hashable, Sequence[Trial]]
) -> RunVsTrials:
    """Compare a run with the experiment's other trials, given all of the campaign."""
    cells = [_cell(measure, each == experiment, trials) for each, trials in campaign.items()]
    samples = [[trial.value for trial in cell.trials] for cell in cells]
    own = tuple(campaign.get(experiment, ()))
    place = list(campaign).index(experiment) if own else None
    others = [trial.value for trial in own if trial.run != run]
    middle = statistics.fmean(others) if others else 0.0
    interval = expected = None
    if place is not None:
        interval = mean_intervals(samples, _noises(cells, samples))[place]
        samples[place] = others
        expected = expect_trial(others, _noises(cells, samples)[place])
    return RunVsTrials(
        measure=measure,
        run=run,
        value=value,
        trials=own,
        mean=statistics.fmean(trial.value for trial in own) if own else None,
        interval=interval if len(own) > 1 else None,
        percent=100 * (value / middle - 1) if middle else None,
        expected=expected,
        flags=tuple(flag for flag in check_trials(cells) if run in flag.runs),
    )


def _noises(cells: Sequence[TrialCell], samples: Sequence[Sequence[float]]) -> list[Drawn | None]:
    return find_noise(samples, [cell.kind for cell in cells], [cell.step for cell in cells])[0]


def _cell(measure: Measure, own: bool, trials: Sequence[Trial]) -> TrialCell:
    title = BY_NAME[measure.metric].title if own else "another experiment"
    return TrialCell(lambda: title, tuple(trials), "campaign", finest_step([trial.value for trial in trials]))


def trial_flags(table: Table) -> list[Flag]:
    """Return flags of a table's trials by run number, without cells of mixed work."""
    pattern = pattern_reader(table.query, table.common)
    return check_trials(
        [
            TrialCell(
                partial(describe_values, table.query.layout_names, full_key(table, key)),
                [Trial(run, trial if isinstance(trial, int) else None, value) for run, _, trial, value in cell.sample],
                pattern(full_key(table, key)),
                cell.step,
            )
            for key, cell in table.cells.items()
            if not cell.mixed_work
        ]
    )
