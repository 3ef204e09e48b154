"""What perfdb says about throughput curves and about what limited a run: each rule, explained and worked out."""

from perfdb.analysis.declaration import Declaration, Example
from perfdb.analysis.insights.bottleneck import (
    BUSY_FROM,
    LIMIT_TEXT,
    LINK_FROM,
    NEAR_FROM,
    Load,
    Verdict,
    judge,
    payload_limit,
)
from perfdb.analysis.insights.throughput_curve import (
    FEWEST,
    FLAT_UP_TO,
    LEVEL_TOLERANCE,
    SLIGHT_UP_TO,
    Point,
    at_edge,
    describe,
)
from perfdb.analysis.metrics import Measure
from perfdb.analysis.units import round_half_up

_CURVES = "perfdb's own rule; its examples are published curves"
_BUSY = "utilisation law; Jain, The Art of Computer Systems Performance Analysis, 1991"
_ETHERNET = "frame format of IEEE 802.3; headers of IPv4 and of TCP with time stamps"


def _curve(given: str, answer: str, *points: Point) -> Example:
    return Example(given, answer, lambda: describe(points).sentence())


def _edge(points: tuple[Point, ...]) -> str:
    edge = at_edge(points)
    return edge.sentence if edge else ""


def _load(given: str, answer: str, load: Load) -> Example:
    return Example(given, answer, lambda: judge(load).sentence)


def _utilisations(**values: float) -> dict[Measure, float]:
    return {Measure.parse(name.replace("__", "@")): value for name, value in values.items()}


CURVES: tuple[Declaration, ...] = (
    Declaration(
        "curve.rising",
        "A curve that is still rising",
        f"last > every earlier value × {1 + LEVEL_TOLERANCE:g}, and the last but one is the largest of these",
        "Throughput still grew by more than the tolerance at the largest number of users, so nothing can be said about "
        f"where it levels off. At least {FEWEST} numbers of users are needed; one without a value was not tested.",
        _CURVES,
        _curve(
            "1661.09, 5060.78, 6905.31, 9055.97 at 1, 10, 20, 50 users",
            "still rising at the largest tested number of users; "
            "peak 9055.97 at 50 users, 31.1 % above the best before",
            (1, 1661.09),
            (10, 5060.78),
            (20, 6905.31),
            (50, 9055.97),
        ),
    ),
    Declaration(
        "curve.level",
        "Where a curve levels off",
        f"first number of users with a value ≥ {1 - LEVEL_TOLERANCE:g} × median of the three largest values",
        "The level starts somewhere above the number of users before and at this one at the latest: only what was "
        "tested can be said. The median keeps a single outlier from setting the level.",
        _CURVES,
        _curve(
            "852.06, 1352.97, 1508.20, 1535.70, 1351.26 at 1, 5, 10, 20, 50 users",
            "levels off between 5 and 10 users; peak 1535.70 at 20 users, then falls by 12.0 %",
            (1, 852.06),
            (5, 1352.97),
            (10, 1508.20),
            (20, 1535.70),
            (50, 1351.26),
        ),
    ),
    Declaration(
        "curve.tail",
        "How a curve goes on",
        "last / maximum − 1; last / best earlier − 1 when the last value is the maximum",
        f"Up to {FLAT_UP_TO * 100:g} % the curve is flat, up to {SLIGHT_UP_TO * 100:g} % slightly rising or falling, "
        "and beyond that falling. A rise beyond that, of a curve that had levelled off before, is a late bump.",
        _CURVES,
        _curve(
            "70.10, 83.29, 80.99, 80.90, 88.70 at 1, 5, 10, 20, 50 users",
            "levels off between 1 and 5 users; peak 88.70 at 50 users, a late bump 6.5 % above the best before",
            (1, 70.10),
            (5, 83.29),
            (10, 80.99),
            (20, 80.90),
            (50, 88.70),
        ),
    ),
    Declaration(
        "curve.edge",
        "A maximum at the edge",
        "the maximum is at the smallest or the largest tested number of users, and nowhere in between",
        "Fewer or more users than were tested might have given more, so the maximum is the best that was seen and "
        "perhaps not the best there is.",
        _CURVES,
        Example(
            "139.87, 139.71, 99.69, 92.03 at 1, 10, 20, 50 users",
            "maximum is at the edge of the tested range (smallest number of users)",
            lambda: _edge(((1, 139.87), (10, 139.71), (20, 99.69), (50, 92.03))),
        ),
    ),
)

