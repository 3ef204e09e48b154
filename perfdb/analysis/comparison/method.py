"""The comparison method as statements, which a page renders and tests verify.

Each statement has formula, reason, source and worked examples.
"""

from perfdb.analysis.comparison import worked_examples as examples
from perfdb.analysis.declaration import MethodStatement, WorkedExample

SMYTH = "Smyth, Linear models and empirical Bayes methods for assessing differential expression, 2004"
BENJAMINI = "Benjamini and Hochberg, Controlling the false discovery rate, 1995"
SCHUIRMANN = "Schuirmann, A comparison of the two one-sided tests procedure and the power approach, 1987"
KALIBERA = "Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013"
GEORGES = "Georges, Buytaert and Eeckhout, Statistically rigorous Java performance evaluation, OOPSLA 2007"
JAIN = "Jain, The Art of Computer Systems Performance Analysis, 1991"
COCHRAN = "Cochran, The combination of estimates from different experiments, 1954"


DIFFERENCE, NOISE, CELL = "The difference in per cent", "Noise", "One cell against its base"

_QUIET = ((100.0, 100.3, 99.8), (200.0, 200.5, 199.2), (300.0, 299.0, 300.7))

CELLS: tuple[MethodStatement, ...] = (
    MethodStatement(
        "difference",
        DIFFERENCE,
        "Difference",
        "D = 100 · (mean of new / mean of base − 1)",
        "The arithmetic means are not rounded before. D above zero means larger; whether that is better follows from "
        "the metric. It is printed without decimals, halves away from zero, and as n/a on a base of zero, below "
        "zero, or missing.",
        (
            WorkedExample(examples.difference, {"base": 2127.32, "new": 2539.11}, "19%"),
            WorkedExample(examples.difference, {"base": 13823.21, "new": 14341.54}, "4%"),
            WorkedExample(examples.difference, {"base": 31914.04, "new": 31900.0}, "0%"),
            WorkedExample(examples.difference, {"base": 0.0, "new": 3.0}, "n/a"),
        ),
    ),
    MethodStatement(
        "audit",
        DIFFERENCE,
        "Audit of published percentages",
        "100 · ((b − h)/(a + h) − 1) ... 100 · ((b + h)/(a − h) − 1), h = half of one in the last printed digit",
        "Printed operands are rounded, so their difference can lie anywhere in this interval. A printed percentage "
        "within half its last digit of it is consistent. Any other is kept and marked, with ours beside it.",
        (
            WorkedExample(
                examples.audit, {"base": "0.026", "new": "0.0244", "printed": "-4%"}, "-8.1% ... -4.1%: consistent"
            ),
            WorkedExample(
                examples.audit,
                {"base": "3.39", "new": "3.68", "printed": "27%"},
                "8.2% ... 8.9%: inconsistent, ours is 9%",
            ),
        ),
    ),
    MethodStatement(
        "spread",
        NOISE,
        "Spread of a cell",
        "s² = [Σ(ln a − mean)² + Σ(ln b − mean)²] / d, d = n_A + n_B − 2",
        "Everything is worked out on natural logarithms, whose standard deviation is the coefficient of variation. "
        "Each side varies around its own mean, so a change between the sides is not taken for noise.",
        (
            WorkedExample(
                examples.spread_text, {"base": (100.0, 101.0, 99.0), "new": (120.0, 121.0)}, "s = 0.884%, d = 3"
            ),
        ),
        JAIN,
    ),
    MethodStatement(
        "rounding",
        NOISE,
        "Rounding",
        "s² ≥ (q / mean)² / 12, q = one in the last printed digit",
        "Three trials that print as 118.0 are not without noise: they may differ by as much as the rounding hides.",
        (WorkedExample(examples.rounding, {"value": 118.0, "step": 0.1}, "5.98e-08"),),
    ),
    MethodStatement(
        "prior",
        NOISE,
        "What the cells of a group have in common",
        "z = ln s² − ψ(d/2) + ln(d/2), v = var(z) − mean ψ′(d/2), d0 = min(8, 2 · ψ′⁻¹(v)), "
        "s0² = exp(mean z + ψ(d0/2) − ln(d0/2))",
        "Cells with the same metric and kind of workload vary alike, and together they know more about their noise "
        "than each of them. d0 says how alike they are. With fewer than three cells, or when they differ by no more "
        "than chance (v not above 0), d0 is 8 and s0² their pooled variance.",
        (
            WorkedExample(
                examples.prior_text,
                {"cells": ((0.003538, 6), (0.004845, 6), (0.009241, 6), (0.014626, 6))},
                "s0 = 0.602%, d0 = 2.448",
            ),
            WorkedExample(examples.prior_text, {"cells": ((0.01, 2), (0.02, 4))}, "s0 = 1.732%, d0 = 8.000"),
        ),
        SMYTH,
    ),
    MethodStatement(
        "moderated",
        NOISE,
        "The noise that is used",
        "s̃² = (d0 · s0² + d · s²) / (d0 + d), f = max(1, min(d0 + d, Σd))",
        "A cell's own variance is drawn towards its group's, each weighted by its degrees of freedom. So a cell whose "
        "three trials happen to agree is not believed to be without noise.",
        (
            WorkedExample(
                examples.moderated,
                {"cell": (0.003538, 6), "s0": 0.0060156, "d0": 2.44807, "total": 24},
                "s = 0.440%, f = 8.448",
            ),
        ),
        SMYTH,
    ),
    MethodStatement(
        "noisy",
        NOISE,
        "Noisy cells",
        "s² / s0² > F(0.95; d, d0)",
        "A cell that varies more than chance allows in its group is not drawn towards it. It is judged by its own "
        "variance and freedom, and called noisy.",
        (
            WorkedExample(
                examples.noisy, {"cell": (0.014626, 6), "s0": 0.0060156, "d0": 2.44807}, "5.91 against 12.60: not noisy"
            ),
            WorkedExample(examples.noisy, {"cell": (0.03, 4), "s0": 0.01, "d0": 8.0}, "9.00 against 3.84: noisy"),
        ),
        SMYTH,
    ),
    MethodStatement(
        "history",
        NOISE,
        "History first",
        "H ≥ 3: s² = variance of the ln means of H campaigns, d = H − 1, n_A = n_B = 1",
        "Trials inside one campaign cannot see what a restart or another day changes; earlier campaigns can. Two "
        "configurations are compared by their pooled history, d = (H_A − 1) + (H_B − 1), if both have three "
        "campaigns or more.",
        (
            WorkedExample(
                examples.comparison,
                {"base": (100.0, 100.1, 99.9), "new": (105.0, 105.1, 104.9)},
                "+5%; higher; better; 95% interval +4.8% ... +5.2%; 3 against 3 trials; noise from trials (f = 4)",
            ),
            WorkedExample(
                examples.against_history,
                {"base": (100.0, 100.1, 99.9), "new": (105.0, 105.1, 104.9), "history": (98.0, 103.0, 100.0, 101.0)},
                "+5%; inconclusive: a change of 13% could have been seen; 95% interval -4.3% ... +15%; 3 "
                "against 3 trials; noise from history (f = 3); 18 campaigns a side would decide 2%",
            ),
        ),
        KALIBERA,
    ),
    MethodStatement(
        "sources",
        NOISE,
        "Where noise is looked for",
        "history, trials, trials of earlier campaigns on the same machine, trials of all workloads of the metric, none",
        "The first that has any is used, and every comparison says which. A group without repetitions of its own has "
        "s0 and d0 from the later sources.",
        (
            WorkedExample(
                examples.against_earlier,
                {"base": (100.0,), "new": (103.0,), "earlier": _QUIET},
                "+3%; single runs: outside the band (-1% ... +1%); better; 1 against 1 trial; noise from "
                "trials of earlier campaigns (f = 6); 1 more trial a side would decide 2%",
            ),
        ),
    ),
    MethodStatement(
        "ratio",
        CELL,
        "Ratio, interval and p",
        "d = mean ln B − mean ln A, se = s̃ · √(1/n_A + 1/n_B), ratio e^d, interval e^(d ± t(0.975, f) · se)",
        "The interval holds the ratios that agree with the trials; p is Student's t with f degrees of freedom. Any "
        "numbers of trials will do, also different ones, also one against many. Values that are zero or negative "
        "have no logarithm: they are shown and counted, left out here, and a warning says so.",
        (
            WorkedExample(
                examples.ratio_text,
                {"base": (100.0, 101.0, 99.0), "new": (104.0, 105.0, 103.0)},
                "ratio 1.0400, 95% interval 1.0171 ... 1.0634, p = 0.0081",
            ),
            WorkedExample(
                examples.ratio_text,
                {"base": (100.0,), "new": (104.0, 105.0, 103.0)},
                "ratio 1.0400, 95% interval 0.9915 ... 1.0909, p = 0.0717",
            ),
        ),
        KALIBERA,
    ),
    MethodStatement(
        "false-discovery",
        CELL,
        "Many cells at once",
        "q = the p adjusted by Benjamini and Hochberg over all p of the table and metric; changed: q < 0.05",
        "Of twenty cells without any change, one has p below 5 % by chance. Among the cells that q calls changed, at "
        "most one in twenty is expected not to be.",
        (WorkedExample(examples.adjusted, {"p": (0.001, 0.02, 0.03, 0.6)}, "0.004, 0.040, 0.040, 0.600"),),
        BENJAMINI,
    ),
    MethodStatement(
        "detectable",
        CELL,
        "What could have been seen",
        "exp((t(0.975, f) + t(0.8, f)) · se) − 1",
        "A change of this size would have been found four times in five. An inconclusive cell says it, so that nobody "
        "takes *not shown* for *not there*.",
        (
            WorkedExample(
                examples.comparison,
                {"base": (100.0, 104.0, 98.0), "new": (101.0, 97.0, 105.0)},
                "0%; inconclusive: a change of 11% could have been seen; 95% interval -7.4% ... +8.7%; 3 "
                "against 3 trials; noise from trials (f = 4); 47 more trials a side would decide 2%",
            ),
        ),
        JAIN,
    ),
    MethodStatement(
        "trials-needed",
        CELL,
        "How many trials it takes",
        "n = 2 · (2.8 · s / ln(1 + δ))² a side",
        "Twice the accuracy costs four times the trials. Where noise is that of history, campaigns are counted.",
        (
            WorkedExample(examples.needed, {"sd": 0.005, "delta": 0.02}, "1 a side to see 2%"),
            WorkedExample(examples.needed, {"sd": 0.01, "delta": 0.02}, "4 a side to see 2%"),
            WorkedExample(examples.needed, {"sd": 0.02, "delta": 0.02}, "16 a side to see 2%"),
        ),
        JAIN,
    ),
)


