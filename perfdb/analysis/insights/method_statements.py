"""The comparison method as statements with formula, reason, source and worked examples, which a page renders."""

from perfdb.analysis.declaration import Declaration, worked
from perfdb.analysis.insights import method_examples as examples

SMYTH = "Smyth, Linear models and empirical Bayes methods for assessing differential expression, 2004"
PAULE = "Paule and Mandel, Consensus values and weighting factors, 1982"
KALIBERA = "Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013"

_QUIET = ((100.0, 100.3, 99.8), (200.0, 200.5, 199.2), (300.0, 299.0, 300.7))
_RAISED = ((105.0, 105.3, 104.8), (200.4, 200.1, 199.9), (300.4, 299.4, 300.1))
_EARLIER = ((100.4, 100.2, 100.1), (99.7, 99.9, 99.5), (100.1, 100.0, 100.3))
_RISING = ((100.0, 101.0, 102.1, 103.0), (50.0, 50.6, 51.1, 51.4), (80.0, 80.7, 81.5, 82.4), (60.0, 60.6, 61.1, 61.9))


_WHAT = (
    Declaration(
        "difference",
        "Difference in per cent",
        "D = 100 · (mean of new / mean of base − 1)",
        "The arithmetic means are not rounded before. D above zero means larger; whether that is better follows from "
        "the metric. It is printed without decimals, halves away from zero, and as n/a where a side has a value that "
        "is zero, negative or missing.",
        worked(examples.difference, base=2127.32, new=2539.11),
        worked(examples.difference, base=0.065, new=0.0559),
        worked(examples.difference, base=31914.04, new=31900.0),
        worked(examples.difference, base=0.0, new=3.0),
    ),
    Declaration(
        "audit",
        "Audit of published percentages",
        "100 · ((b − h)/(a + h) − 1) ... 100 · ((b + h)/(a − h) − 1), h = half of one in the last printed digit",
        "Printed operands are rounded, so their difference can lie anywhere in this interval. A printed percentage "
        "within half its last digit of it is consistent. Any other is kept and marked, with ours beside it.",
        worked(examples.audit, base="0.026", new="0.0244", printed="-4%"),
        worked(examples.audit, base="3.39", new="3.68", printed="27%"),
    ),
    Declaration(
        "campaigns",
        "Campaigns",
        "a pause of more than 6 hours, from the latest end to the next start, begins a new campaign",
        "A campaign is what was measured together on one system. Runs that name their campaign belong to it; all "
        "others of one study and system are told apart by pauses. Another level, device or restart in the same "
        "session is the same campaign.",
        worked(examples.campaigns, starts=(0.0, 5.9, 12.0)),
    ),
    Declaration(
        "mixed",
        "Mixed cells",
        "all runs of a cell's side agree in every dimension and factor; the sides differ only in what is compared",
        "Runs that did different work have no common mean. Their cell shows the smallest and the largest value and "
        "what differs, without mean, interval or verdict, and a link splits it.",
        worked(examples.mixed, base=(100.0, 101.0), new=(50.0, 103.0), differ="message size"),
    ),
    Declaration(
        "paired",
        "Campaigns that hold both sides",
        "value of a campaign: mean ln of new − mean ln of base",
        "If a campaign holds both sides of a cell, only such campaigns are used: what a day changes for both drops "
        "out. Else the means of each side's campaigns are compared.",
        worked(
            examples.paired,
            base=((100.0, 100.4), (93.0, 93.2), (107.0, 107.5)),
            new=((105.0, 105.2), (97.5, 97.9), (112.1, 112.6)),
        ),
        source=KALIBERA,
    ),
)

