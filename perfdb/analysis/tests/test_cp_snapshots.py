"""Checks of snapshots before and after a run: each reason to refuse, to wait, to leave out and to warn."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from perfdb.analysis.checks.finding import Severity
from perfdb.analysis.checks.snapshot_pairs import PairState, PairVerdict, Snapshot, check_elapsed, check_pair

START = datetime(2002, 2, 26, 14, 5, 2)
ADAPTER = "VSW1/LNXCL1/0600"

BEFORE = Snapshot(
    "server",
    "LINUXB",
    START,
    "EST",
    5,
    {
        ("", "connect"): 4340.0,
        ("", "virtcpu"): 998.73,
        ("", "totcpu"): 2033.44,
        ("CPU 00", "ttime"): 2033.0,
        ("CPU 00", "vtime"): 998.0,
        (ADAPTER, "rx_packets"): 1000.0,
        (ADAPTER, "tx_packets"): 1000.0,
        ("VSW1/uplink/", "rx_packets"): 5.0,
    },
)
GROWTH = {"connect": 632.0, "virtcpu": 283.89, "totcpu": 611.27, "ttime": 611.0, "vtime": 284.0}
AFTER = replace(
    BEFORE,
    taken=START + timedelta(seconds=632),
    line=6,
    counters={(subject, name): value + GROWTH.get(name, 50.0) for (subject, name), value in BEFORE.counters.items()},
)


def after_with(counters: Mapping[tuple[str, str], float]) -> Snapshot:
    return replace(AFTER, counters={**AFTER.counters, **counters})


def only_message(verdict: PairVerdict, code: str, severity: Severity) -> str:
    assert [(one.code, one.severity) for one in verdict.findings] == [(code, severity)]
    return verdict.findings[0].message


def test_a_good_pair() -> None:
    assert check_pair("NMGBR950", BEFORE, AFTER, 2) == PairVerdict(PairState.USABLE, elapsed_s=632.0)


def test_a_pair_that_passes_midnight() -> None:
    late = datetime(2002, 2, 27, 23, 55, 10)
    before, after = replace(BEFORE, taken=late), replace(AFTER, taken=late + timedelta(seconds=632))
    assert check_pair("NMHIS310", before, after, 2).state is PairState.USABLE


def test_the_after_half_is_missing() -> None:
    verdict = check_pair("NMBAD003", replace(BEFORE, role="client", host="LINUXA"), None)
    assert verdict.state is PairState.WAITING
    assert only_message(verdict, "pair.missing-half", Severity.WARNING) == (
        "This is a snapshot taken before run NMBAD003 (client LINUXA); upload the one taken after it, "
        "no CPU time can be worked out from one snapshot."
    )


def test_the_before_half_is_missing() -> None:
    message = check_pair("NMBAD003", None, replace(AFTER, host="")).findings[0].message
    assert message.startswith("This is a snapshot taken after run NMBAD003 (server); upload the one taken before it")


def test_swapped_halves() -> None:
    before = replace(BEFORE, taken=datetime(2002, 2, 28, 0, 5, 14))
    after = replace(AFTER, taken=datetime(2002, 2, 27, 23, 55, 10))
    verdict = check_pair("NMBAD002", before, after)
    assert verdict.state is PairState.REFUSED
    assert only_message(verdict, "pair.swapped", Severity.ERROR) == (
        "The snapshot marked after is older than the one marked before "
        "(23:55:10 on 02/27/02 against 00:05:14 on 02/28/02): the two files were probably swapped."
    )


def test_twice_the_same_moment() -> None:
    verdict = check_pair("NMBAD002", BEFORE, replace(AFTER, taken=BEFORE.taken))
    assert verdict.state is PairState.REFUSED
    only_message(verdict, "pair.same-moment", Severity.ERROR)


def test_a_logoff_in_between() -> None:
    smaller = {("", "connect"): 250.0, ("", "virtcpu"): 100.22, ("", "totcpu"): 202.87, ("CPU 00", "ttime"): 202.0}
    verdict = check_pair("NMBAD001", BEFORE, after_with(smaller))
    assert verdict.state is PairState.REFUSED
    assert only_message(verdict, "pair.reset", Severity.ERROR) == (
        "TOTCPU and CONNECT are smaller after the run than before it: LINUXB was logged off and on again in between, "
        "so this pair cannot be used."
    )


def test_cpu_time_that_fell_alone_is_refused_without_guessing_a_logoff() -> None:
    verdict = check_pair("NMBAD001", BEFORE, after_with({("", "totcpu"): 2000.0}))
    assert verdict.state is PairState.REFUSED
    message = only_message(verdict, "pair.reset", Severity.ERROR)
    assert message.startswith("TOTCPU is smaller after the run than before it")
    assert "logged off" not in message


def test_connect_time_that_fell_alone_is_refused() -> None:
    verdict = check_pair("NMBAD001", BEFORE, after_with({("", "connect"): 600.0}))
    assert verdict.state is PairState.REFUSED
    assert "LINUXB was logged off" in only_message(verdict, "pair.reset", Severity.ERROR)


def test_another_users_counters_say_nothing_about_the_role() -> None:
    other = ("LINUXC/CPU 00", "ttime")
    before = replace(BEFORE, counters={**BEFORE.counters, other: 500.0})
    verdict = check_pair("x", before, after_with({other: 3.0, ("LINUXC/CPU 00", "vtime"): 4.0}), 2)
    assert verdict == PairVerdict(PairState.USABLE, elapsed_s=632.0)


def test_total_below_virtual_is_refused() -> None:
    before = replace(BEFORE, counters={("", "totcpu"): 10.0, ("", "virtcpu"): 11.0})
    verdict = check_pair("x", before, replace(AFTER, counters={("", "totcpu"): 20.0, ("", "virtcpu"): 15.0}))
    assert verdict.state is PairState.REFUSED
    assert "TOTCPU of LINUXB" in only_message(verdict, "pair.total-below-virtual", Severity.ERROR)


def test_total_growing_less_than_virtual_is_refused() -> None:
    verdict = check_pair("x", BEFORE, after_with({("", "virtcpu"): 998.73 + 611.30}))
    assert verdict.state is PairState.REFUSED
    assert "611.27 s, less than its VIRTCPU, by 611.30 s" in verdict.findings[0].message


def test_rounding_of_hundredths_is_no_reason_to_refuse() -> None:
    assert check_pair("x", BEFORE, after_with({("", "virtcpu"): 998.73 + 611.28})).state is PairState.USABLE


def test_whole_seconds_total_below_virtual_is_refused() -> None:
    verdict = check_pair("x", BEFORE, after_with({("CPU 00", "vtime"): 2700.0}))
    assert "TTIME of LINUXB" in only_message(verdict, "pair.total-below-virtual", Severity.ERROR)


def test_more_cpu_time_than_there_was_is_refused() -> None:
    busy = after_with({("", "totcpu"): 2033.44 + 1267.0})
    verdict = check_pair("x", BEFORE, busy, 2)
    assert verdict.state is PairState.REFUSED
    assert "2 processors" in only_message(verdict, "pair.more-than-possible", Severity.ERROR)
    assert check_pair("x", BEFORE, busy, 4).state is PairState.USABLE
    assert check_pair("x", BEFORE, busy, None).state is PairState.USABLE


def test_a_fully_busy_guest_fits_clocks_of_whole_seconds() -> None:
    assert check_pair("x", BEFORE, after_with({("", "totcpu"): 2033.44 + 1265.5}), 2).state is PairState.USABLE


def test_connect_time_that_does_not_follow_the_clock_is_a_warning() -> None:
    assert not check_pair("x", BEFORE, after_with({("", "connect"): 4340.0 + 630}), 2).findings
    for growth in (629, 635):
        verdict = check_pair("x", BEFORE, after_with({("", "connect"): 4340.0 + growth}), 2)
        assert verdict.state is PairState.USABLE
        message = only_message(verdict, "pair.connect", Severity.WARNING)
        assert f"{growth} s in the 632 s" in message


def test_a_cleared_adapter_is_left_out_and_the_rest_kept() -> None:
    verdict = check_pair("x", BEFORE, after_with({(ADAPTER, "tx_packets"): 3.0}), 2)
    assert verdict.state is PairState.USABLE
    assert verdict.left_out == {ADAPTER}
    assert ADAPTER in only_message(verdict, "pair.adapter-cleared", Severity.WARNING)


def test_another_zone_is_a_warning_and_leaves_no_elapsed_time() -> None:
    summer = replace(AFTER, zone="EDT", taken=START - timedelta(seconds=2968))
    verdict = check_pair("x", BEFORE, summer, 2)
    assert (verdict.state, verdict.elapsed_s) == (PairState.USABLE, None)
    assert "EST to EDT" in only_message(verdict, "pair.zone", Severity.WARNING)


def test_a_snapshot_without_time_is_a_warning_and_leaves_no_elapsed_time() -> None:
    verdict = check_pair("x", replace(BEFORE, taken=None), AFTER, 2)
    assert (verdict.state, verdict.elapsed_s) == (PairState.USABLE, None)
    only_message(verdict, "pair.no-time", Severity.WARNING)


def test_roles_that_cover_another_time_than_the_client() -> None:
    def taken(seconds: float) -> tuple[datetime, datetime]:
        return START, START + timedelta(seconds=seconds)

    assert check_elapsed({"client": taken(632), "server": taken(633), "lpar": taken(631)}) == []
    findings = check_elapsed({"client": taken(632), "server": taken(634), "lpar": taken(640)})
    assert [(one.subject, one.severity) for one in findings] == [
        ("lpar", Severity.WARNING),
        ("server", Severity.WARNING),
    ]
    assert "640 s" in findings[0].message
    assert "632 s" in findings[0].message
    assert check_elapsed({"server": taken(634), "lpar": taken(640)}) == []
