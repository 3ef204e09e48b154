"""Collation by folders, manifests, concurrent processes and hosts."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from importers.collate.drafts import Collated, collate
from importers.collate.run_ids import RunIdPattern
from importers.collate.snapshot_pairs import name_roles
from importers.model import Fact, Fragment, Kind, Reading, RunDraft, Severity

START = datetime(2024, 3, 14, 10, 20)


def fragment(file: str, kind: Kind, **more: Any) -> Fragment:
    facts = tuple(Fact(key, text, 2) for key, text in more.pop("facts", {}).items())
    values: dict[str, Any] = {"format": "netperf", "format_version": 1, "first_line": 1, "last_line": 9}
    return Fragment(file=file, kind=kind, facts=facts, **(values | more))


def log(file: str, rate: str = "100.0", tool: str = "netperf", **facts: str) -> Fragment:
    said = {"factor.tool": tool, "workload": "RR", **facts}
    readings = (Reading("trans_per_s", rate, "trans/s", 5),)
    return fragment(file, Kind.DRIVER, format=tool, role="client", facts=said, readings=readings)


def snapshot(file: str, host: str | None = None, subject: str = "cpu", **more: Any) -> Fragment:
    name = file.rpartition("/")[2]
    phase = "before" if "before" in name else "after"
    counters = (Reading("user", str(len(file)), "ticks", 3, "", subject),)
    values: dict[str, Any] = {"format": "linux_snapshot", "role": "", "phase": phase, "counters": counters}
    return fragment(file, Kind.SNAPSHOT, host=host, **(values | more))


def row(run_id: str, trial: int | None = None, **facts: str) -> Fragment:
    said = {key.replace("tool", "factor.tool"): text for key, text in facts.items()}
    return fragment("manifest.csv", Kind.CIRCUMSTANCES, format="manifest", run_id=run_id, trial=trial, facts=said)


def pairs(draft: RunDraft) -> list[tuple[str, str | None, str | None]]:
    return [(p.role, p.before.file if p.before else None, p.after.file if p.after else None) for p in draft.pairs]


def codes(collated: Collated) -> set[str]:
    return {each.code for draft in collated.drafts for each in draft.problems} | {e.code for e in collated.problems}


def both(folder: str) -> list[Fragment]:
    return [snapshot(f"{folder}/{host}.{phase}.txt", host) for host in ("lna", "lnb") for phase in ("before", "after")]


def only(collated: Collated) -> RunDraft:
    (draft,) = collated.drafts
    return draft


def test_tools_with_the_same_run_ids_are_told_apart_by_their_folders() -> None:
    files = [*both("iperf3/vp01"), log("iperf3/vp01/out.json", tool="iperf3"), log("netperf/vp01/out.txt")]
    collated = collate([*files, *both("netperf/vp01")])
    assert [(draft.run_id, draft.driver.file if draft.driver else None) for draft in collated.drafts] == [
        ("vp01", "iperf3/vp01/out.json"),
        ("vp01", "netperf/vp01/out.txt"),
    ]
    for draft in collated.drafts:
        assert draft.driver
        folder = draft.driver.file.rpartition("/")[0]
        assert len(draft.pairs) == 2
        assert all(half.file.startswith(folder) for pair in draft.pairs for half in (pair.before, pair.after) if half)


def test_a_folder_whose_log_is_missing_keeps_its_snapshots() -> None:
    files = [*both("uperf/vp01"), log("netperf/vp01/out.txt"), *both("netperf/vp01")]
    drafts = collate(files).drafts
    assert [draft.driver is not None for draft in drafts] == [False, True]
    assert [len(draft.pairs) for draft in drafts] == [2, 2]


def test_snapshots_in_a_tree_of_their_own_still_find_their_log() -> None:
    draft = only(collate([log("logs/vp01/out.txt"), *both("snaps/vp01")]))
    assert (draft.driver is not None, len(draft.pairs)) == (True, 2)


def test_a_host_s_name_is_no_run_id() -> None:
    files = [log("vp01/out.txt"), snapshot("vp01/lnx01.before.txt", "lnx01"), snapshot("vp01/lnx01.after.txt", "lnx01")]
    assert only(collate(files)).run_id == "vp01"


@pytest.mark.parametrize(
    ("files", "run_ids"),
    [
        (["netperf.txt"], ["netperf"]),
        (["v3.12_udp.json"], ["v3.12_udp"]),
        (["tcp.flent.gz"], ["tcp"]),
        (["small/out.txt", "large/out.txt", "other.txt"], ["small/out", "large/out", "other"]),
    ],
)
def test_a_log_that_nothing_names_goes_by_its_file(files: list[str], run_ids: list[str]) -> None:
    collated = collate([log(file, rate=f"{number}.0") for number, file in enumerate(files)])
    assert [draft.run_id for draft in collated.drafts] == run_ids
    assert codes(collated) == {"collate.run-id-from-file"}


def test_a_folder_with_one_log_and_its_snapshots_is_a_run() -> None:
    draft = only(collate([log("first try/netperf.txt"), *both("first try")]))
    assert (draft.run_id, len(draft.pairs)) == ("first try", 2)


def test_snapshots_between_several_unnamed_logs_are_not_guessed() -> None:
    collated = collate([log("x/a.txt"), log("x/b.txt", "2.0"), *both("x")])
    assert [draft.run_id for draft in collated.drafts] == ["a", "b"]
    assert sum(each.code == "collate.no-run" for each in collated.problems) == 4


def numbered(folder: str = "vp01", **more: Any) -> list[Fragment]:
    return [replace(log(f"{folder}/netperf.{number}.txt", f"{number}0.0"), **more) for number in (2, 1, 10)]


def test_numbered_logs_beside_snapshots_are_processes_of_one_run() -> None:
    draft = only(collate([*numbered(), *both("vp01")]))
    assert [each.file for each in draft.logs] == [f"vp01/netperf.{number}.txt" for number in (1, 2, 10)]


def test_processes_with_the_very_same_figures_all_count() -> None:
    same = [log(f"vp01/netperf.{number}.txt") for number in (1, 2)]
    assert len(only(collate([*same, *both("vp01")])).logs) == 2


@pytest.mark.parametrize(("users", "logs"), [("3", [3]), ("1", [1, 1, 1])])
def test_the_users_of_a_manifest_tell_processes_from_trials(users: str, logs: list[int]) -> None:
    drafts = collate([*numbered(), row("vp01", users=users)]).drafts
    assert [len(draft.logs) for draft in drafts] == logs


@pytest.mark.parametrize(("minutes", "logs"), [(0, [3]), (10, [1, 1, 1])])
def test_the_times_of_logs_tell_processes_from_trials(minutes: int, logs: list[int]) -> None:
    started = [START + timedelta(minutes=minutes * number) for number in range(3)]
    timed = [
        replace(each, taken=start, ended=start + timedelta(minutes=1))
        for each, start in zip(numbered(), started, strict=True)
    ]
    assert [len(draft.logs) for draft in collate([*timed, *both("vp01")]).drafts] == logs


def test_logs_of_other_configurations_are_no_processes_of_one_run() -> None:
    files = [log("vp01/netperf.1.txt", workload="RR"), log("vp01/netperf.2.txt", workload="CRR")]
    assert len(collate([*files, *both("vp01")]).drafts) == 2


def test_a_manifest_fills_what_the_logs_lack() -> None:
    draft = only(collate([log("vp01/out.txt"), row("VP01", 3, mtu="9000", workload="RR", operator="Doe")]))
    assert draft.trial == 3
    assert [(f.key, f.text, f.file) for f in draft.facts if f.file == "manifest.csv"] == [
        ("mtu", "9000", "manifest.csv"),
        ("operator", "Doe", "manifest.csv"),
    ]


def test_a_manifest_names_runs_that_no_rule_would_find() -> None:
    draft = only(collate([log("monday/best.txt"), row("best", mtu="9000")]))
    assert (draft.run_id, len(draft.circumstances)) == ("best", 1)


def test_rows_of_one_run_id_are_told_apart_by_tool_and_by_what_the_logs_say() -> None:
    rows = [row("vp01", tool="iperf3", mtu="1500"), row("vp01", tool="netperf", mtu="9000")]
    draft = only(collate([log("vp01/out.txt"), *rows]))
    assert [fact.text for fact in draft.facts if fact.key == "mtu"] == ["9000"]
    same_tool = [row("vp01", users="1"), row("vp01", users="2")]
    other = only(collate([log("vp01/out.txt", users="2"), *same_tool]))
    assert [fact.text for each in other.circumstances for fact in each.facts] == ["2"]


def test_rows_that_nothing_tells_apart_are_not_used() -> None:
    collated = collate([log("vp01/out.txt"), row("vp01", mtu="1500"), row("vp01", mtu="9000")])
    assert only(collated).circumstances == []
    assert "collate.two-rows" in codes(collated)


def test_a_manifest_that_contradicts_a_log_is_said_and_the_log_counts() -> None:
    collated = collate([log("vp01/out.txt", mtu="1500"), row("vp01", mtu="9000")])
    (found,) = (each for each in only(collated).problems if each.code == "collate.manifest")
    assert (found.severity, found.file) == (Severity.WARNING, "manifest.csv")
    assert [fact.text for fact in only(collated).facts if fact.key == "mtu"] == ["1500"]


def test_rows_of_runs_that_are_not_here_make_no_run() -> None:
    collated = collate([log("vp01/out.txt"), *(row(f"vp{number:02}", mtu="1500") for number in range(2, 9))])
    (found,) = collated.problems
    assert (found.code, found.message.partition(",")[0]) == ("collate.rows-left-over", "7 rows were not used")
    assert "vp06 and 2 more" in found.message


def test_the_pattern_of_run_ids_works_for_folders() -> None:
    pattern = RunIdPattern(
        r"vp(?P<workload>[rcgp])(?P<mtu>[nj])(?P<users>\d\d)(?P<trial>\d\d)",
        {"workload": {"r": "RR"}, "mtu": {"n": "1500", "j": "9000"}},
    )
    logs = [log(f"vprj0302/netperf.{number}.txt", f"{number}.0") for number in (1, 2, 3)]
    draft = only(
        collate([*(replace(e, facts=(*e.facts, Fact("users", "1", 3))) for e in logs), *both("vprj0302")], pattern)
    )
    said = {fact.key: fact.text for fact in draft.facts}
    assert (draft.trial, len(draft.logs), said["mtu"]) == (2, 3, "9000")
    assert "collate.pattern-contradiction" not in {problem.code for problem in draft.problems}


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ({"server": "LNB"}, {}),
        ({"client": "lna", "server": "lnb"}, {}),
        ({}, {"client": "lna"}),
        ({"server": "lnb"}, {"server": "lna"}),
    ],
)
def test_hosts_play_the_roles_that_logs_or_persons_name(said: dict[str, str], given: dict[str, str]) -> None:
    draft = only(collate([log("vp01/out.txt", **said), *both("vp01")]))
    name_roles(draft, given)
    assert {role: before for role, before, _ in pairs(draft)} == {
        "client": "vp01/lna.before.txt",
        "server": "vp01/lnb.before.txt",
    }
    assert "collate.roles" not in {problem.code for problem in draft.problems}


def test_the_name_of_a_file_tells_the_role_of_its_host() -> None:
    halves = [replace(each, file=each.file.replace("lna", "client.sar")) for each in both("vp01")]
    draft = only(collate([log("vp01/out.txt"), *halves]))
    name_roles(draft, {})
    assert {role: before for role, before, _ in pairs(draft)} == {
        "client": "vp01/client.sar.before.txt",
        "server": "vp01/lnb.before.txt",
    }


def test_hosts_of_which_nothing_is_said_go_by_their_names() -> None:
    draft = only(collate([log("vp01/out.txt"), *both("vp01")]))
    name_roles(draft, {})
    assert [role for role, _, _ in pairs(draft)] == ["lna", "lnb"]
    (found,) = (each for each in draft.problems if each.code == "collate.roles")
    assert "lna and lnb" in found.message
    assert "client and server" in found.remedy


def test_the_client_s_host_stands_for_the_run_and_others_under_their_role() -> None:
    kernels = {"lna": "6.1", "lnb": "5.14"}
    halves = [replace(each, facts=(Fact("kernel", kernels[str(each.host)], 4, of_host=True),)) for each in both("vp01")]
    draft = only(collate([log("vp01/out.txt", server="lnb"), *reversed(halves)]))
    name_roles(draft, {})
    name_roles(draft, {})
    assert {(f.key, f.text) for f in draft.facts if "kernel" in f.key} == {("kernel", "6.1"), ("server.kernel", "5.14")}


def test_files_of_one_host_s_different_counters_are_pairs_of_their_own() -> None:
    files = [
        snapshot(f"vp01/{name}.{phase}", subject=subject)
        for name, subject in (("proc_stat", "cpu"), ("net_dev", "adapter/eth0"))
        for phase in ("before", "after")
    ]
    draft = only(collate([log("vp01/out.txt"), *files]))
    assert pairs(draft) == [
        ("", "vp01/proc_stat.before", "vp01/proc_stat.after"),
        ("", "vp01/net_dev.before", "vp01/net_dev.after"),
    ]


def test_two_snapshots_of_the_same_counters_are_not_chosen_from() -> None:
    files = [snapshot("vp01/a.before", "lna"), snapshot("vp01/bb.before", "lna"), snapshot("vp01/a.after", "lna")]
    collated = collate([log("vp01/out.txt"), *files])
    assert pairs(only(collated)) == [("", None, "vp01/a.after")]
    assert "collate.two-snapshots" in codes(collated)


@pytest.mark.parametrize(("zone", "hours", "joined"), [("+01:00", 1, True), ("+01:00", 0, False), ("", 0, True)])
def test_clocks_that_say_how_far_they_are_from_universal_time_are_compared_by_that(
    zone: str, hours: int, joined: bool
) -> None:
    driver = replace(log("first.json", client="lna"), taken=START, ended=START + timedelta(seconds=30), zone="+00:00")
    taken = START + timedelta(hours=hours, seconds=-1)
    before = replace(snapshot("lna.before.txt", "lna"), taken=taken, zone=zone)
    assert [len(draft.pairs) for draft in collate([driver, before]).drafts] == ([1] if joined else [0])