_NOISE = (
    Declaration(
        "spread",
        "Spread of trials",
        "s² = Σ(ln x − mean ln x of its campaign)² / d, d = Σ(n − 1), for each side",
        "Everything is worked out on natural logarithms, whose standard deviation is the coefficient of variation. "
        "Each campaign varies around its own mean, so a change between days is not taken for noise of trials.",
        worked(examples.spread_text, trials=(100.0, 101.0, 99.0)),
    ),
    Declaration(
        "rounding",
        "Rounding",
        "s² ≥ (q / mean)² / 12; allowance (q/2) / mean where all trials lie within q, one in the last printed digit",
        "Three trials that print as 118.0 are not without noise: they may differ by as much as the rounding hides, and "
        "repeating does not average it away.",
        worked(examples.spread_text, trials=(118.0, 118.0, 118.0), step=0.1),
    ),
    Declaration(
        "borrowing",
        "What cells of a kind have in common",
        "s²/(θ + v) follows F(d, d0): θ by Σ(d0+d)u/(d0+u) = Σd with u = d·s²/(θ+v), d0 by maximum likelihood",
        "Cells of one metric, side and kind of workload vary alike, and together they know more about their noise "
        "than each of them. d0 says how alike they are: for trials the smallest that the likelihood allows within "
        "1, so that cells are never taken to be more alike than the data insist on. v is a part of the variance "
        "that is known.",
        worked(examples.prior_text, variances=(1e-5, 1e-4, 4e-4, 9e-5, 2.5e-4), freedoms=(2.0, 2.0, 2.0, 4.0, 1.0)),
        worked(
            examples.prior_text,
            variances=(1e-4, 3e-5, 2e-4, 5e-5),
            freedoms=(2.0, 2.0, 2.0, 2.0),
            known=(1e-5, 1e-5, 4e-5, 2e-5),
        ),
        source=f"{SMYTH}; {PAULE}",
    ),
    Declaration(
        "drawn",
        "The noise that is used",
        "s̃² = w·(θ + v) + (1 − w)·s², w = d0/(d0 + d), 1/f = 1/(d0 + d) + w²/T",
        "A cell's own variance is drawn towards its group's, each weighted by its degrees of freedom. So a cell whose "
        "three trials happen to agree is not believed to be without noise. T counts the freedom of the whole group.",
        worked(examples.drawn, variance=4e-4, freedom=2.0, d0=4.0, usual=1e-4, total=12.0),
        source=SMYTH,
    ),
    Declaration(
        "test",
        "Difference, interval and p",
        "p = 2·P(t_f > √max(0, d² − a²)/se), interval e^(d ± √(a² + (t(0.975, f)·se)²))",
        "d is the difference of the mean logarithms, a the allowance for rounding and for days that move the whole "
        "table, se² the variance of d by trials and, if they are known, by days.",
        worked(examples.comparison, base=(100.0, 101.0, 99.0), new=(110.0, 111.0, 109.0)),
        source="Satterthwaite, An approximate distribution of estimates of variance components, 1946",
    ),
    Declaration(
        "days",
        "Days",
        "E = τ²·(1/p + 1/q) + V_A + V_B (campaigns with both sides: τ²/P + V_A + V_B), se² = λ·E",
        "Trials of one campaign cannot show what another day changes; further campaigns of the same configuration and "
        "level can. They give the variance of days τ² of the metric, and λ, by which a cell's own days differ from the "
        "usual. Days are known from two degrees of freedom on: for instance two earlier campaigns of the baseline, or "
        "two campaigns on each side.",
        worked(examples.with_history, base=(100.0, 100.1, 99.9), new=(105.0, 105.1, 104.9), earlier=_EARLIER),
        source=f"{KALIBERA}; {PAULE}",
    ),
    Declaration(
        "shift",
        "A shift of the whole table",
        "ω² = max(0, Σg²/D − mean(τ² + v)/K), allowance t(0.9875, D)·ω·√(1/p + 1/q)",
        "A day may move all cells together. How far is learnt from the common shift g of at least five cells in each "
        "campaign, and allowed for before any cell is called changed. It is said first, above the cells.",
        worked(examples.shift, base=_QUIET, new=_RAISED),
        source="Banerjee, Approximate confidence interval for linear functions of means of k populations, 1960",
    ),
)

_VERDICT = (
    Declaration(
        "changed",
        "Improved, regressed",
        "q < 0.05, days known, and not the same within 2%",
        "The change is larger than trials and days explain. Metrics without a direction, such as utilisation, are "
        "higher or lower.",
        worked(
            examples.with_history,
            base=(5.0, 5.05, 4.95),
            new=(4.0, 4.02, 3.98),
            earlier=((5.02, 4.98), (4.97, 5.01)),
            better="lower",
        ),
    ),
    Declaration(
        "these-runs",
        "Higher, lower in these runs",
        "q < 0.05, days not known",
        "The runs differ by more than their trials explain. Whether another day would show the same cannot be seen "
        "from them: if days move results by 1%, most such verdicts are wrong about another day. Two more campaigns "
        "of the baseline would tell.",
        worked(examples.comparison, base=(5.0, 5.05, 4.95), new=(4.0, 4.02, 3.98), better="lower"),
    ),
    Declaration(
        "same",
        "Same within 2%",
        "90% interval inside ±ln(1 + δ)",
        "This has been shown, by two one-sided tests at 5%; it is more than a change that was not found. With q < "
        "0.05 there is a real difference that is too small to matter. δ is a setting, 2% unless changed.",
        worked(examples.comparison, base=(100.0, 100.3, 99.8), new=(100.1, 100.2, 99.9)),
        worked(examples.comparison, base=(100.0, 100.1, 99.9), new=(100.6, 100.7, 100.5)),
        source="Schuirmann, A comparison of the two one-sided tests procedure and the power approach, 1987",
    ),
    Declaration(
        "cannot-tell",
        "Can't tell",
        "none of the above; reason: the largest part of a² + (t·se)²",
        "Neither a change nor sameness has been shown. The reason is said with it: whole days differ, days differ, "
        "trials differ, or the values are printed too coarsely; and about what would decide.",
        worked(examples.comparison, base=(100.0, 102.0), new=(103.0, 101.5)),
    ),
    Declaration(
        "likely",
        "Single runs: likely",
        "band ± √(a² + (t(0.975, f)·se)²), the lone side's noise borrowed",
        "Nothing of a lone run tells its own noise, so there is no test. Outside the band it is likely higher or lower "
        "if it varies like the others: one in twenty such cells is so by chance, and half of them if the lone run is "
        "four times as noisy.",
        worked(examples.first_of, base=_QUIET, new=((108.0,), (200.1,), (301.0,))),
        worked(examples.first_of, base=_QUIET, new=((100.4,), (200.1,), (301.0,))),
    ),
    Declaration(
        "no-noise",
        "No repeats",
        "",
        "Nothing was ever repeated. The difference is printed, and nothing more can be said.",
        worked(examples.comparison, base=(100.0,), new=(150.0,)),
    ),
    Declaration(
        "not-comparable",
        "Not comparable",
        "a side has no value, or one that is zero or negative",
        "The values are shown, and no difference.",
        worked(examples.comparison, base=(100.0, 0.0, 100.0), new=(100.0, 100.0, 100.0)),
        worked(examples.comparison, base=(), new=(101.0,)),
    ),
)

