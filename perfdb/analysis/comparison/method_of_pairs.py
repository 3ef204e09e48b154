"""How one cell is set against its base, declared: difference, noise, ratio."""

from perfdb.analysis.comparison import worked_examples
from perfdb.analysis.comparison.method_statement import BENJAMINI, JAIN, KALIBERA, SMYTH, Declaration, Example

DIFFERENCE, NOISE, CELL = "The difference in per cent", "Noise", "One cell against its base"

_QUIET = ((100.0, 100.3, 99.8), (200.0, 200.5, 199.2), (300.0, 299.0, 300.7))

CELLS: tuple[Declaration, ...] = (
    Declaration(
        "difference",
        DIFFERENCE,
        "Difference",
        "D = 100 · (mean of new / mean of base − 1)",
        "The arithmetic means are not rounded before. D above zero means larger; whether that is better follows from "
        "the metric. It is printed without decimals, halves away from zero, and as n/a on a base of zero, below "
        "zero, or missing.",
        (
            Example(worked_examples.difference, {"base": 2127.32, "new": 2539.11}, "19%"),
            Example(worked_examples.difference, {"base": 13823.21, "new": 14341.54}, "4%"),
            Example(worked_examples.difference, {"base": 31914.04, "new": 31900.0}, "0%"),
            Example(worked_examples.difference, {"base": 0.0, "new": 3.0}, "n/a"),
        ),
    ),
    Declaration(
        "audit",
        DIFFERENCE,
        "Audit of published percentages",
        "100 · ((b − h)/(a + h) − 1) ... 100 · ((b + h)/(a − h) − 1), h = half of one in the last printed digit",
        "Printed operands are rounded, so their difference can lie anywhere in this interval. A printed percentage "
        "within half its last digit of it is consistent. Any other is kept and marked, with ours beside it.",
        (
            Example(
                worked_examples.audit,
                {"base": "0.026", "new": "0.0244", "printed": "-4%"},
                "-8.1% ... -4.1%: consistent",
            ),
            Example(
                worked_examples.audit,
                {"base": "3.39", "new": "3.68", "printed": "27%"},
                "8.2% ... 8.9%: inconsistent, ours is 9%",
            ),
        ),
    ),
    Declaration(
        "spread",
        NOISE,
        "Spread of a cell",
        "s² = [Σ(ln a − mean)² + Σ(ln b − mean)²] / d, d = n_A + n_B − 2",
        "Everything is worked out on natural logarithms, whose standard deviation is the coefficient of variation. "
        "Each side varies around its own mean, so a change between the sides is not taken for noise.",
        (
            Example(
                worked_examples.spread_text, {"base": (100.0, 101.0, 99.0), "new": (120.0, 121.0)}, "s = 0.884%, d = 3"
            ),
        ),
        JAIN,
    ),
    Declaration(
        "rounding",
        NOISE,
        "Rounding",
        "s² ≥ (q / mean)² / 12, q = one in the last printed digit",
        "Three trials that print as 118.0 are not without noise: they may differ by as much as the rounding hides.",
        (Example(worked_examples.rounding, {"value": 118.0, "step": 0.1}, "5.98e-08"),),
    ),
    Declaration(
        "prior",
        NOISE,
        "What the cells of a group have in common",
        "z = ln s² − ψ(d/2) + ln(d/2), v = var(z) − mean ψ′(d/2), d0 = min(8, 2 · ψ′⁻¹(v)), "
        "s0² = exp(mean z + ψ(d0/2) − ln(d0/2))",
        "Cells with the same metric and kind of workload vary alike, and together they know more about their noise "
        "than each of them. d0 says how alike they are. With fewer than three cells, or when they differ by no more "
        "than chance (v not above 0), d0 is 8 and s0² their pooled variance.",
        (
            Example(
                worked_examples.prior_text,
                {"cells": ((0.003538, 6), (0.004845, 6), (0.009241, 6), (0.014626, 6))},
                "s0 = 0.602%, d0 = 2.448",
            ),
            Example(worked_examples.prior_text, {"cells": ((0.01, 2), (0.02, 4))}, "s0 = 1.732%, d0 = 8.000"),
        ),
        SMYTH,
    ),
    Declaration(
        "moderated",
        NOISE,
        "The noise that is used",
        "s̃² = (d0 · s0² + d · s²) / (d0 + d), f = max(1, min(d0 + d, Σd))",
        "A cell's own variance is drawn towards its group's, each weighted by its degrees of freedom. So a cell whose "
        "three trials happen to agree is not believed to be without noise.",
        (
            Example(
                worked_examples.moderated,
                {"cell": (0.003538, 6), "s0": 0.0060156, "d0": 2.44807, "total": 24},
                "s = 0.440%, f = 8.448",
            ),
        ),
        SMYTH,
    ),
    Declaration(
        "noisy",
        NOISE,
        "Noisy cells",
        "s² / s0² > F(0.95; d, d0)",
        "A cell that varies more than chance allows in its group is not drawn towards it. It is judged by its own "
        "variance and freedom, and called noisy.",
        (
            Example(
                worked_examples.noisy,
                {"cell": (0.014626, 6), "s0": 0.0060156, "d0": 2.44807},
                "5.91 against 12.60: not noisy",
            ),
            Example(worked_examples.noisy, {"cell": (0.03, 4), "s0": 0.01, "d0": 8.0}, "9.00 against 3.84: noisy"),
        ),
        SMYTH,
    ),
    Declaration(
        "history",
        NOISE,
        "History first",
        "H ≥ 3: s² = variance of the ln means of H campaigns, d = H − 1, n_A = n_B = 1",
        "Trials inside one campaign cannot see what a restart or another day changes; earlier campaigns can. Two "
        "configurations are compared by their pooled history, d = (H_A − 1) + (H_B − 1), if both have three "
        "campaigns or more.",
        (
            Example(
                worked_examples.comparison,
                {"base": (100.0, 100.1, 99.9), "new": (105.0, 105.1, 104.9)},
                "+5%; higher; better; 95% interval +4.8% ... +5.2%; 3 against 3 trials; noise from trials (f = 4)",
            ),
            Example(
                worked_examples.against_history,
                {"base": (100.0, 100.1, 99.9), "new": (105.0, 105.1, 104.9), "history": (98.0, 103.0, 100.0, 101.0)},
                "+5%; inconclusive: a change of 13% could have been seen; 95% interval -4.3% ... +15%; 3 "
                "against 3 trials; noise from history (f = 3); 18 campaigns a side would decide 2%",
            ),
        ),
        KALIBERA,
    ),
    Declaration(
        "sources",
        NOISE,
        "Where noise is looked for",
        "history, trials, trials of earlier campaigns on the same machine, trials of all workloads of the metric, none",
        "The first that has any is used, and every comparison says which. A group without repetitions of its own has "
        "s0 and d0 from the later sources.",
        (
            Example(
                worked_examples.against_earlier,
                {"base": (100.0,), "new": (103.0,), "earlier": _QUIET},
                "+3%; single runs: outside the band (-1% ... +1%); better; 1 against 1 trial; noise from "
                "trials of earlier campaigns (f = 6); 1 more trial a side would decide 2%",
            ),
        ),
    ),
    Declaration(
        "ratio",
        CELL,
        "Ratio, interval and p",
        "d = mean ln B − mean ln A, se = s̃ · √(1/n_A + 1/n_B), ratio e^d, interval e^(d ± t(0.975, f) · se)",
        "The interval holds the ratios that agree with the trials; p is Student's t with f degrees of freedom. Any "
        "numbers of trials will do, also different ones, also one against many. Values that are zero or negative "
        "have no logarithm: they are shown and counted, left out here, and a warning says so.",
        (
            Example(
                worked_examples.ratio_text,
                {"base": (100.0, 101.0, 99.0), "new": (104.0, 105.0, 103.0)},
                "ratio 1.0400, 95% interval 1.0171 ... 1.0634, p = 0.0081",
            ),
            Example(
                worked_examples.ratio_text,
                {"base": (100.0,), "new": (104.0, 105.0, 103.0)},
                "ratio 1.0400, 95% interval 0.9915 ... 1.0909, p = 0.0717",
            ),
        ),
        KALIBERA,
    ),
    Declaration(
        "false-discovery",
        CELL,
        "Many cells at once",
        "q = the p adjusted by Benjamini and Hochberg over all p of the table and metric; changed: q < 0.05",
        "Of twenty cells without any change, one has p below 5 % by chance. Among the cells that q calls changed, at "
        "most one in twenty is expected not to be.",
        (Example(worked_examples.adjusted, {"p": (0.001, 0.02, 0.03, 0.6)}, "0.004, 0.040, 0.040, 0.600"),),
        BENJAMINI,
    ),
    Declaration(
        "detectable",
        CELL,
        "What could have been seen",
        "exp((t(0.975, f) + t(0.8, f)) · se) − 1",
        "A change of this size would have been found four times in five. An inconclusive cell says it, so that nobody "
        "takes *not shown* for *not there*.",
        (
            Example(
                worked_examples.comparison,
                {"base": (100.0, 104.0, 98.0), "new": (101.0, 97.0, 105.0)},
                "0%; inconclusive: a change of 11% could have been seen; 95% interval -7.4% ... +8.7%; 3 "
                "against 3 trials; noise from trials (f = 4); 47 more trials a side would decide 2%",
            ),
        ),
        JAIN,
    ),
    Declaration(
        "trials-needed",
        CELL,
        "How many trials it takes",
        "n = 2 · (2.8 · s / ln(1 + δ))² a side",
        "Twice the accuracy costs four times the trials. Where noise is that of history, campaigns are counted.",
        (
            Example(worked_examples.needed, {"sd": 0.005, "delta": 0.02}, "1 a side to see 2%"),
            Example(worked_examples.needed, {"sd": 0.01, "delta": 0.02}, "4 a side to see 2%"),
            Example(worked_examples.needed, {"sd": 0.02, "delta": 0.02}, "16 a side to see 2%"),
        ),
        JAIN,
    ),
)
