"""Identity of runs whose logs name none: start with zone, ports, cookie and file tell tests apart."""

from datetime import UTC, datetime

import pytest

from perfdb.results.models import Run
from perfdb.results.tests.conftest import Bring

pytestmark = pytest.mark.django_db

DASHES = "-" * 60


def iperf2(port: int = 40100, rate: str = "512", on: str = "") -> bytes:
    """Return a client's log of iperf 2."""
    text = (
        f"{DASHES}\nClient connecting to 198.51.100.9, TCP port 5001\nTCP window size: 85.0 KByte (default)\n{DASHES}\n"
        f"[  1] local 198.51.100.4 port {port} connected with 198.51.100.9 port 5001{on}\n"
        f"[ ID] Interval       Transfer     Bandwidth\n[  1]  0.0- 8.0 sec   488 MBytes   {rate} Mbits/sec\n"
    )
    return text.encode()


@pytest.mark.parametrize(
    ("zone", "started"),
    [("CEST", datetime(2025, 6, 3, 21, 30, tzinfo=UTC)), ("-05:00", datetime(2025, 6, 4, 4, 30, tzinfo=UTC))],
)
def test_the_start_is_by_the_printed_zone(bring: Bring, zone: str, started: datetime) -> None:
    bring(("t.log", iperf2(on=f" on 2025-06-03 23:30:00 ({zone})")))
    assert Run.objects.get().started == started


def test_a_zone_that_is_not_known_leaves_the_start_open(bring: Bring) -> None:
    upload = bring(("t.log", iperf2(on=" on 2025-06-03 23:30:00 (XYZT)")))
    run = Run.objects.get()
    assert run.started == upload.created
    assert "XYZT" in run.problems.get(code="run.zone-unknown").message


def test_a_zone_may_be_supplied(bring: Bring) -> None:
    bring(("t.log", iperf2(on=" on 2025-06-03 23:30:00 (XYZT)")), facts={"utc_offset": "+02:00"})
    assert Run.objects.get().started == datetime(2025, 6, 3, 21, 30, tzinfo=UTC)
