"""Description of the audit: each rule, explained with a worked example."""

from collections.abc import Iterable
from itertools import repeat
from typing import Any

from perfdb.analysis.audit.audit_run import (
    MAXIMUM_TEXT,
    OUTLIER_TEXT,
    PERCENT_TEXT,
    TIMES_MEDIAN,
    PercentRow,
    audit_percents,
    audit_run,
    audit_runs,
)
from perfdb.analysis.audit.printed_values import (
    CHANCE,
    NOTE_UP_TO,
    Kind,
    Method,
    Printed,
    PrintedRun,
    detect_padding,
    measure_name,
)
from perfdb.analysis.audit.rules import LINK_TOLERANCE, LITTLE_TOLERANCE, RULES
from perfdb.analysis.checks.finding import Quantity
from perfdb.analysis.declaration import Declaration, Example
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import parse_workload

_ARITHMETIC = "the definition of the figures"
_ROUNDING = "interval arithmetic over the printed digits"


def _formula(kind: Kind, metric: str, place: int = 0) -> str:
    """Return a rule in words: the one at ``place`` of this kind and metric."""
    rule = [rule for rule in RULES if (rule.kind, rule.metric) == (kind, metric)][place]
    relation = "≤" if rule.at_most else "≥" if rule.at_least else "="
    return f"{measure_name(Measure(metric))} {relation} {rule.expression.in_words()}"


def _printed(measure: str, text: str, unit: str = "", *, place: str = "") -> Printed:
    return Printed(Measure.parse(measure), Quantity(text, unit), place)


def _run(given: str, printed: str, places: Iterable[str] = repeat(""), **circumstances: Any) -> Example:
    """Return the audit of a run as an example; ``printed`` lists ``measure number unit``."""
    figures = zip(printed.split(", "), places, strict=False)
    run = PrintedRun(tuple(_printed(*each.split(), place=place) for each, place in figures), **circumstances)
    return Example(given, lambda: " ".join(found.message for found in audit_run(run)))


def _table(given: str, title: str, *rows: tuple[str, int, str]) -> Example:
    """Return the audit of Table 6 as an example; a row is (place, users, printed numbers)."""
    runs = [
        PrintedRun(tuple(_printed(*each.split(), place=place) for each in printed.split(", ")), users=users, think_ms=0)
        for place, users, printed in rows
    ]

    def work() -> str:
        return " ".join(found.message for of_run in audit_runs(runs, {"Table 6": title}) for found in of_run)

    return Example(given, work)


def _half_steps(*figures: Printed) -> str:
    return ", ".join(
        f"{figure.quantity.text} ± {figure.half_step or figure.quantity.half_step:g}"
        for figure in detect_padding(figures)
    )


