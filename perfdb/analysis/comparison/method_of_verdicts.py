"""What is concluded, declared: verdicts, summaries, flags of trials."""

from perfdb.analysis.comparison import worked_examples
from perfdb.analysis.comparison.method_statement import COCHRAN, GEORGES, JAIN, SCHUIRMANN, Declaration, Example

VERDICT, TABLE, TRIALS = "Verdicts", "A whole table", "The trials themselves"

_QUIET = ((100.0, 100.3, 99.8), (200.0, 200.5, 199.2), (300.0, 299.0, 300.7))

VERDICTS: tuple[Declaration, ...] = (
    Declaration(
        "higher-lower",
        VERDICT,
        "Higher, lower",
        "q < 0.05",
        "The change is larger than noise explains. Better or worse then follows from the metric; metrics without a "
        "direction, such as utilisation, have neither.",
        (
            Example(
                worked_examples.comparison,
                {"base": (100.0, 101.0, 99.0), "new": (110.0, 111.0, 109.0)},
                "+10%; higher; better; 95% interval +7.6% ... +12%; 3 against 3 trials; noise from trials (f = 4)",
            ),
            Example(
                worked_examples.comparison,
                {"base": (5.0, 5.05, 4.95), "new": (4.0, 4.02, 3.98), "better": "lower"},
                "-20%; lower; better; 95% interval -21% ... -19%; 3 against 3 trials; noise from trials (f = 4)",
            ),
        ),
        GEORGES,
    ),
    Declaration(
        "but-within",
        VERDICT,
        "Higher or lower, but within 2%",
        "q < 0.05, and the 90% interval inside ±ln(1 + δ)",
        "There is a change, and it is too small to matter in practice. δ is a setting, 2 % unless changed.",
        (
            Example(
                worked_examples.comparison,
                {"base": (100.0, 100.1, 99.9), "new": (100.6, 100.7, 100.5)},
                "+1%; higher, but within 2%; better; 95% interval +0.37% ... +0.83%; 3 against 3 trials; "
                "noise from trials (f = 4)",
            ),
        ),
        SCHUIRMANN,
    ),
    Declaration(
        "same",
        VERDICT,
        "Same within 2%",
        "q ≥ 0.05, and the 90% interval inside ±ln(1 + δ)",
        "This has been shown, by two one-sided tests at 5 %; it is more than a change that was not found.",
        (
            Example(
                worked_examples.comparison,
                {"base": (100.0, 100.3, 99.8), "new": (100.1, 100.2, 99.9)},
                "0%; same within 2%; 95% interval -0.44% ... +0.51%; 3 against 3 trials; noise from trials (f = 4)",
            ),
        ),
        SCHUIRMANN,
    ),
    Declaration(
        "inconclusive",
        VERDICT,
        "Inconclusive",
        "q ≥ 0.05, and the 90% interval not inside ±ln(1 + δ)",
        "Neither a change nor sameness has been shown. Said with it: the smallest change that could have been seen, "
        "and how many more trials would decide.",
        (
            Example(
                worked_examples.comparison,
                {"base": (100.0, 102.0), "new": (103.0, 101.5)},
                "+1%; inconclusive: a change of 6.8% could have been seen; 95% interval -4% ... +6.8%; 2 "
                "against 2 trials; noise from trials (f = 2); 5 more trials a side would decide 2%",
            ),
        ),
    ),
    Declaration(
        "band",
        VERDICT,
        "Single runs: inside or outside the band",
        "exp(± t(0.975, max(1, min(d0, Σd))) · s0 · √2)",
        "One trial on both sides has no p: nothing of the cell itself tells its noise. The band is how far one "
        "repetition lies from another when nothing has changed, by the noise of the group. Means printed without "
        "their trials are treated likewise.",
        (
            Example(
                worked_examples.against_earlier,
                {"base": (100.0,), "new": (100.5,), "earlier": _QUIET},
                "+1%; single runs: inside the band (-1% ... +1%); 1 against 1 trial; noise from trials of"
                " earlier campaigns (f = 6); 1 more trial a side would decide 2%",
            ),
            Example(
                worked_examples.against_earlier,
                {"base": (100.0,), "new": (108.0,), "earlier": _QUIET},
                "+8%; single runs: outside the band (-1% ... +1%); better; 1 against 1 trial; noise from "
                "trials of earlier campaigns (f = 6); 1 more trial a side would decide 2%",
            ),
        ),
    ),
    Declaration(
        "no-noise",
        VERDICT,
        "No noise estimate",
        "",
        "Nothing was ever repeated. The difference is printed, and nothing more can be said.",
        (
            Example(
                worked_examples.comparison,
                {"base": (100.0,), "new": (150.0,)},
                "+50%; noise unknown; 1 against 1 trial",
            ),
        ),
    ),
    Declaration(
        "not-comparable",
        VERDICT,
        "Not comparable",
        "",
        "One side is missing or has no positive value. The value of the other is shown without comparison.",
        (Example(worked_examples.comparison, {"base": (), "new": (150.0,)}, "not comparable: the base is missing"),),
    ),
    Declaration(
        "summary",
        TABLE,
        "Summary of a table",
        "exp(m ± t(0.975, K − 1) · sd / √K), m and sd of the K log ratios, K ≥ 3",
        "The geometric mean of the ratios of one metric's matched cells, each counting the same. Smallest, largest and "
        "counts by verdict stand beside it; metrics and directions are never mixed.",
        (
            Example(
                worked_examples.summary,
                {"base": _QUIET, "new": ((110.0, 110.4, 109.7), (221.0, 220.3, 219.4), (330.5, 329.0, 331.0))},
                "geometric mean of the ratios 1.101 (95% interval 1.099 ... 1.103); 3 cells: 3 higher, "
                "0 lower, 0 same; from 1.100 to 1.102",
            ),
        ),
        JAIN,
    ),
    Declaration(
        "uniform",
        TABLE,
        "May the summary stand alone?",
        "Q = Σ((d − weighted mean) / se)², no if Q / (K − 1) > F(0.95; K − 1, f), f the smallest of any cell",
        "Ratios that differ by more than their noise mean that the effect depends on something, and one figure for "
        "all of them misleads. This is Cochran's Q, held against F because the standard errors are estimates.",
        (
            Example(
                worked_examples.summary,
                {"base": _QUIET, "new": ((101.0, 101.4, 100.7), (221.0, 220.3, 219.4), (390.5, 389.0, 391.0))},
                "geometric mean of the ratios 1.131 (95% interval 0.822 ... 1.557); 3 cells: 3 higher, "
                "0 lower, 0 same; from 1.010 to 1.301; the cells differ by more than their noise explains, "
                "so look at each of them",
            ),
        ),
        COCHRAN,
    ),
    Declaration(
        "mean-interval",
        TABLE,
        "Error bars of means",
        "mean · exp(± t(0.975, f) · s̃ / √n)",
        "In tables without a base the interval of each mean comes from the same moderated noise. There is none where "
        "nothing was repeated, or where a trial is zero or negative.",
        (Example(worked_examples.mean_interval, {"trials": (98.0, 100.0, 102.0)}, "95.15 ... 105.09"),),
        GEORGES,
    ),
    Declaration(
        "far",
        TRIALS,
        "Trials far from the others",
        "|ln x − ln median| > 4 · s0, n ≥ 3",
        "Flagged and never dropped. It is called an outlier if it is also beyond what the other trials of its cell "
        "and group predict (t, at 1 % after Benjamini and Hochberg over all trials), and far otherwise.",
        (
            Example(
                worked_examples.far_trials,
                {"cells": (*_QUIET, (400.0, 460.0, 401.0))},
                "outlier: cell 4: trial 2 is 460, 15% above the median of its cell, 401, where trials "
                "usually vary by 0.33%",
            ),
            Example(worked_examples.far_trials, {"cells": _QUIET}, "no flag"),
        ),
    ),
    Declaration(
        "drift",
        TRIALS,
        "Drift over a campaign",
        "Σr / √Σ(1/(n − 1)) beyond the 1% points of the normal distribution, r = correlation of ln value and trial",
        "If the order of trials is of no importance, each cell's r has mean 0 and variance 1/(n − 1), whatever its "
        "noise. All cells with three trials or more are taken together; after a first run that stands out, only the "
        "trials behind it.",
        (
            Example(
                worked_examples.drifting,
                {"cells": ((100.0, 99.0, 98.1), (50.0, 49.6, 49.2), (80.0, 79.1, 78.5), (30.0, 29.8, 29.3))},
                "drift: over 4 cells, values fall by 0.97% from trial to trial (p = 0.005)",
            ),
        ),
    ),
    Declaration(
        "cell-drift",
        TRIALS,
        "Drift in one cell",
        "t = r · √((n − 2) / (1 − r²)), n ≥ 5, at 1% after Benjamini and Hochberg over the cells",
        "With fewer than five trials, a slope in a single cell is what chance shows as well.",
        (
            Example(
                worked_examples.drifting,
                {"cells": ((100.0, 101.1, 101.9, 103.0, 104.1),)},
                "cell-drift: cell 1: values rise by 0.99% from trial to trial, over 5 trials (p < 0.001)",
            ),
        ),
        JAIN,
    ),
    Declaration(
        "first-run",
        TRIALS,
        "First runs",
        "t = mean / (sd / √K) of ln trial 1 − mean ln of the later trials, K ≥ 5 cells, at 1%",
        "Cold caches and connections that are still to be made show in the first trial of every cell. The test is "
        "paired: each cell's first trial against its own later ones.",
        (
            Example(
                worked_examples.first_trials,
                {
                    "cells": (
                        (95.0, 100.0, 100.4),
                        (47.0, 50.0, 49.8),
                        (19.2, 20.0, 20.1),
                        (75.0, 80.0, 79.0),
                        (38.2, 40.0, 40.3),
                    )
                },
                "first-run: trial 1 is 5.2% below the later trials on average, over 5 cells (p < 0.001)",
            ),
        ),
        JAIN,
    ),
)
