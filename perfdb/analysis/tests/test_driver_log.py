"""Checks of a driver's log: each cross-check, and units that are mixed inside a run."""

from dataclasses import replace

import pytest

from perfdb.analysis.checks.driver_log import DriverLog, DriverRecord, check_driver
from perfdb.analysis.checks.finding import Finding, Quantity, Severity


def connection(number: int, trans: int, seconds: float, mean: str, unit: str = "ms") -> DriverRecord:
    line = 10 + number
    return DriverRecord(
        label=f"connection {number}",
        line=line,
        transactions=Quantity(str(trans), "trans", line),
        seconds=seconds,
        response_mean=(Quantity(mean, unit, line),),
        response_min=(Quantity("2.500", "ms", line),),
        response_max=(Quantity("90.125", "ms", line),),
    )


def interval(number: int, trans: int, seconds: float, mean: str) -> DriverRecord:
    return DriverRecord(
        f"interval {number}",
        5 + number,
        Quantity(str(trans), "trans", 5 + number),
        seconds,
        (Quantity(mean, "ms", 5 + number),),
    )


# Three users for 200 s; each record's response time is its own seconds per transaction.
LOG = DriverLog(
    run_id="good0001",
    summary=DriverRecord("the summary", 20, Quantity("97000", "trans", 20), 200.5, (Quantity("6.201", "ms", 20),)),
    trans_per_s=Quantity("483.79", "trans/s", 20),
    mb_per_s=Quantity("0.55", "MB/s", 20),
    connections=(
        connection(1, 32000, 200.0, "6.250"),
        connection(2, 32500, 200.2, "6.160"),
        connection(3, 32500, 200.5, "6.169"),
    ),
    intervals=(interval(1, 48000, 100.0, "6.250"), interval(2, 49000, 100.5, "6.153")),
    users=3,
    think_ms=0,
    request_bytes=200,
    response_bytes=1000,
)


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def with_connection(record: DriverRecord) -> DriverLog:
    return replace(LOG, connections=(*LOG.connections[:2], record))


def test_a_consistent_log_passes() -> None:
    assert check_driver(LOG) == []


def test_nothing_to_check() -> None:
    assert check_driver(DriverLog("empty001")) == []


def test_connections_that_do_not_add_up() -> None:
    finding = only(check_driver(replace(LOG, connections=LOG.connections[:2])))
    assert (finding.severity, finding.code, finding.line) == (Severity.WARNING, "driver.connections-sum", 20)
    assert "64500" in finding.message
    assert "97000" in finding.message


def test_intervals_that_do_not_add_up() -> None:
    finding = only(check_driver(replace(LOG, intervals=LOG.intervals[:1])))
    assert finding.code == "driver.intervals-sum"
    assert "48000" in finding.message
    assert "97000" in finding.message


@pytest.mark.parametrize("text", ["483.78", "483.8", "484"])
def test_the_rate_is_checked_to_its_printed_decimals(text: str) -> None:
    findings = check_driver(replace(LOG, trans_per_s=Quantity(text, "trans/s", 20)))
    assert [finding.code for finding in findings] == (["driver.rate"] if text == "483.78" else [])


def test_the_rates_finding_names_both_figures() -> None:
    finding = only(check_driver(replace(LOG, trans_per_s=Quantity("490.00", "trans/s", 20))))
    assert "490.00" in finding.message
    assert "483.791" in finding.message


def test_throughput_that_fits_no_megabyte_is_a_warning() -> None:
    finding = only(check_driver(replace(LOG, mb_per_s=Quantity("0.70", "MB/s", 20))))
    assert (finding.severity, finding.code) == (Severity.WARNING, "driver.megabytes")
    assert "0.70" in finding.message
    assert "0.554" in finding.message


def test_throughput_in_the_other_megabyte_is_refused() -> None:
    finding = only(check_driver(replace(LOG, mb_per_s=Quantity("0.581", "MB/s", 20))))
    assert (finding.severity, finding.code, finding.line) == (Severity.ERROR, "driver.mixed-units", 20)
    assert "mb_per_sec=0.581 fits 1000000-byte megabytes while the file says 1048576" in finding.message


def test_the_stated_megabyte_decides() -> None:
    decimal = replace(LOG, mb_per_s=Quantity("0.581", "MB/s", 20), mb_bytes=1_000_000)
    assert check_driver(decimal) == []
    finding = only(check_driver(replace(decimal, mb_per_s=Quantity("0.554", "MB/s", 20))))
    assert "fits 1048576-byte megabytes while the file says 1000000" in finding.message


def test_the_servers_count_is_a_cross_check() -> None:
    assert check_driver(replace(LOG, peer_transactions=Quantity("97000", "trans", 9))) == []
    finding = only(check_driver(replace(LOG, peer_transactions=Quantity("96000", "trans", 9))))
    assert (finding.severity, finding.code) == (Severity.WARNING, "driver.peer")
    assert "96000" in finding.message
    assert "97000" in finding.message