_PERCENT = PercentRow(_printed("cpu_ms_per_mb", "6.95"), _printed("cpu_ms_per_mb", "4.79"), Quantity("-21", "%"))

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        "rounding",
        "What a printed figure stands for",
        "printed value ± half of one in its last digit",
        "A figure disagrees only when no numbers that would have been printed like its inputs give one that would have "
        f"been printed like it. A deviation of up to {NOTE_UP_TO * 100:g} % is then a note, more is a warning. "
        "Nothing is ever corrected.",
        Example(
            "0.14 and 1654.5",
            lambda: _half_steps(_printed("cpu_ms_per_trans", "0.14"), _printed("trans_per_s", "1654.5")),
        ),
        source=_ROUNDING,
    ),
    Declaration(
        "precision",
        "Figures padded with zeros",
        f"so many figures of a row end in zero that chance would do it once in {1 / CHANCE:.0f} times",
        "A report's 88.7 is sometimes printed as 88.70 beside others, and stands for more numbers than its last digit "
        "says. One figure does not show it, but of honestly rounded figures only one in ten ends in zero.",
        Example(
            "88.70, 85.80, 86.70, 84.70, 92.70 in one row",
            lambda: _half_steps(
                *(_printed("processor_util@tcpip1", text) for text in ("88.70", "85.80", "86.70", "84.70", "92.70"))
            ),
        ),
        source=_ROUNDING,
    ),
    Declaration(
        Kind.LITTLE,
        "Users, rate and response time",
        _formula(Kind.LITTLE, "response_ms"),
        "Users who never pause are always waiting for a response, so there are as many transactions under way as "
        f"users. {LITTLE_TOLERANCE * 100:g} % are allowed, for users start and end one after the other. A response "
        "time that would fit in another unit of time is said to be in the wrong one.",
        _run(
            "50 users, 2.90 transactions per second, response time 17.25 msec",
            "trans_per_s 2.90, response_ms 17.25 msec",
            users=50,
            think_ms=0,
        ),
        source="Little 1961",
    ),
    Declaration(
        Kind.RATE,
        "Transactions and seconds",
        _formula(Kind.RATE, "trans_per_s"),
        "The driver's own count and its own seconds; the time between the snapshots is a little longer and would "
        "give less.",
        _run(
            "97000 transactions in 200.5 s, 484.79 transactions per second",
            "transactions 97000, driver_s 200.5, trans_per_s 484.79",
        ),
        source=_ARITHMETIC,
    ),
    Declaration(
        Kind.BYTES,
        "Transactions and bytes",
        _formula(Kind.BYTES, "mb_per_s"),
        "Both directions are counted, and a MB is 2^20 bytes unless the printed unit says otherwise. A figure that "
        "would fit MB of 10^6 bytes, or one direction alone, is said to.",
        _run(
            "1631.10 transactions per second of 200 and 1000 bytes, 1.96 MB/s",
            "trans_per_s 1631.10, mb_per_s 1.96",
            workload=parse_workload("RR"),
        ),
        source=_ARITHMETIC,
    ),
    Declaration(
        Kind.CPU,
        "Utilisation and CPU time per unit of work",
        _formula(Kind.CPU, "cpu_ms_per_trans"),
        "One per cent of one processor is 10 ms of CPU time in each second. Utilisation of one processor needs no "
        "number of processors, and CP time is what is left of the total. This is the form for monitors' reports over "
        "a window inside the run.",
        _run(
            "utilisation of tcpip1 47.30 % of one of 2 processors, 1654.49 transactions per second, 0.14 msec",
            "processor_util@tcpip1 47.30, trans_per_s 1654.49, cpu_ms_per_trans@tcpip1 0.14 msec/trans",
            processors=2,
            method=Method.REPORT,
        ),
        source="utilisation law",
    ),
    Declaration(
        f"{Kind.CPU}.{Method.SNAPSHOT}",
        "The same between snapshots",
        _formula(Kind.CPU, "cpu_ms_per_trans", 1),
        "Between snapshots, utilisation is of a longer time than the driver's rate. Where the driver's seconds are not "
        "printed they lie between what it was asked for and the time between the snapshots; without either the "
        "figures are not checked.",
        _run(
            "93.57 % of 2 processors in 632.00 s, 2.90 transactions per second, 600 s asked for, 720 msec",
            "cpu_util 93.57, trans_per_s 2.90, elapsed_s 632.00, cpu_ms_per_trans 720 msec/trans",
            processors=2,
            asked_s=600,
            method=Method.SNAPSHOT,
        ),
        source="utilisation law",
    ),
    Declaration(
        Kind.MESSAGE,
        "CPU time per MB and per message",
        _formula(Kind.MESSAGE, "cpu_ms_per_trans"),
        "A transaction of a stream is one message. The short message that goes the other way is left out.",
        _run(
            "33.04 ms per MB, 670.74 ms per transaction of 20 MB",
            "cpu_ms_per_mb 33.04, cpu_ms_per_trans 670.74",
            workload=parse_workload("STRG"),
        ),
        source=_ARITHMETIC,
    ),
    Declaration(
        Kind.SUM,
        "Virtual and CP time",
        _formula(Kind.SUM, "cpu_ms_per_mb"),
        "All CPU time is a guest's own or spent by CP on its behalf, for each role and for utilisations as for costs. "
        "Half-steps of all three figures are allowed.",
        _run(
            "18.18 ms per MB of nontcp, of which 15.91 virtual and 4.59 CP",
            "cpu_ms_per_mb@nontcp 18.18, virtual_cpu_ms_per_mb@nontcp 15.91, cp_cpu_ms_per_mb@nontcp 4.59",
        ),
        source=_ARITHMETIC,
    ),
    Declaration(
        Kind.ROLES,
        "Client and server",
        _formula(Kind.ROLES, "cpu_util"),
        "Between snapshots the total is the sum of both guests, virtual and CP alike. A monitor's report takes its "
        "total from the system, so there this is not asked.",
        _run(
            "96.76 %, of which 48.40 % client and 47.36 % server",
            "cpu_util 96.76, cpu_util@client 48.40, cpu_util@server 47.36",
            method=Method.SNAPSHOT,
        ),
        source="CP QUERY TIME before and after the run",
    ),
    Declaration(
        Kind.BOUND,
        "A part and its whole",
        _formula(Kind.BOUND, "processor_util"),
        "Virtual or CP time cannot pass the total, running cannot pass running and waiting, and a system cannot be "
        "more than 100 % busy.",
        _run(
            "tcpip1 runs 58.70 % and runs or waits 55.40 % of the time",
            "processor_util@tcpip1 58.70, run_wait@tcpip1 55.40",
        ),
        source=_ARITHMETIC,
    ),
    Declaration(
        Kind.LINK,
        "Throughput and the line",
        _formula(Kind.LINK, "mb_per_s"),
        "No payload passes what the least headers leave of the line; "
        f"{LINK_TOLERANCE * 100:g} % is allowed. More means that line speed, MTU or the size of the MB is not what it "
        "is said to be.",
        _run("11.9 MB/s over 100 Mbit/s with MTU 1500", "mb_per_s 11.9", line_bits_per_s=1e8, mtu=1500),
        source="frame format of IEEE 802.3",
    ),
    Declaration(
        Kind.PARTS,
        "All parts of the CPU",
        _formula(Kind.PARTS, "cpu_util"),
        "All roles of a table together cannot use more than the whole system. A monitor's report counts CPU time in "
        "whole seconds, so each part may be one second of the elapsed time off. Only tables are asked.",
        _run(
            "99.00 % of 2 processors in 150 s; stacks 48.00 % and 47.30 %, other machines 106.67 % of one processor",
            "cpu_util 99.00, elapsed_s 150.00, processor_util@tcpip1 48.00, processor_util@tcpip2 47.30, "
            "processor_util@nontcp 106.67",
            repeat("Table 6"),
            processors=2,
            method=Method.REPORT,
        ),
        source="utilisation law",
    ),
    Declaration(
        Kind.MAXIMUM,
        "Maximum throughput",
        MAXIMUM_TEXT,
        "A table headed as one of maximum throughput has the largest figures of the study. Users and MTU may differ; "
        "the same run in another table is a contradiction instead.",
        _table(
            "Table 6, Maximum Throughput: 11926.76 with 50 users; Table 5: 11941.14 with 20 users",
            "Maximum Throughput: Request-Response",
            ("Table 6", 50, "trans_per_s 11926.76"),
            ("Table 5", 20, "trans_per_s 11941.14"),
        ),
        source=_ARITHMETIC,
    ),
    Declaration(
        Kind.OUTLIER,
        "A figure apart from its table",
        OUTLIER_TEXT,
        "Rules with a tolerance allow for unlike ways of counting. Where the other figures of a table, three or more, "
        f"follow exactly, a figure of the same rule that is {TIMES_MEDIAN} times as far off as half of them, and "
        "beyond rounding, is probably of another run.",
        _table(
            "response times of 10, 50, 10, 5 and 20 users at 83.22, 88.74, 91.54, 84.05 and 81.81 transactions per "
            "second",
            "",
            ("Table 6", 10, "trans_per_s 83.22, response_ms 120.16"),
            ("Table 6", 50, "trans_per_s 88.74, response_ms 563.71"),
            ("Table 6", 10, "trans_per_s 91.54, response_ms 109.24"),
            ("Table 6", 5, "trans_per_s 84.05, response_ms 59.49"),
            ("Table 6", 20, "trans_per_s 81.81, response_ms 244.47"),
        ),
        source="median of the deviations",
    ),
    Declaration(
        Kind.PERCENT,
        "Printed differences",
        PERCENT_TEXT,
        "A printed percentage is consistent when it lies within half its last digit of what its rounded operands can "
        "give. How far it is off is graded by the ratio it stands for: −21 % for −31 % is 0.79 for 0.69.",
        Example("6.95 and 4.79, difference −21 %", lambda: audit_percents([_PERCENT])[0].message),
        source=_ROUNDING,
    ),
    Declaration(
        Kind.CONTRADICTION,
        "The same figure printed twice",
        "figure in one place = figure in the other",
        "The same figure of the same run must be the same wherever it is printed, to the digits of the coarser one. "
        "What was printed first is what the other is held against; which is right is not said.",
        _run(
            "2159.24 in Table 4, 2116.14 in Table 6",
            "trans_per_s 2159.24, trans_per_s 2116.14",
            places=("Table 4", "Table 6"),
        ),
        source=_ARITHMETIC,
    ),
)