VERDICT, TABLE, TRIALS = "Verdicts", "A whole table", "The trials themselves"

VERDICTS: tuple[MethodStatement, ...] = (
    MethodStatement(
        "higher-lower",
        VERDICT,
        "Higher, lower",
        "q < 0.05",
        "The change is larger than noise explains. Better or worse then follows from the metric; metrics without a "
        "direction, such as utilisation, have neither.",
        (
            WorkedExample(
                examples.comparison,
                {"base": (100.0, 101.0, 99.0), "new": (110.0, 111.0, 109.0)},
                "+10%; higher; better; 95% interval +7.6% ... +12%; 3 against 3 trials; noise from trials (f = 4)",
            ),
            WorkedExample(
                examples.comparison,
                {"base": (5.0, 5.05, 4.95), "new": (4.0, 4.02, 3.98), "better": "lower"},
                "-20%; lower; better; 95% interval -21% ... -19%; 3 against 3 trials; noise from trials (f = 4)",
            ),
        ),
        GEORGES,
    ),
    MethodStatement(
        "but-within",
        VERDICT,
        "Higher or lower, but within 2%",
        "q < 0.05, and the 90% interval inside ±ln(1 + δ)",
        "There is a change, and it is too small to matter in practice. δ is a setting, 2 % unless changed.",
        (
            WorkedExample(
                examples.comparison,
                {"base": (100.0, 100.1, 99.9), "new": (100.6, 100.7, 100.5)},
                "+1%; higher, but within 2%; better; 95% interval +0.37% ... +0.83%; 3 against 3 trials; "
                "noise from trials (f = 4)",
            ),
        ),
        SCHUIRMANN,
    ),
    MethodStatement(
        "same",
        VERDICT,
        "Same within 2%",
        "q ≥ 0.05, and the 90% interval inside ±ln(1 + δ)",
        "This has been shown, by two one-sided tests at 5 %; it is more than a change that was not found.",
        (
            WorkedExample(
                examples.comparison,
                {"base": (100.0, 100.3, 99.8), "new": (100.1, 100.2, 99.9)},
                "0%; same within 2%; 95% interval -0.44% ... +0.51%; 3 against 3 trials; noise from trials (f = 4)",
            ),
        ),
        SCHUIRMANN,
    ),
    MethodStatement(
        "inconclusive",
        VERDICT,
        "Inconclusive",
        "q ≥ 0.05, and the 90% interval not inside ±ln(1 + δ)",
        "Neither a change nor sameness has been shown. Said with it: the smallest change that could have been seen, "
        "and how many more trials would decide.",
        (
            WorkedExample(
                examples.comparison,
                {"base": (100.0, 102.0), "new": (103.0, 101.5)},
                "+1%; inconclusive: a change of 6.8% could have been seen; 95% interval -4% ... +6.8%; 2 "
                "against 2 trials; noise from trials (f = 2); 5 more trials a side would decide 2%",
            ),
        ),
    ),
    MethodStatement(
        "band",
        VERDICT,
        "Single runs: inside or outside the band",
        "exp(± t(0.975, max(1, min(d0, Σd))) · s0 · √2)",
        "One trial on both sides has no p: nothing of the cell itself tells its noise. The band is how far one "
        "repetition lies from another when nothing has changed, by the noise of the group. Means printed without "
        "their trials are treated likewise.",
        (
            WorkedExample(
                examples.against_earlier,
                {"base": (100.0,), "new": (100.5,), "earlier": _QUIET},
                "+1%; single runs: inside the band (-1% ... +1%); 1 against 1 trial; noise from trials of"
                " earlier campaigns (f = 6); 1 more trial a side would decide 2%",
            ),
            WorkedExample(
                examples.against_earlier,
                {"base": (100.0,), "new": (108.0,), "earlier": _QUIET},
                "+8%; single runs: outside the band (-1% ... +1%); better; 1 against 1 trial; noise from "
                "trials of earlier campaigns (f = 6); 1 more trial a side would decide 2%",
            ),
        ),
    ),
    MethodStatement(
        "no-noise",
        VERDICT,
        "No noise estimate",
        "",
        "Nothing was ever repeated. The difference is printed, and nothing more can be said.",
        (
            WorkedExample(
                examples.comparison, {"base": (100.0,), "new": (150.0,)}, "+50%; noise unknown; 1 against 1 trial"
            ),
        ),
    ),
    MethodStatement(
        "not-comparable",
        VERDICT,
        "Not comparable",
        "",
        "One side is missing or has no positive value. The value of the other is shown without comparison.",
        (WorkedExample(examples.comparison, {"base": (), "new": (150.0,)}, "not comparable: the base is missing"),),
    ),
    MethodStatement(
        "summary",
        TABLE,
        "Summary of a table",
        "exp(m ± t(0.975, K − 1) · sd / √K), m and sd of the K log ratios, K ≥ 3",
        "The geometric mean of the ratios of one metric's matched cells, each counting the same. Smallest, largest and "
        "counts by verdict stand beside it; metrics and directions are never mixed.",
        (
            WorkedExample(
                examples.summary,
                {"base": _QUIET, "new": ((110.0, 110.4, 109.7), (221.0, 220.3, 219.4), (330.5, 329.0, 331.0))},
                "geometric mean of the ratios 1.101 (95% interval 1.099 ... 1.103); 3 cells: 3 higher, "
                "0 lower, 0 same; from 1.100 to 1.102",
            ),
        ),
        JAIN,
    ),
    MethodStatement(
        "uniform",
        TABLE,
        "May the summary stand alone?",
        "Q = Σ((d − weighted mean) / se)², no if Q / (K − 1) > F(0.95; K − 1, f), f the smallest of any cell",
        "Ratios that differ by more than their noise mean that the effect depends on something, and one figure for "
        "all of them misleads. This is Cochran's Q, held against F because the standard errors are estimates.",
        (
            WorkedExample(
                examples.summary,
                {"base": _QUIET, "new": ((101.0, 101.4, 100.7), (221.0, 220.3, 219.4), (390.5, 389.0, 391.0))},
                "geometric mean of the ratios 1.131 (95% interval 0.822 ... 1.557); 3 cells: 3 higher, "
                "0 lower, 0 same; from 1.010 to 1.301; the cells differ by more than their noise explains, "
                "so look at each of them",
            ),
        ),
        COCHRAN,
    ),
    MethodStatement(
        "mean-interval",
        TABLE,
        "Error bars of means",
        "mean · exp(± t(0.975, f) · s̃ / √n)",
        "In tables without a base the interval of each mean comes from the same moderated noise. There is none where "
        "nothing was repeated, or where a trial is zero or negative.",
        (WorkedExample(examples.mean_interval, {"trials": (98.0, 100.0, 102.0)}, "95.15 ... 105.09"),),
        GEORGES,
    ),
    MethodStatement(
        "far",
        TRIALS,
        "Trials far from the others",
        "|ln x − ln median| > 4 · s0, n ≥ 3",
        "Flagged and never dropped. It is called an outlier if it is also beyond what the other trials of its cell "
        "and group predict (t, at 1 % after Benjamini and Hochberg over all trials), and far otherwise.",
        (
            WorkedExample(
                examples.far_trials,
                {"cells": (*_QUIET, (400.0, 460.0, 401.0))},
                "outlier: cell 4: trial 2 is 460, 15% above the median of its cell, 401, where trials "
                "usually vary by 0.33%",
            ),
            WorkedExample(examples.far_trials, {"cells": _QUIET}, "no flag"),
        ),
    ),
    MethodStatement(
        "drift",
        TRIALS,
        "Drift over a campaign",
        "Σr / √Σ(1/(n − 1)) beyond the 1% points of the normal distribution, r = correlation of ln value and trial",
        "If the order of trials is of no importance, each cell's r has mean 0 and variance 1/(n − 1), whatever its "
        "noise. All cells with three trials or more are taken together; after a first run that stands out, only the "
        "trials behind it.",
        (
            WorkedExample(
                examples.drifting,
                {"cells": ((100.0, 99.0, 98.1), (50.0, 49.6, 49.2), (80.0, 79.1, 78.5), (30.0, 29.8, 29.3))},
                "drift: over 4 cells, values fall by 0.97% from trial to trial (p = 0.005)",
            ),
        ),
    ),
    MethodStatement(
        "cell-drift",
        TRIALS,
        "Drift in one cell",
        "t = r · √((n − 2) / (1 − r²)), n ≥ 5, at 1% after Benjamini and Hochberg over the cells",
        "With fewer than five trials, a slope in a single cell is what chance shows as well.",
        (
            WorkedExample(
                examples.drifting,
                {"cells": ((100.0, 101.1, 101.9, 103.0, 104.1),)},
                "cell-drift: cell 1: values rise by 0.99% from trial to trial, over 5 trials (p < 0.001)",
            ),
        ),
        JAIN,
    ),
    MethodStatement(
        "first-run",
        TRIALS,
        "First runs",
        "t = mean / (sd / √K) of ln trial 1 − mean ln of the later trials, K ≥ 5 cells, at 1%",
        "Cold caches and connections that are still to be made show in the first trial of every cell. The test is "
        "paired: each cell's first trial against its own later ones.",
        (
            WorkedExample(
                examples.first_trials,
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


# In reading order, by section.
DECLARATIONS: tuple[MethodStatement, ...] = (*CELLS, *VERDICTS)
