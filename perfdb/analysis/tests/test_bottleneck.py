"""What limited a run: every verdict, their order, and what must not count."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfdb.analysis.insights.bottleneck import Load, Verdict, find_bottleneck
from perfdb.analysis.metrics import Measure
from perfdb.analysis.workloads import busier_share, payload_limit

GIGABIT = 1e9


def load(**utilisations: float) -> Load:
    """A run on two processors; ``run_wait__stack`` is ``run_wait@stack``."""
    measures = {Measure.parse(name.replace("__", "@")): value for name, value in utilisations.items()}
    return Load(processors=2, utilisations=measures)


@pytest.mark.parametrize(("mtu", "limit"), [(1492, 112.20), (8992, 118.02)])
def test_the_payload_limit_of_a_gigabit_line(mtu: int, limit: float) -> None:
    assert round(payload_limit(GIGABIT, mtu), 2) == limit


@pytest.mark.parametrize(("bits", "mtu"), [(0, 1500), (-1e9, 1500), (1e9, 52), (1e9, 0)])
def test_a_line_that_carries_nothing(bits: float, mtu: int) -> None:
    with pytest.raises(ValueError, match="carries no payload"):
        payload_limit(bits, mtu)


# The published examples, each with all that its table gives.
PUBLISHED = [
    # Request and response, IUCV.
    (
        load(cpu_util=99.20, processor_util__tcpip1=40.0, run_wait__tcpip1=69.3, processor_util__nontcp=106.67),
        Verdict.PROCESSORS,
        None,
    ),
    # Connect, request and response, QDIO.
    (
        load(cpu_util=62.0, processor_util__tcpip1=88.7, run_wait__tcpip1=98.0, run_wait__tcpip2=28.0),
        Verdict.COMPONENT,
        "tcpip1",
    ),
    # Streaming, QDIO: the stack is at its limit too, but the system comes first.
    (load(cpu_util=98.5, run_wait__tcpip1=96.0, run_wait__tcpip2=77.2), Verdict.PROCESSORS, None),
    # Streaming, HiperSockets.
    (load(cpu_util=89.0, run_wait__tcpip1=99.4, run_wait__tcpip2=63.5), Verdict.COMPONENT, "tcpip1"),
    # Streaming over HiperSockets between guests of one virtual processor each.
    (
        replace(
            load(cpu_util=81.57, cpu_util__client=32.31, cpu_util__server=49.26),
            virtual_processors={"client": 1, "server": 1},
        ),
        Verdict.COMPONENT,
        "server",
    ),
    # Streaming over a gigabit adapter with jumbo frames.
    (Load(mb_per_s=118.0, line_bits_per_s=GIGABIT, mtu=8992), Verdict.LINK, None),
]


@pytest.mark.parametrize(("run", "verdict", "component"), PUBLISHED)
def test_published_runs(run: Load, verdict: Verdict, component: str | None) -> None:
    found = find_bottleneck(run)
    assert (found.verdict, found.component) == (verdict, component)


def test_a_share_of_the_system_becomes_one_of_a_processor() -> None:
    found = find_bottleneck(PUBLISHED[4][0])
    (reason,) = found.reasons
    assert (reason.name, reason.unit) == ("cpu_util@server", "% of one processor")
    assert reason.value == pytest.approx(98.52)
    assert found.sentence == "server limits: it uses 98.5% of one processor, and cannot use more than one processor"
    assert found.formula == "CPU utilisation of server 49.26% × 2 processors = 98.52% ≥ 95%"


def test_the_link_names_its_limit() -> None:
    found = find_bottleneck(PUBLISHED[5][0])
    assert found.sentence == "the link limits: 118.00 MB/s are 100.0% of the 118.02 MB/s of payload that it can carry"
    assert found.formula == "118.00 ≥ 97% of 1000000000 / 8 × (8992 − 52) / (8992 + 38) / 2^20 = 118.02"
    assert [reason.name for reason in found.reasons] == ["mb_per_s", "payload limit"]


def test_the_link_comes_before_the_processors() -> None:
    run = replace(load(cpu_util=99.0), mb_per_s=110.0, line_bits_per_s=GIGABIT, mtu=1492)
    assert find_bottleneck(run).verdict is Verdict.LINK
    assert find_bottleneck(replace(run, mb_per_s=108.0)).verdict is Verdict.PROCESSORS


def test_without_line_speed_or_mtu_the_link_is_not_asked() -> None:
    run = replace(load(cpu_util=99.0), mb_per_s=118.0, line_bits_per_s=GIGABIT, mtu=8992)
    assert find_bottleneck(replace(run, line_bits_per_s=None)).verdict is Verdict.PROCESSORS
    assert find_bottleneck(replace(run, mtu=None)).verdict is Verdict.PROCESSORS


def test_the_rate_follows_from_transactions_and_sizes() -> None:
    run = Load(trans_per_s=5.9, request_bytes=20, response_bytes=20 * 2**20, line_bits_per_s=GIGABIT, mtu=8992)
    assert find_bottleneck(run).verdict is Verdict.LINK
    assert find_bottleneck(replace(run, trans_per_s=5.6)).verdict is Verdict.UNKNOWN
    assert find_bottleneck(replace(run, response_bytes=None)).verdict is Verdict.UNKNOWN


def test_a_link_carries_both_directions_at_once() -> None:
    run = Load(mb_per_s=118.0, request_bytes=1000, response_bytes=1000, line_bits_per_s=GIGABIT, mtu=8992)
    assert find_bottleneck(run).verdict is Verdict.UNKNOWN
    assert find_bottleneck(replace(run, mb_per_s=236.0)).verdict is Verdict.LINK
    assert busier_share(200, 1000) == pytest.approx(5 / 6)
    assert busier_share(None, 1000) == busier_share(0, 0) == 1


@pytest.mark.parametrize(
    ("total", "wait", "verdict", "component"),
    [
        (95.0, 100.0, Verdict.PROCESSORS, None),
        (94.9, 95.0, Verdict.COMPONENT, "stack"),
        (94.9, 94.8, Verdict.NEAR_LIMIT, None),
        (85.0, 94.9, Verdict.NEAR_LIMIT, "stack"),
        (60.0, 85.0, Verdict.NEAR_LIMIT, "stack"),
        (85.0, 20.0, Verdict.NEAR_LIMIT, None),
        (84.9, 84.9, Verdict.NOT_PROCESSORS, None),
    ],
)
def test_the_first_rule_that_applies(total: float, wait: float, verdict: Verdict, component: str | None) -> None:
    found = find_bottleneck(load(cpu_util=total, run_wait__stack=wait))
    assert (found.verdict, found.component) == (verdict, component)


def test_the_busiest_component_is_named() -> None:
    found = find_bottleneck(load(cpu_util=70.0, run_wait__one=96.0, run_wait__two=99.0))
    assert found.component == "two"
    assert "runs or waits for the CPU 99.0% of the time" in found.sentence


def test_a_group_of_guests_is_no_component() -> None:
    run = load(cpu_util=62.0, processor_util__nontcp=106.67)
    assert find_bottleneck(run).verdict is Verdict.NOT_PROCESSORS
    assert find_bottleneck(replace(run, virtual_processors={"nontcp": 2})).verdict is Verdict.NOT_PROCESSORS
    assert find_bottleneck(replace(run, virtual_processors={"nontcp": 1})).component == "nontcp"


def test_a_component_of_several_processors_is_none() -> None:
    run = replace(load(cpu_util=50.0, run_wait__stack=99.0), virtual_processors={"stack": 2})
    assert find_bottleneck(run).verdict is Verdict.NOT_PROCESSORS


def test_a_share_without_processors_says_nothing() -> None:
    run = Load(utilisations={Measure("cpu_util", "server"): 49.26}, virtual_processors={"server": 1})
    assert find_bottleneck(run).verdict is Verdict.UNKNOWN


def test_what_is_not_known_is_not_called_idle() -> None:
    assert find_bottleneck(Load()).verdict is Verdict.UNKNOWN
    assert find_bottleneck(load(run_wait__stack=20.0)).verdict is Verdict.UNKNOWN
    assert find_bottleneck(load(run_wait__stack=96.0)).verdict is Verdict.COMPONENT


def test_idle_runs_name_what_they_know() -> None:
    found = find_bottleneck(load(cpu_util=62.0, run_wait__stack=70.25))
    assert found.sentence == (
        "the processors are not the limit: the system is 62.0% busy, "
        "and stack, the busiest component, runs or waits for the CPU 70.3% of the time"
    )
    assert found.formula == "CPU utilisation 62% and running and waiting of stack 70.25% < 85%"
    assert [reason.name for reason in found.reasons] == ["cpu_util", "run_wait@stack"]


@given(st.floats(0, 100), st.floats(0, 120), st.floats(0, 300), st.sampled_from([1492, 1500, 8992]))
def test_more_load_never_gives_a_later_verdict(total: float, wait: float, rate: float, mtu: int) -> None:
    def place(total: float, wait: float, rate: float) -> int:
        run = replace(load(cpu_util=total, run_wait__stack=wait), mb_per_s=rate, line_bits_per_s=GIGABIT, mtu=mtu)
        return list(Verdict).index(find_bottleneck(run).verdict)

    assert place(total * 1.1, wait, rate) <= place(total, wait, rate)
    assert place(total, wait * 1.1, rate) <= place(total, wait, rate)
    assert place(total, wait, rate * 1.1) <= place(total, wait, rate)
