"""Two Linux hosts' snapshots through the whole import: figures, where they come from, and pairs that are no good."""

from pathlib import Path

import pytest

from perfdb.results.changes.provenance import Figure
from perfdb.results.models import CounterSet, Run, Upload
from perfdb.results.runs.read import read_record
from perfdb.results.tests.conftest import LOGS, Bring
from perfdb.results.tests.rows import read_figures

pytestmark = pytest.mark.django_db

CASE = LOGS / "campaign/two_tools"
RUN = "netperf/lvrr0201"


def files(below: str = "", base: Path = CASE) -> list[tuple[str, bytes]]:
    paths = sorted(path for path in (base / below).rglob("*") if path.is_file())
    return [(f"{base.name}/{path.relative_to(base).as_posix()}", path.read_bytes()) for path in paths]


def changed(old: str, new: str, where: str, below: str = RUN) -> list[tuple[str, bytes]]:
    """The files of one run, one text in those whose names hold ``where`` replaced."""
    return [(n, data.replace(old.encode(), new.encode()) if where in n else data) for n, data in files(below)]


def found(run: Run) -> dict[str, Figure]:
    return {str(figure.measure): figure for figure in read_figures(run)}


def codes(upload: Upload) -> set[str]:
    return set(upload.problems.values_list("code", flat=True))


def test_a_folder_of_two_tools_is_imported_as_it_is(bring: Bring) -> None:
    upload = bring(*files())
    assert codes(upload) == {"collate.rows-left-over", "collate.run-id-from-name", "pair.wrapped", "run.parts"}
    stored = {(run.experiment.factors["tool"], run.run_id): run for run in Run.objects.select_related("experiment")}
    assert {key: (str(run.workload), run.mtu, run.users, run.trial) for key, run in stored.items()} == {
        ("netperf", "lvrr0201"): ("RR", 8992, 2, 1),
        ("netperf", "lvpp0101"): ("STRP", 1492, 1, 1),
        ("ping", "lvrr0201"): ("PING 56/56", 1492, 1, 2),
    }
    run = stored["netperf", "lvrr0201"]
    assert (str(run.device), str(run.level)) == ("OSA-Express7S", "Linux 5.14.21-150500")
    assert str(run.system).startswith("8561 · lnxc1 · 2 processors")
    assert read_record(run).facts["server.node"].text == "lnxs1"


def test_processes_started_together_add_up(bring: Bring) -> None:
    bring(*files(RUN))
    run = Run.objects.get()
    rate = found(run)["trans_per_s"]
    assert (rate.value, rate.printed, rate.origin) == (10002.5, "5012.40 + 4990.10", "reported")
    assert rate.place is not None
    assert rate.place.path.endswith("netperf.1.txt")
    record = read_record(run)
    # Each part is a fact that leads to its own line.
    part = record.facts["trans_per_s.netperf.2"]
    assert (part.text, part.line, record.facts["users"].text) == ("4990.10 trans/s", 7, "2")


def test_cpu_costs_lead_to_the_lines_they_come_from(bring: Bring) -> None:
    bring(*files(RUN))
    cost = found(Run.objects.get())["cpu_ms_per_trans@client"]
    # 2.60 user, 5.20 system, 0.06 irq, 2.25 softirq, 0.25 steal; 10 s of 10,002.5 transactions a second
    assert cost.value == pytest.approx(10.36 * 1000 / 100_025)
    assert cost.formula is not None
    system = next(one for one in cost.formula.inputs if one.name == "system")
    assert (system.before, system.after, system.unit) == (177.0, 182.2, "s")
    assert system.place is not None
    assert system.before_place is not None
    assert (system.before_place.path[-16:], system.before_place.line) == ("lnxc1.before.txt", 12)
    assert (system.place.path[-15:], system.place.line) == ("lnxc1.after.txt", 12)


def test_counters_go_on_after_32_bits(bring: Bring) -> None:
    bring(*files(RUN))
    softnet = CounterSet.objects.get(role="client", subject="softnet/0")
    at = softnet.layout.names.index("processed")
    assert (softnet.before[at], softnet.after[at]) == (4294967290, 104000 + 2**32)


def test_evidence_that_comes_later_joins_its_run(bring: Bring) -> None:
    whole = files(RUN)
    logs = [file for file in whole if "netperf." in file[0]]
    bring(*(file for file in whole if file not in logs and "lnxs1" not in file[0]), *logs)
    assert "cpu_ms_per_trans@lnxc1" in found(Run.objects.get())
    upload = bring(*(file for file in whole if "lnxs1" in file[0]))
    assert list(upload.runs.values_list("outcome", flat=True)) == ["extended"]
    assert {"cpu_ms_per_trans@client", "cpu_ms_per_trans@server"} <= found(Run.objects.get()).keys()