_TABLE = (
    Declaration(
        "false-discovery",
        "Many cells at once",
        "q = p adjusted by Benjamini and Hochberg over all p of all metrics of an answer",
        "Of twenty cells without any change, one has p below 5% by chance. Among the cells that q calls changed, at "
        "most one in twenty is expected not to be.",
        worked(examples.adjusted, p=(0.001, 0.02, 0.03, 0.6)),
        source="Benjamini and Hochberg, Controlling the false discovery rate, 1995",
    ),
    Declaration(
        "next-step",
        "What to measure next",
        "smallest n with √(a² + (t(0.95, f)·se)²) + t(0.95, f)·se ≤ ln(1 + δ), at most 200",
        "About so many trials, or campaigns once days are known, decide four in five such cells if nothing changed, "
        "nearly all that differ by twice δ, and half of those near half of it.",
        worked(examples.comparison, base=(100.0, 104.0, 98.0), new=(101.0, 97.0, 105.0)),
    ),
    Declaration(
        "summary",
        "Summary of a metric",
        "e^(m ± √(a² + (t(0.975, K−1)·sd/√K)²)), m and sd of the d of K ≥ 3 cells; cells differ: Cochran's Q above F",
        "Each cell counts once. The interval covers days only if they are known. If the cells differ by more than "
        "their noise, the mean describes none of them, and each is to be looked at.",
        worked(examples.summary, base=_QUIET, new=_RAISED),
        source="Cochran, The combination of estimates from different experiments, 1954",
    ),
    Declaration(
        "gate",
        "The gate",
        "regressed: q (one-sided) < 0.05 and worse by more than the limit; passes: w + √(a² + (t(0.95, f)·se)²) < "
        "limit",
        "All cells must pass. A single cell exactly at the limit fails half of the time, a table without change "
        "practically never, and a cell worse by the limit passes at most one time in twenty.",
        worked(examples.gate_words, base=_QUIET, new=_QUIET, limit=0.05),
        worked(examples.gate_words, base=_QUIET, new=((90.0, 90.3, 89.8), *_QUIET[1:]), limit=0.05),
        source="Berger, Multiparameter hypothesis testing and acceptance sampling, 1982",
    ),
)

_TRIALS = (
    Declaration(
        "mean-interval",
        "Interval of a mean",
        "mean · e^(± t(0.975, f) · s̃ / √n)",
        "With the noise that is used for comparisons, that of one cell drawn to that of the others of its kind.",
        worked(examples.mean_interval, trials=(100.0, 101.0, 99.0)),
    ),
    Declaration(
        "outlier",
        "Outliers",
        "|ln x − mean of the others| / √(s̃²·(1 + 1/(n − 1))), p < 0.01 / number of trials",
        "A trial far from the others of its cell, given how they and all other cells vary. It is flagged and still "
        "counts.",
        worked(
            examples.flags,
            cells=(
                (100.0, 100.3, 99.9, 100.1, 120.0),
                (200.0, 200.5, 199.6, 200.2, 199.9),
                (300.0, 301.0, 299.7, 300.4, 300.1),
            ),
        ),
    ),
    Declaration(
        "order",
        "Drift and first runs",
        "drift: Σr/√Σ(1/(n − 1)) beyond 1% of the normal; first run: paired t of ln first − mean ln later, 5 cells "
        "or more",
        "r is the correlation of ln value and order in each cell. With three trials the two cannot be told apart; with "
        "more, drift is tested again without the first trial.",
        worked(examples.flags, cells=_RISING),
    ),
)

SECTIONS: dict[str, tuple[Declaration, ...]] = {
    "What is compared": _WHAT,
    "Noise": _NOISE,
    "Verdicts": _VERDICT,
    "A whole table, and what next": _TABLE,
    "The trials themselves": _TRIALS,
}
