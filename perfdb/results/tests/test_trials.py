"""Identity of runs whose logs name none: start with zone, ports, cookie and file tell tests apart."""

from datetime import UTC, datetime

import pytest

from perfdb.results.changes.rebuild import rebuild_run
from perfdb.results.models import Run, Upload
from perfdb.results.tests.conftest import Bring
from perfdb.results.tests.rows import read_figures

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


def server(*ports: int, rate: str = "511") -> bytes:
    """Return a server's log of iperf 2 with a test of each port."""
    tests = "".join(
        f"[  {n}] local 198.51.100.9 port 5001 connected with 198.51.100.4 port {port}\n"
        f"[ ID] Interval       Transfer     Bandwidth\n[  {n}]  0.0- 8.0 sec   48{n} MBytes   {rate} Mbits/sec\n"
        for n, port in enumerate(ports, start=4)
    )
    head = f"{DASHES}\nServer listening on TCP port 5001\nTCP window size:  128 KByte (default)\n{DASHES}\n"
    return (head + tests).encode()


def qperf(rate: str = "1.31", prompt: str = "") -> bytes:
    """Return a log without any mark."""
    return f"{prompt}tcp_bw:\n    bw  =  {rate} GB/sec\n".encode()


def trials() -> list[tuple[str, int]]:
    return sorted(Run.objects.exclude(status="withdrawn").values_list("run_id", "trial"))


def outcomes(upload: Upload) -> list[str]:
    return sorted(upload.runs.values_list("outcome", flat=True))


def test_equal_figures_of_other_ports_are_two_runs(bring: Bring) -> None:
    bring(("a.log", iperf2(40100)), ("b.log", iperf2(40108)))
    assert trials() == [("a", 1), ("b", 1)]


def test_equal_figures_without_marks_are_told_apart_by_file(bring: Bring) -> None:
    bring(("a.txt", qperf()), ("b.txt", qperf(prompt="$ qperf hostb tcp_bw\n")), ("copy.txt", qperf()))
    assert trials() == [("a", 1), ("b", 1)]


def test_the_same_bytes_are_nothing_new_whatever_they_are_called(bring: Bring) -> None:
    bring(("a.txt", qperf()), ("b.log", iperf2()))
    again = bring(("x/c.txt", qperf()), ("d.log", iperf2()))
    assert (trials(), outcomes(again)) == ([("a", 1), ("b", 1)], ["already-there"] * 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (iperf2(40100), iperf2(40108, "530")),
        (iperf2(40100), iperf2(40108)),
        (iperf2(on=" on 2025-06-03 01:00:00 (UTC)"), iperf2(on=" on 2025-06-04 01:00:00 (UTC)")),
        (qperf(), qperf("1.33")),
        (qperf(), qperf(prompt="$ qperf hostb tcp_bw\n")),
    ],
    ids=["ports", "ports-alone", "start", "file", "file-alone"],
)
def test_a_file_of_the_same_name_is_another_trial(bring: Bring, first: bytes, second: bytes) -> None:
    bring(("t.log", first))
    upload = bring(("t.log", second))
    assert (upload.state, trials()) == ("done", [("t", 1), ("t", 2)])
    assert "run.another-trial" in set(upload.problems.values_list("code", flat=True))
    assert outcomes(bring(("t.log", first))) == ["already-there"]
    assert outcomes(bring(("t.log", second))) == ["already-there"]


@pytest.mark.parametrize(("name", "state"), [("tcp1.txt", "done"), ("AB101/tcp.txt", "preview")])
def test_a_folder_names_a_run_and_a_files_name_does_not(bring: Bring, name: str, state: str) -> None:
    bring((name, qperf()))
    assert bring((name, qperf("1.33"))).state == state


def test_other_figures_of_the_same_test_are_a_conflict(bring: Bring) -> None:
    bring(("t.log", iperf2(rate="512")))
    assert bring(("t.log", iperf2(rate="513"))).state == "preview"


def test_folders_that_are_dates_give_no_names(bring: Bring) -> None:
    days = ("2026-03-03", "20260304T0200", "2026/03/05")
    bring(*((f"{day}/t.log", iperf2(40100 + at)) for at, day in enumerate(days)))
    assert trials() == [("t", 1), ("t", 2), ("t", 3)]


def test_a_series_in_the_folder_of_a_run_is_its_trials(bring: Bring) -> None:
    upload = bring(*((f"AB101/t{name}.log", iperf2(40100 + at)) for at, name in enumerate("xyz")))
    assert (upload.state, trials()) == ("done", [("AB101", 1), ("AB101", 2), ("AB101", 3)])


def values(run: Run) -> dict[str, float]:
    return {str(each.measure): each.value for each in read_figures(run)}


def test_a_servers_log_alone_is_a_run_of_the_receivers_figures(bring: Bring) -> None:
    bring(("s.log", server(40100)))
    run = Run.objects.get()
    assert (run.status, "mb_per_s@server" in values(run), "mb_per_s" in values(run)) == ("complete", True, False)
    assert "only the server's log" in run.problems.get(code="run.no-driver-log").message


def test_a_servers_log_of_the_next_night_is_other_trials(bring: Bring) -> None:
    for ports in ((40100, 40102), (40200, 40202)):
        assert bring(("s.log", server(*ports))).state == "done"
    assert trials() == [("s", 1), ("s", 2), ("s", 3), ("s", 4)]
    assert outcomes(bring(("s.log", server(40100, 40102)))) == ["already-there"] * 2


@pytest.mark.parametrize("first", ["server", "client"])
def test_the_other_end_joins_when_it_comes(bring: Bring, first: str) -> None:
    logs = [("s.log", server(40100)), ("c.log", iperf2(40100))]
    for log in logs if first == "server" else reversed(logs):
        upload = bring(log)
    run = Run.objects.get()
    assert (run.run_id, run.trial, outcomes(upload)) == ({"server": "s", "client": "c"}[first], 1, ["extended"])
    assert {"mb_per_s", "mb_per_s@server"} <= values(run).keys()
    assert rebuild_run(run).record.run_id == run.run_id
    assert [outcomes(bring(log)) for log in logs] == [["already-there"]] * 2


@pytest.mark.parametrize("folder", ["", "r/", "AB101/"])
def test_a_servers_log_of_several_tests_gives_the_fitting_one(bring: Bring, folder: str) -> None:
    upload = bring((f"{folder}server.log", server(40096, 40100)), (f"{folder}client.log", iperf2(40100)))
    run = Run.objects.get(sources__driver=True)
    assert (upload.state, values(run)["bytes_received@server"]) == ("done", 485 * 2**20)