def test_the_same_folder_again_brings_nothing_new(bring: Bring) -> None:
    bring(*files())
    again = bring(*files())
    assert set(again.runs.values_list("outcome", flat=True)) == {"already-there"}


@pytest.mark.parametrize(
    ("old", "new", "where", "code"),
    [
        ("10:20:10.75", "10:19:10.75", "lnxc1.after", "pair.swapped"),
        ("btime 1710406000", "btime 1710408001", "lnxc1.after", "pair.clock"),
        ("2010.60 3660.80", "7.60 3.80", "lnxc1.after", "pair.swapped"),
        ("enc600", "enc700", "lnxc1.after", "pair.other-adapters"),
        ("cpu  8160", "cpu  7000", "lnxc1.after", "pair.reset"),
    ],
)
def test_pairs_that_cannot_be_used(bring: Bring, old: str, new: str, where: str, code: str) -> None:
    upload = bring(*changed(old, new, where))
    assert code in codes(upload)
    refused = code != "pair.clock"
    assert ("cpu_util@client" in found(Run.objects.get())) is not refused
    usable = CounterSet.objects.filter(role="client", usable=True)
    assert usable.exists() is not refused


def test_a_person_says_who_the_client_is_and_where_the_sides_were_bound(bring: Bring) -> None:
    plain = changed("to lnxs1 ()", "to 10.1.1.2 ()", "netperf.")
    assert "collate.roles" in codes(bring(*plain))
    assert "cpu_util@lnxc1" in found(Run.objects.get())
    Run.objects.all().delete()
    said = {"client": "lnxc1", "server": "lnxs1", "client_cpus": "0", "server_cpus": "0 1"}
    upload = bring(*plain, facts=said)
    assert "collate.roles" not in codes(upload)
    values = {measure: figure.value for measure, figure in found(Run.objects.get()).items()}
    # cpu0 of the client: 2.10 + 4.20 + 0.05 + 2.05 + 0.16 busy, 1.60 idle, 0.04 waiting
    assert values["bound_cpu_util@client"] == pytest.approx(8.56 / 10.2 * 100)
    assert values["cpu_ms_per_trans@client"] == pytest.approx(8560 / 100_025)
    assert values["bound_cpu_util@server"] == pytest.approx(values["cpu_util@server"])


def manifest() -> tuple[str, bytes]:
    return next(file for file in files() if file[0].endswith("manifest.csv"))


def test_the_driver_of_the_adapter_is_the_device_where_nobody_names_one(bring: Bring) -> None:
    bring(*files(RUN))
    run = Run.objects.select_related("device").get()
    driver = read_record(run).facts["driver"]
    assert (str(run.device), driver.text, bool(driver.line)) == ("qeth_l2", "qeth_l2", True)


def test_whoever_names_the_device_counts_more_than_the_driver(bring: Bring) -> None:
    bring(*files(RUN))
    assert [row.outcome for row in bring(manifest()).runs.all()] == ["extended"]
    assert str(Run.objects.get().device) == "OSA-Express7S"
    # The same files once more, without the manifest.
    assert [row.outcome for row in bring(*files(RUN)).runs.all()] == ["already-there"]


def test_captures_with_a_driver_join_the_run_whose_device_is_named(bring: Bring) -> None:
    logs = [file for file in files(RUN) if "netperf." in file[0]]
    bring(*logs, manifest())
    upload = bring(*(file for file in files(RUN) if file not in logs))
    assert [row.outcome for row in upload.runs.all()] == ["extended"]
    run = Run.objects.get()
    assert (str(run.device), "cpu_ms_per_trans@client" in found(run)) == ("OSA-Express7S", True)


def test_captures_whose_device_is_named_join_the_run_that_has_its_driver(bring: Bring) -> None:
    servers = [file for file in files(RUN) if "lnxs1" in file[0]]
    hosts = ("hosts.csv", b"run_id,tool,client,server\nlvrr0201,netperf,lnxc1,lnxs1\n")
    bring(hosts, *(file for file in files(RUN) if file not in servers))
    assert str(Run.objects.get().device) == "qeth_l2"
    bring(*servers, manifest())
    run = Run.objects.get()
    assert (str(run.device), "cpu_ms_per_trans@server" in found(run)) == ("OSA-Express7S", True)
