"""record.sh, run for real under several shells: what it keeps, what it uploads, and that it loses nothing."""

import csv
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from perfdb.api.service import script
from perfdb.api.tests.conftest import client_of
from perfdb.api.tests.recording import SHELLS, Machine, present
from perfdb.results.models import Run, Upload
from perfdb.results.runs import access

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="record.sh reads Linux's /proc")

NOWHERE = "http://127.0.0.1:9"
RR = ("netperf", "-H", "192.0.2.7", "-t", "TCP_RR", "--", "-r", "300,900")


@pytest.fixture(params=SHELLS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    """A machine for each shell."""
    return make_machine(tmp_path, request.param)


@pytest.fixture
def host(tmp_path: Path) -> Machine:
    """One machine, for what does not depend on the shell."""
    return make_machine(tmp_path, next(name for name, argv in SHELLS.items() if present(argv)))


def make_machine(home: Path, shell: str) -> Machine:
    if not present(SHELLS[shell]):
        pytest.skip(f"there is no {shell} here")
    return Machine(home, SHELLS[shell])


@pytest.fixture
def token(transactional_db: None, ada: User) -> str:
    """A token of Ada's."""
    return access.make_token(ada, "recorder")


@pytest.fixture
def server(live_server: LiveServer, celery_worker_running: None, host: Machine, token: str) -> str:
    """The address of a server with a worker, whose token the machine has."""
    host.env["PERFDB_TOKEN"] = token
    return str(live_server.url)


def manifest(folder: Path) -> dict[str, str]:
    """The row of a run's manifest."""
    (row,) = csv.DictReader((folder / "manifest.csv").open())
    return row


def stored(ada: User, run: Run) -> Any:
    """The run as the API answers it."""
    return client_of(ada).get(f"/api/v1/runs/{run.pk}/").json()


def figures(body: Any) -> dict[str, float]:
    """The values of a run, by measure."""
    return {f"{each['metric']}@{each['role']}": each["value"] for each in body["measurements"]}


# ---- the script ------------------------------------------------------------------------------------------------------


def test_the_server_gives_it_out_with_its_own_address(client: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["perf.example"]
    response = client.get("/record.sh", headers={"host": "perf.example:8080"})
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/x-shellscript; charset=utf-8")
    lines = response.content.decode().splitlines()
    assert [line.partition(" #")[0] for line in lines if line.startswith("default_url=")] == [
        "default_url=http://perf.example:8080"
    ]
    assert len(lines) == len(script().splitlines())


def test_the_upload_page_leads_to_it(client: Client, ada: User) -> None:
    client.force_login(ada)
    assert 'href="/record.sh" download>http://testserver/record.sh</a>' in client.get("/uploads/new/").content.decode()


def test_every_shell_understands_it(machine: Machine) -> None:
    subprocess.run([*machine.shell, "-n", machine.script], check=True)
    done = machine.run("--help")
    assert done.returncode == 0
    assert "--server-device NAME" in done.stdout


# ---- recording -------------------------------------------------------------------------------------------------------


def test_a_run_is_kept_whole(machine: Machine) -> None:
    done = machine.run(
        "--run-id", "AB1", "--device", "test0", "--trial", "3", "users=4", 'note=6" cable, red', "--", *RR
    )
    assert done.returncode == 0, done.stderr
    folder = machine.records / "AB1"
    assert "4321.50" in done.stdout
    assert done.stdout == (folder / "output.txt").read_text()
    for moment in ("before", "after"):
        text = (folder / f"client.{moment}.txt").read_text()
        assert all(f"==> {title} <==" in text for title in ("date", "/proc/stat", "ip -s -s link show dev test0"))
    row = manifest(folder)
    assert (row["run_id"], row["trial"], row["users"], row["device"]) == ("AB1", "3", "4", "test0")
    assert (row["note"], row["exit_status"], row["tool_version"]) == ('6" cable, red', "0", "2.7.1")
    assert row["command"] == shlex.join(RR)
    assert row["start_utc"] <= row["end_utc"]
    assert {path.name for path in folder.iterdir()} >= {".recorded", "stderr.txt"}
    assert folder.stat().st_mode & 0o077 == 0


def test_a_failing_command_keeps_its_status_and_its_words(machine: Machine) -> None:
    machine.program("broken", "printf partly; echo 'no such host' >&2; exit 7")
    done = machine.run("--run-id", "AB2", "--", "broken", "a b", "it's")
    assert done.returncode == 7
    assert "no such host" in done.stderr
    folder = machine.records / "AB2"
    assert (folder / "output.txt").read_text() == "partly\nno such host\n"
    assert (folder / "stderr.txt").read_text() == "no such host\n"
    assert shlex.split(manifest(folder)["command"]) == ["broken", "a b", "it's"]
    assert manifest(folder)["exit_status"] == "7"


def test_what_is_said_beside_a_document_does_not_spoil_it(machine: Machine) -> None:
    machine.program("iperf3", """echo '{"end": {}}'; echo 'warning: small window' >&2""")
    machine.run("--run-id", "AD2", "--", "iperf3", "-J")
    folder = machine.records / "AD2"
    assert (folder / "output.txt").read_text() == '{"end": {}}\n'
    assert "| warning: small window\n" in (folder / "client.after.txt").read_text()


@pytest.mark.parametrize("name", ["no-such-tool", "push", "exit"])
def test_only_programs_are_run(host: Machine, name: str) -> None:
    done = host.run("--run-id", "AB3", "--", name, "3")
    assert done.returncode == 127
    assert (host.records / "AB3" / "client.after.txt").exists()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let children receive SIGINT, which a test run in the background ignores and they would inherit."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_has_its_snapshot_after(machine: Machine) -> None:
    machine.program("endless", "echo started; exec sleep 60")
    process = machine.start("--run-id", "AB4", "--repeat", "2", "--", "endless")
    output = machine.records / "AB4-1" / "output.txt"
    deadline = time.monotonic() + 60
    while not (output.exists() and output.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert "==> /proc/stat <==" in (output.parent / "client.after.txt").read_text()
    assert manifest(output.parent)["exit_status"] == "130"
    assert (output.parent / ".recorded").exists()
    assert not (machine.records / "AB4-2").exists()


def test_trials_have_folders_of_their_own(machine: Machine) -> None:
    done = machine.run("--run-id", "AB5", "--repeat", "2", "--trial", "4", "--", *RR)
    assert done.returncode == 0
    rows = [manifest(machine.records / name) for name in ("AB5-4", "AB5-5")]
    assert [(row["run_id"], row["trial"]) for row in rows] == [("AB5-4", "4"), ("AB5-5", "5")]
    assert len(list(machine.records.iterdir())) == 2


def test_a_recorded_run_is_never_written_over(host: Machine) -> None:
    host.run("--run-id", "AB6", "--", *RR)
    before = (host.records / "AB6" / "manifest.csv").read_text()
    done = host.run("--run-id", "AB6", "--", "touch", "ran")
    assert done.returncode == 73
    assert (host.records / "AB6" / "manifest.csv").read_text() == before
    assert not (host.folder / "ran").exists()


def test_without_the_server_nothing_is_run(host: Machine) -> None:
    done = host.run("--server", "perf@elsewhere", "--run-id", "AB7", "--", "touch", "ran")
    assert done.returncode == 73
    assert not (host.folder / "ran").exists()
    assert list(host.records.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--colour", "red", "--", "true"],
        ["--study"],
        ["--study", "a b/c", "--", "true"],
        ["--study", "x" * 81, "--", "true"],
        ["--run-id", "a/b", "--", "true"],
        ["--server", "-oProxyCommand=touch${IFS}ran", "--", "true"],
        ["--device", "none such", "--", "true"],
        ["--device", "nosuch0", "--", "true"],
        ["--repeat", "0", "--", "true"],
        ["run_id=other", "--", "true"],
        ["users=1", "users=2", "--", "true"],
        ["--token-file", "no-such-file", "--", "true"],
        ["--token"],
        ["--attach", "no-such-file", "--", "true"],
    ],
)
def test_wrong_usage_is_told(host: Machine, words: list[str]) -> None:
    done = host.run(*words)
    assert done.returncode == 64
    assert done.stderr.startswith("perfdb: ")
    assert list(host.folder.iterdir()) == []


def test_a_dry_run_does_nothing(host: Machine) -> None:
    done = host.run("--dry-run", "--device", "test0", "--server", "perf@peer", "--", "touch", "ran")
    assert done.returncode == 0
    assert "touch ran" in done.stderr
    assert list(host.folder.iterdir()) == []


# ---- uploading -------------------------------------------------------------------------------------------------------


def test_one_upload_gives_a_run_with_its_circumstances(host: Machine, server: str, ada: User) -> None:
    done = host.run("--study", "lab", "--device", "test0", "--server", "perf@peer", "--url", server, "--", *RR)
    assert done.returncode == 0, done.stderr
    assert "is done; runs: new ; errors: 0" in done.stderr
    body = stored(ada, Run.objects.get())
    assert (body["workload"], body["device"], body["mtu"], body["users"]) == ("RR 300/900", "test0", 8992, 1)
    assert body["study"] == "lab"
    got = figures(body)
    assert got["trans_per_s@total"] == 4321.5
    assert {"cpu_ms_per_trans@client", "cpu_ms_per_trans@server"} <= got.keys()
    facts = {key: fact["text"] for key, fact in body["facts"].items()}
    assert facts["driver"] == "veryfast"
    assert (facts["offload.tso"], facts["offload.gro"]) == ("on", "off")
    assert (facts["tool_version"], facts["command"]) == ("2.7.1", shlex.join(RR))
    assert {"kernel", "congestion_control", "qdisc", "server.kernel", "server.driver"} <= facts.keys()


def test_with_the_server_away_nothing_is_lost(host: Machine, server: str) -> None:
    away = host.run("--run-id", "AB8", "--study", "lab", "--url", NOWHERE, "--", *RR)
    assert away.returncode == 0
    assert "perfdb-records/AB8 is kept and not uploaded" in away.stderr
    assert host.run("--url", NOWHERE, "--push").returncode == 75
    assert host.run("--list").stdout == "perfdb-records/AB8\tnot uploaded\n"

    done = host.run("--url", server, "--push")
    assert done.returncode == 0, done.stderr
    run = Run.objects.get()
    assert (run.run_id, run.study.slug) == ("AB8", "lab")
    assert host.run("--list").stdout == f"perfdb-records/AB8\tuploaded\t{server}/uploads/{Upload.objects.get().pk}/\n"
    assert host.run("--url", server, "--push").returncode == 0
    assert Upload.objects.count() == 1


def test_what_was_recorded_for_a_study_that_cannot_be_goes_to_another(host: Machine, server: str) -> None:
    host.run("--run-id", "AC1", "--", *RR)
    note = host.folder / "perfdb-records" / "AC1" / ".study"
    note.write_text("a b/c")
    refused = host.run("--url", server, "--push")
    assert refused.returncode == 75
    # The whole sentence, though there are quotation marks in it.
    assert re.search(r"answered 400: .*slug.* consisting of .*hyphens", refused.stderr), refused.stderr
    assert host.run("--url", server, "--study", "lab", "--push", "perfdb-records/AC1").returncode == 0
    assert Run.objects.get().study.slug == "lab"


def test_a_folder_that_cannot_be_read_whole_is_not_uploaded(host: Machine, server: str) -> None:
    host.run("--run-id", "AD1", "--", *RR)
    host.program("cat", 'case "$*" in *output.txt) exit 1 ;; esac; exec /bin/cat "$@"\n')
    assert host.run("--url", server, "--push").returncode == 75
    assert not Upload.objects.exists()


def test_a_refused_token_is_told_and_the_run_kept(host: Machine, server: str) -> None:
    host.env["PERFDB_TOKEN"] = "wrong"
    done = host.run("--run-id", "AB9", "--url", server, "--", *RR)
    assert done.returncode == 0
    assert f"{server} answered 401: " in done.stderr
    assert not (host.records / "AB9" / ".uploaded").exists()


@pytest.mark.parametrize("missing", [("curl",), ("curl", "wget")])
def test_without_curl_others_do(host: Machine, server: str, missing: tuple[str, ...]) -> None:
    host.without(*missing)
    lost = host.run("--run-id", "AC1", "--url", NOWHERE, "--", *RR)
    assert "is kept and not uploaded" in lost.stderr
    done = host.run("--url", server, "--push")
    assert done.returncode == 0, done.stderr
    assert Run.objects.get().run_id == "AC1"
    host.env["PERFDB_TOKEN"] = "wrong"
    (host.records / "AC1" / ".uploaded").unlink()
    assert "answered 401" in host.run("--url", server, "--push").stderr


def test_without_any_of_them_the_run_is_kept(host: Machine, server: str) -> None:
    host.without("curl", "wget", "python3")
    done = host.run("--run-id", "AC2", "--url", server, "--", *RR)
    assert done.returncode == 0
    assert "no curl, wget or python3" in done.stderr
    assert (host.records / "AC2" / ".recorded").exists()


def test_files_with_odd_names_come_through(host: Machine, server: str) -> None:
    odd = host.folder / "a profile (1) & \"2\" ; $HOME 'é'.txt"
    odd.write_text("kept\n")
    host.run("--run-id", "AC3", "--url", server, "--attach", odd.name, "--", *RR)
    names = {file.path for file in Upload.objects.get().files.all()}
    assert f"AC3/attached/{odd.name}" in names


def test_a_tool_that_says_its_failure_beside_its_output(host: Machine, server: str) -> None:
    host.program("iperf3", "echo 'iperf3: error - unable to connect to server: Connection refused' >&2; exit 1")
    done = host.run("--run-id", "AC4", "--url", server, "--", "iperf3", "-c", "192.0.2.7")
    assert done.returncode == 1
    assert (Run.objects.get().run_id, Run.objects.get().status) == ("AC4", "failed")


def test_results_on_both_outputs_are_one_log(host: Machine, server: str) -> None:
    """fping prints each reply on the one, and the sums on the other."""
    reply = "192.0.2.7 : [0], 64 bytes, 0.055 ms (0.055 avg, 0% loss)"
    sums = "192.0.2.7 : xmt/rcv/%loss = 1/1/0%, min/avg/max = 0.055/0.055/0.055"
    host.program("fping", f"echo '{reply}'; echo '{sums}' >&2")
    host.run("--run-id", "AD3", "--url", server, "--", "fping", "-c", "1", "192.0.2.7")
    run = Run.objects.get()
    assert (run.status, run.users, run.response_ms) == ("complete", 1, 0.055)


def test_trials_are_runs_of_one_experiment(host: Machine, server: str) -> None:
    host.run("--run-id", "AC5", "--study", "lab", "--repeat", "2", "--device", "test0", "--url", server, "--", *RR)
    assert sorted(Run.objects.values_list("run_id", "trial")) == [("AC5-1", 1), ("AC5-2", 2)]
    assert len(set(Run.objects.values_list("experiment", flat=True))) == 1


def test_the_token_may_stand_in_a_file(host: Machine, server: str) -> None:
    (host.home / ".perfdb-token").write_text(host.env.pop("PERFDB_TOKEN"))
    host.run("--run-id", "AC7", "--url", server, "--", *RR)
    assert Run.objects.get().run_id == "AC7"


def test_what_was_told_to_be_unfinished_is_uploaded_when_it_is_named(host: Machine, server: str) -> None:
    host.run("--run-id", "AC8", "--", *RR)
    (host.records / "AC8" / ".recorded").unlink()
    assert "is not finished" in host.run("--url", server, "--push").stderr
    assert not Run.objects.exists()
    host.run("--url", server, "--push", "perfdb-records/AC8/")
    assert Run.objects.get().run_id == "AC8"


# ---- secrets ---------------------------------------------------------------------------------------------------------


def test_nobody_sees_the_token(host: Machine, server: str) -> None:
    secret = host.env.pop("PERFDB_TOKEN")
    spy = "{ cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'; env; } >>\"$HOME/seen\" 2>/dev/null\n"
    real = shutil.which("curl")
    if real is None:
        pytest.skip("there is no curl here")
    host.program("spy", spy + "exec netperf")
    host.program("curl", f'{spy}exec {real} "$@"')
    done = host.run("--run-id", "AC6", "--token", secret, "--url", server, "--", "spy", "--token", "mine")
    assert done.returncode == 0, done.stderr
    assert Run.objects.get().run_id == "AC6"
    seen = (host.home / "seen").read_text()
    assert "record.sh" in seen
    assert "--data-binary" in seen
    assert secret not in seen
    assert manifest(host.records / "AC6")["command"] == "spy --token mine"
    assert not [path for path in host.records.rglob("*") if path.is_file() and secret in path.read_text()]