def test_seconds_that_fit_milliseconds_are_refused_with_the_throughput_in_one_finding() -> None:
    log = replace(with_connection(connection(3, 32500, 200.5, "6.169", "s")), mb_per_s=Quantity("0.581", "MB/s", 20))
    finding = only(check_driver(log))
    assert finding.message == (
        "Units disagree inside run good0001: connection 3 gives its response time in seconds with a value that fits "
        "milliseconds, and mb_per_sec=0.581 fits 1000000-byte megabytes while the file says 1048576. "
        "See lines 13 and 20."
    )
    assert (finding.severity, finding.line, finding.subject) == (Severity.ERROR, 13, "connection 3")


def test_another_unit_with_the_right_value_is_no_finding() -> None:
    assert check_driver(with_connection(connection(3, 32500, 200.5, "0.006169", "s"))) == []


def test_another_unit_with_a_value_that_fits_none_is_refused() -> None:
    finding = only(check_driver(with_connection(connection(3, 32500, 200.5, "0.0077", "s"))))
    assert finding.severity == Severity.ERROR
    assert "0.0077 s" in finding.message
    assert "6.169 ms" in finding.message


def test_the_summary_and_intervals_share_their_time_among_users() -> None:
    wrong = replace(LOG.intervals[1], response_mean=(Quantity("6.153", "s", 7),))
    finding = only(check_driver(replace(LOG, intervals=(LOG.intervals[0], wrong))))
    assert "interval 2 gives its response time in seconds with a value that fits milliseconds" in finding.message


def test_a_mean_that_is_off_in_its_own_unit_is_a_warning() -> None:
    finding = only(check_driver(with_connection(connection(3, 32500, 200.5, "6.5"))))
    assert (finding.severity, finding.code) == (Severity.WARNING, "driver.response")
    assert "6.5 ms" in finding.message
    assert "6.169 ms" in finding.message


def test_many_deviations_make_one_warning() -> None:
    off = tuple(connection(n, 32500, 200.5, "6.5") for n in (1, 2, 3))
    finding = only([one for one in check_driver(replace(LOG, connections=off)) if one.code == "driver.response"])
    assert "2 more records" in finding.message


@pytest.mark.parametrize("think_ms", [10.0, None])
def test_with_pauses_connections_are_not_compared(think_ms: float | None) -> None:
    log = replace(with_connection(connection(3, 32500, 200.5, "1.1", "s")), think_ms=think_ms)
    assert [one.code for one in check_driver(log) if one.code in {"driver.response"}] == []


@pytest.mark.parametrize(("seconds", "refused"), [("6.250", True), ("0.00625", False), ("0.0063", False)])
def test_the_same_quantity_in_two_units_must_agree(seconds: str, refused: bool) -> None:
    twice = replace(LOG.connections[2], response_mean=(Quantity("6.250", "ms", 13), Quantity(seconds, "s", 13)))
    findings = check_driver(replace(with_connection(twice), think_ms=5.0))
    assert [one.code for one in findings] == (["driver.mixed-units"] if refused else [])


def test_a_least_time_above_the_mean_in_another_unit_is_refused() -> None:
    strange = replace(LOG.connections[2], response_min=(Quantity("2.500", "s", 13),))
    finding = only(check_driver(with_connection(strange)))
    assert finding.severity == Severity.ERROR
    assert "2.500 s" in finding.message


def test_a_largest_time_in_another_unit_that_can_be_right_is_no_finding() -> None:
    other = replace(LOG.connections[2], response_max=(Quantity("0.090", "s", 13),))
    assert check_driver(with_connection(other)) == []


def test_least_times_in_two_units_must_agree() -> None:
    twice = replace(LOG.connections[2], response_min=(Quantity("2.5", "ms", 13), Quantity("3500", "us", 13)))
    finding = only(check_driver(with_connection(twice)))
    assert "least response time both as 2.5 ms and as 3500 us" in finding.message


def test_many_wrong_units_are_counted() -> None:
    wrong = tuple(connection(n, 32500, 200.5, "6.169", "s") for n in range(1, 21))
    finding = only([one for one in check_driver(replace(LOG, connections=wrong)) if one.severity == Severity.ERROR])
    assert "17 more" in finding.message


def test_no_transactions_are_no_disagreement() -> None:
    idle = DriverRecord("connection 1", 11, Quantity("0", "trans", 11), 600.0)
    summary = DriverRecord("the summary", 20, Quantity("0", "trans", 20), 600.0)
    log = DriverLog(
        "zero0001",
        summary,
        Quantity("0.00", "trans/s", 20),
        Quantity("0.00", "MB/s", 20),
        connections=(idle,),
        users=1,
        think_ms=0,
        request_bytes=200,
        response_bytes=1000,
    )
    assert check_driver(log) == []


def test_what_is_no_number_is_not_checked() -> None:
    junk = Quantity("junk", "parsec", 20)
    record = DriverRecord("connection 1", 11, junk, 5.0, (junk,), (junk,), (junk,))
    log = replace(
        LOG, trans_per_s=junk, mb_per_s=junk, connections=(record,), peer_transactions=junk, intervals=(record,)
    )
    assert check_driver(log) == []
