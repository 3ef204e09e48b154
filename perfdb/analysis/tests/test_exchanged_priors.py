"""A group with one of its cells exchanged is the group that has the other cell, however many are exchanged at once."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfdb.analysis.comparison.leave_one_out import exchange_one, inverse_trigammas, moderate_each
from perfdb.analysis.comparison.noise import fit_prior, inverse_trigamma, moderate, pools
from perfdb.analysis.comparison.spreads import Spread, Spreads

KNOWN = st.builds(Spread, st.floats(1e-10, 1.0), st.integers(1, 9))
ANY = st.builds(Spread, st.floats(1e-10, 1.0) | st.just(0.0), st.integers(0, 9))


@settings(deadline=None)
@given(st.lists(KNOWN, min_size=1, max_size=30), st.lists(ANY, min_size=1, max_size=5))
def test_each_exchange_is_as_if_the_group_had_been_that(group: list[Spread], others: list[Spread]) -> None:
    pool = pools(Spreads.from_each(group), [len(group)])[0]
    old = Spreads.from_each([group[at % len(group)] for at in range(len(others))])
    priors = exchange_one(pool, old, Spreads.from_each(others))
    variances, freedoms = moderate_each(Spreads.from_each(others), priors)
    for at, new in enumerate(others):
        place = at % len(group)
        fitted = fit_prior([new, *group[:place], *group[place + 1 :]])
        if fitted is None:
            assert math.isnan(priors.variances[at])
            continue
        assert priors.totals[at] == fitted.total
        assert (priors.variances[at], priors.freedoms[at]) == pytest.approx(fitted[:2], rel=1e-6)
        used = moderate(new, fitted)
        assert (variances[at], freedoms[at]) == pytest.approx((used.variance, used.freedom), rel=1e-6)


@settings(deadline=None)
@given(st.lists(st.floats(1e-12, 1e6), min_size=1, max_size=20))
def test_many_inverse_trigammas_are_those_of_each(values: list[float]) -> None:
    assert inverse_trigammas(np.array(values)).tolist() == pytest.approx([inverse_trigamma(each) for each in values])
