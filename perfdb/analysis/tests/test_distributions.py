"""Many p at once, held against scipy's own procedure; and that nothing pays for the machinery around it."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from perfdb.analysis.verdicts.distributions import false_discovery


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_q_is_that_of_scipy(ps: list[float]) -> None:
    assert false_discovery(ps) == pytest.approx(stats.false_discovery_control(ps).tolist())


def test_each_q_stays_with_its_p() -> None:
    # 0.04 · 3 / 3 is less than 0.03 · 3 / 2, so both have the same q.
    assert false_discovery([0.04, 0.001, 0.03]) == pytest.approx([0.04, 0.003, 0.04])
    assert false_discovery([]) == []


@pytest.mark.parametrize(
    "module", ["perfdb.analysis.tables.baseline_comparison", "perfdb.analysis.insights.method_statements"]
)
def test_comparing_does_not_load_the_whole_of_statistics(module: str) -> None:
    program = f"import sys, {module}; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
