"""Checks of a run's printed figures against each other (METHODS section 5): Little's law, bytes, CPU and sums.

Each allows what rounding of the printed figures can have done. A deviation up to 5 % is a note, more is a warning.
"""

from perfdb.analysis.checks.finding import Finding, Quantity


def check_little(users: int, trans_per_s: Quantity, response: Quantity) -> list[Finding]:
    """Little's law: users = transactions per second × response time, within 3 %. ``response`` has a unit of time."""
    return []


def check_bytes(trans_per_s: Quantity, bytes_per_transaction: int, mb_per_s: Quantity) -> list[Finding]:
    """MB per second = transactions per second × bytes per transaction / 2^20."""
    return []


def check_cpu(
    utilisation: Quantity, processors: float, rate: Quantity, cost: Quantity, subject: str = ""
) -> list[Finding]:
    """CPU ms per unit of work = utilisation / 100 × processors / rate × 1000."""
    return []


def check_cpu_sum(total: Quantity, virtual: Quantity, cp: Quantity, subject: str = "") -> list[Finding]:
    """Virtual + CP = total, within the sum of the half-steps."""
    return []