VERDICTS: tuple[Declaration, ...] = (
    Declaration(
        "limit.payload",
        "What a link can carry",
        LIMIT_TEXT,
        "Of each packet the headers of IP and TCP are no payload, and on the line each packet has a preamble, a "
        "header, a check sequence and a gap beside it. The limit is one way; a link carries both ways at once, so the "
        "busier direction is held against it.",
        _ETHERNET,
        Example(
            "1 Gbit/s, MTU 1492 and 8992",
            "112.20 and 118.02 MB/s",
            lambda: (
                f"{round_half_up(payload_limit(1e9, 1492), 2)} and {round_half_up(payload_limit(1e9, 8992), 2)} MB/s"
            ),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.LINK.name.lower()}",
        "The link limits",
        f"MB/s ≥ {LINK_FROM * 100:g} % of {LIMIT_TEXT}",
        "The rate is what the line carries at this MTU, so faster processors would change nothing. It is asked before "
        "everything else, and only where line speed and MTU are known.",
        _ETHERNET,
        _load(
            "118.0 MB/s over 1 Gbit/s with MTU 8992",
            "the link limits: 118.00 MB/s are 100.0 % of the 118.02 MB/s of payload that it can carry",
            Load(mb_per_s=118.0, line_bits_per_s=1e9, mtu=8992),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.PROCESSORS.name.lower()}",
        "The processors limit",
        f"CPU utilisation ≥ {BUSY_FROM:g} %",
        "All processors of the system together are busy nearly all the time. Only work that costs less CPU time could "
        "go faster.",
        _BUSY,
        _load(
            "CPU utilisation 99.20 %",
            "the processors limit: the system is 99.2 % busy",
            Load(utilisations=_utilisations(cpu_util=99.20)),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.COMPONENT.name.lower()}",
        "A component limits",
        f"utilisation, or running and waiting, of a single-processor component ≥ {BUSY_FROM:g} % of one processor; "
        "CPU utilisation of the component × processors where it is of the whole system",
        "A stack or a guest with one virtual processor can be at its limit while the system is half idle. Time in "
        "which it waits for a processor counts, for it can do nothing else meanwhile. A group of guests is no such "
        "component.",
        _BUSY,
        _load(
            "CPU utilisation of the system 81.57 %, of the server 49.26 % of 2 processors; the server has one",
            "server limits: it uses 98.5 % of one processor, and cannot use more than one processor",
            Load(
                processors=2,
                utilisations=_utilisations(cpu_util=81.57, cpu_util__server=49.26),
                virtual_processors={"server": 1},
            ),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.NEAR_LIMIT.name.lower()}",
        "Near its limit",
        f"CPU utilisation, or that of a component, ≥ {NEAR_FROM:g} %",
        "Nothing is at its limit by the rules above, but the system or a component is not far from it. Whichever is "
        "the busier is named.",
        _BUSY,
        _load(
            "CPU utilisation 67.10 %, running and waiting of tcpip1 92.50 %",
            "tcpip1 is near its limit: it runs or waits for the CPU 92.5 % of the time",
            Load(utilisations=_utilisations(cpu_util=67.10, processor_util__tcpip1=85.80, run_wait__tcpip1=92.50)),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.NOT_PROCESSORS.name.lower()}",
        "The processors are not the limit",
        f"CPU utilisation, and that of each component, < {NEAR_FROM:g} %",
        "Something else holds the run back: latency, buffers, the other end. It is said only when the utilisation of "
        "the whole system is known.",
        _BUSY,
        _load(
            "CPU utilisation 64.00 %",
            "the processors are not the limit: the system is 64.0 % busy",
            Load(utilisations=_utilisations(cpu_util=64.0)),
        ),
    ),
    Declaration(
        f"verdict.{Verdict.UNKNOWN.name.lower()}",
        "Not known",
        "none of the rules above applies, and the utilisation of the whole system is not known",
        "What was not measured is not taken to be idle.",
        _BUSY,
        _load(
            "running and waiting of tcpip1 48.60 %, and nothing else",
            "what limited the run cannot be told: the utilisation of the whole system is not known",
            Load(utilisations=_utilisations(run_wait__tcpip1=48.60)),
        ),
    ),
)

LIMITS: tuple[Declaration, ...] = (*CURVES, *VERDICTS)
