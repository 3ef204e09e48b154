"""Checks of printed figures against each other: the vectors of METHODS section 5 and the limits of each check."""

import pytest

from perfdb.analysis.checks.finding import Finding, Quantity, Severity
from perfdb.analysis.checks.run import check_bytes, check_cpu, check_cpu_sum, check_little


def rate(text: str) -> Quantity:
    return Quantity(text, "trans/s")


def ms(text: str) -> Quantity:
    return Quantity(text, "ms", 7)


def severities(findings: list[Finding]) -> list[str]:
    return [finding.severity.value for finding in findings]


def test_littles_law_holds() -> None:
    assert check_little(10, rate("1631.10"), ms("6.13")) == []


def test_littles_law_finds_seconds_called_milliseconds() -> None:
    (finding,) = check_little(50, rate("2.90"), ms("17.25"))
    assert (finding.severity, finding.line) == (Severity.WARNING, 7)
    assert "unit of the response time is probably sec" in finding.message


@pytest.mark.parametrize(
    ("response", "expected"), [("6.30", []), ("6.40", ["note"]), ("7.00", ["warning"]), ("5.00", ["warning"])]
)
def test_littles_law_grades_deviations(response: str, expected: list[str]) -> None:
    findings = check_little(10, rate("1631.10"), ms(response))
    assert severities(findings) == expected
    assert not [one for one in findings if "unit" in one.message]


def test_littles_law_allows_for_rounding() -> None:
    assert check_little(50, rate("9077.29"), Quantity("0.01", "s")) == []


@pytest.mark.parametrize("text", ["0", "0.00", "junk"])
def test_littles_law_needs_figures(text: str) -> None:
    assert check_little(10, rate(text), ms("6.13")) == []


def test_bytes() -> None:
    assert check_bytes(rate("1631.10"), 1200, Quantity("1.87", "MB/s")) == []
    assert severities(check_bytes(rate("1631.10"), 1200, Quantity("1.90", "MB/s"))) == ["note"]
    (finding,) = check_bytes(rate("1631.10"), 1200, Quantity("2.87", "MB/s", 4))
    assert (finding.severity, finding.line) == (Severity.WARNING, 4)
    assert "1.8666" in finding.message


def test_cpu() -> None:
    assert check_cpu(Quantity("89.30", "%"), 2, rate("1631.10"), Quantity("1.09", "ms/trans")) == []
    (finding,) = check_cpu(Quantity("47.30", "%"), 1, rate("1654.49"), Quantity("0.14", "ms/trans"), "client")
    assert (finding.severity, finding.subject) == (Severity.WARNING, "client")
    assert "0.2859" in finding.message


def test_cpu_without_figures() -> None:
    assert check_cpu(Quantity("-", "%"), 2, rate("1631.10"), Quantity("1.09", "ms/trans")) == []
    assert check_cpu(Quantity("89.30", "%"), 0, rate("1631.10"), Quantity("1.09", "ms/trans")) == []


def test_cpu_sums_within_half_steps() -> None:
    assert check_cpu_sum(Quantity("0.22"), Quantity("0.10"), Quantity("0.12")) == []
    assert check_cpu_sum(Quantity("0.23"), Quantity("0.10"), Quantity("0.12")) == []
    assert severities(check_cpu_sum(Quantity("20.00"), Quantity("10.10"), Quantity("10.12"))) == ["note"]
    (finding,) = check_cpu_sum(Quantity("0.25"), Quantity("0.10"), Quantity("0.12"), "total")
    assert (finding.severity, finding.subject) == (Severity.WARNING, "total")
    assert "0.22" in finding.message


def test_cpu_sums_of_zero() -> None:
    assert severities(check_cpu_sum(Quantity("0.00"), Quantity("0.10"), Quantity("0.12"))) == ["warning"]
    assert check_cpu_sum(Quantity("0.00"), Quantity("0.00"), Quantity("0.00")) == []
