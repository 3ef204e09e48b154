"""Companion files of a log: other end, other output, other form of a result."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from importers.collate.companions import base_name, names_of_files
from importers.collate.drafts import Collated, collate
from importers.model import Fact, Fragment, Kind, Reading, RunDraft

WHEN = datetime(2024, 3, 14, 14, 5)


def fragment(file: str, kind: Kind = Kind.DRIVER, role: str | None = "client", **more: Any) -> Fragment:
    """Return a fragment with distinct figures unless given."""
    facts = tuple(Fact(key, text, 1) for key, text in more.pop("facts", {}).items())
    figures = more.pop("figures", {"transactions": str(sum(file.encode()))} if kind is Kind.DRIVER else {})
    readings = tuple(Reading(name, text, "", 2) for name, text in figures.items())
    values = {"format": "uperf", "format_version": 1, "first_line": 1, "last_line": 9, **more}
    return Fragment(file=file, kind=kind, role=role, facts=facts, readings=readings, **values)


def report(file: str, **more: Any) -> Fragment:
    return fragment(file, Kind.REPORT, None, **more)


def files(draft: RunDraft) -> list[str]:
    return [each.file for each in draft.fragments]


def runs(collated: Collated) -> dict[str, list[str]]:
    assert [problem.code for problem in collated.problems] == []
    return {draft.run_id: files(draft) for draft in collated.drafts}


@pytest.mark.parametrize(
    ("file", "base"),
    [
        ("zc/sendfile.zcs.txt", "zc/sendfile"),
        ("x.send", "x"),
        ("x.recv.txt", "x"),
        ("rr1c--1_X.history.txt", "rr1c--1_X"),
        ("curl.stdout.txt", "curl"),
        ("client.json", "client"),
        ("a/run.client.json.gz", "a/run"),
        ("run_raw.log", "run_raw"),
    ],
)
def test_the_base_of_a_name(file: str, base: str) -> None:
    assert base_name(file) == base


def test_names_are_as_short_as_they_differ() -> None:
    names = names_of_files(["a.send.txt", "b.send.txt", "b.recv.txt", "c.txt", "c.json"])
    assert names == {
        "a.send.txt": "a",
        "b.send.txt": "b.send",
        "b.recv.txt": "b.recv",
        "c.txt": "c.txt",
        "c.json": "c.json",
    }


def test_both_ends_are_one_run() -> None:
    logs = [fragment(f"t/{name}.send.txt") for name in ("one", "two")]
    peers = [fragment(f"t/{name}.recv.txt", role="server") for name in ("one", "two")]
    collated = collate([*logs, *peers])
    assert runs(collated) == {
        "one": ["t/one.send.txt", "t/one.recv.txt"],
        "two": ["t/two.send.txt", "t/two.recv.txt"],
    }
    assert [draft.peer for draft in collated.drafts] == peers


def test_the_same_cookie_is_the_same_test() -> None:
    clients = [fragment(f"c{n}.json", facts={"cookie": f"k{n}"}) for n in (1, 2)]
    servers = [fragment("server.json", role="server", facts={"cookie": f"k{n}"}) for n in (2, 1)]
    first, second = collate([*servers, *clients]).drafts
    found = {draft.run_id: draft.peer for draft in (first, second)}
    assert found == {"c1": servers[1], "c2": servers[0]}


def test_both_ends_have_the_same_ports() -> None:
    clients = [fragment(f"c{n}.txt", facts={"ports": f"4{n}-5001"}) for n in (1, 2)]
    servers = [fragment("server.txt", role="server", trial=n, facts={"ports": f"4{n}-5001"}) for n in (2, 3, 1)]
    collated = collate([*servers, *clients])
    assert {draft.run_id: draft.peer for draft in collated.drafts} == {
        "c1": servers[2],
        "c2": servers[0],
        "server": servers[1],
    }


@pytest.mark.parametrize(
    ("client", "server"),
    [
        ({"ports": "41-5001"}, {"ports": "42-5001"}),
        ({"cookie": "k"}, {"cookie": "l"}),
        ({"users": "2"}, {"users": "3"}),
    ],
    ids=lambda facts: next(iter(facts)),
)
def test_ends_of_other_tests_are_not_joined_by_name_or_folder(client: dict[str, str], server: dict[str, str]) -> None:
    for names in (("r/x.send.txt", "r/x.recv.txt"), ("r/a.txt", "r/b.txt"), ("AB101/a.txt", "AB101/b.txt")):
        logs = [fragment(names[0], facts=client), fragment(names[1], role="server", facts=server)]
        assert all(draft.driver is None or draft.peer is None for draft in collate(logs).drafts)


def test_servers_logs_that_fit_equally_are_not_chosen_from() -> None:
    logs = [fragment("r/a.txt"), fragment("r/s1.txt", role="server"), fragment("r/s2.txt", role="server")]
    assert [draft.peer is None for draft in collate(logs).drafts] == [True, False, False]


def timed(file: str, kind: Kind = Kind.DRIVER, host: str | None = None, seconds: int = 60, **more: Any) -> Fragment:
    role = "client" if kind is Kind.DRIVER else ""
    return fragment(file, kind, role, host=host, taken=WHEN, ended=WHEN + timedelta(seconds=seconds), **more)


def test_the_only_run_in_the_time_of_the_only_report_has_it() -> None:
    (draft,) = collate([timed("load.log"), timed("sar.txt", Kind.REPORT, "hosta", 300)]).drafts
    assert [each.file for each in draft.reports] == ["sar.txt"]


@pytest.mark.parametrize(
    "other", [timed("more.log"), timed("other.txt", Kind.REPORT, "hostb", 300)], ids=["runs", "reports"]
)
def test_a_report_that_could_be_anothers_is_left_and_its_time_told(other: Fragment) -> None:
    collated = collate([timed("load.log"), other, timed("sar.txt", Kind.REPORT, "hosta", 300)])
    assert not any(draft.reports for draft in collated.drafts)
    assert {problem.code for problem in collated.problems} == {"collate.no-run"}
    assert all("no run at its time" not in problem.message for problem in collated.problems)


def test_a_log_that_names_its_run_names_that_of_the_other_end() -> None:
    client = fragment("c.json", run_id="AB101", facts={"cookie": "k"})
    assert runs(collate([client, fragment("s.json", role="server", facts={"cookie": "k"})])) == {
        "AB101": ["c.json", "s.json"]
    }


def test_what_a_tool_wrote_besides_goes_with_its_log() -> None:
    parts = [
        fragment("str-30k--1.log"),
        fragment("rr1c-200--1.log"),
        fragment("rr1c-200--1_X.log"),
        fragment("rr1c-200--1_raw.log"),
        report("str-30k--1.xml", facts={"profile": "a"}),
        report("rr1c-200--1.xml", facts={"profile": "b"}),
        report("rr1c-200--1_X.history.txt", taken=WHEN),
    ]
    assert runs(collate(parts)) == {
        "str-30k--1": ["str-30k--1.log", "str-30k--1.xml"],
        "rr1c-200--1": ["rr1c-200--1.log", "rr1c-200--1.xml"],
        "rr1c-200--1_X": ["rr1c-200--1_X.log", "rr1c-200--1_X.history.txt"],
        "rr1c-200--1_raw": ["rr1c-200--1_raw.log"],
    }


def test_equal_profiles_each_go_with_their_log() -> None:
    logs = [fragment("a.log"), fragment("b.log")]
    profiles = [report(f"{name}.xml", facts={"users": "1"}) for name in "ab"]
    assert runs(collate([*logs, *profiles])) == {"a": ["a.log", "a.xml"], "b": ["b.log", "b.xml"]}


def test_one_calibration_serves_all_runs_of_its_folder() -> None:
    calibration = report("zc/counts", facts={"calibration": "457"})
    parts = [calibration, fragment("zc/a.log"), fragment("zc/b.log"), fragment("far/c.log")]
    assert runs(collate(parts)) == {
        "a": ["zc/a.log", "zc/counts"],
        "b": ["zc/b.log", "zc/counts"],
        "c": ["far/c.log"],
    }


def test_settings_that_contradict_each_other_serve_none() -> None:
    strays = [report(f"zc/{n}", facts={"calibration": n}) for n in ("1", "2")]
    collated = collate([*strays, fragment("zc/a.log"), fragment("zc/b.log")])
    assert [files(draft) for draft in collated.drafts] == [["zc/a.log"], ["zc/b.log"]]
    assert [problem.code for problem in collated.problems] == ["collate.no-run"] * 2


def test_a_profile_is_that_of_every_trial() -> None:
    trials = [fragment("AB101/uperf.log", trial=n, figures={"transactions": f"{n}"}) for n in (1, 2)]
    drafts = collate([*trials, report("AB101/profile.xml", facts={"users": "1"})]).drafts
    assert [(draft.run_id, draft.trial, len(draft.reports)) for draft in drafts] == [("AB101", 1, 1), ("AB101", 2, 1)]


FIGURES = {"transactions": "69645", "driver_s": "1.546", "response_ms": "22.130"}


def test_a_result_that_is_printed_twice_is_one_run() -> None:
    printed = fragment("pp.stdout.txt", figures=FIGURES, facts={"server": "lnx2"})
    full = fragment("pp_log.csv", figures=FIGURES, facts={"request_bytes": "200", "response_bytes": "200"})
    (draft,) = collate([printed, full]).drafts
    assert (draft.driver, draft.copies, draft.parts) == (full, [printed], [])
    assert {fact.key for fact in draft.facts} == {"server", "request_bytes", "response_bytes"}
    assert "collate.same-result" in {problem.code for problem in draft.problems}


@pytest.mark.parametrize(
    "change",
    [
        {"figures": FIGURES | {"driver_s": "1.547"}},
        {"figures": {"transactions": "69645"}},
        {"facts": {"workload": "CRR"}},
        {"trial": 2},
        {"taken": datetime(2024, 3, 14, 14, 9)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_results_that_only_look_alike_are_two(change: dict[str, Any]) -> None:
    printed = fragment("pp.stdout.txt", figures=FIGURES, facts={"workload": "RR"}, taken=WHEN)
    values: dict[str, Any] = {"figures": FIGURES, "facts": {"workload": "RR"}, "taken": WHEN}
    other = fragment("pp_log.csv", **(values | change))
    assert len(collate([printed, other]).drafts) == 2


def test_trials_with_equal_figures_are_no_copies() -> None:
    trials = [fragment(f"t{n}.txt", figures=FIGURES, facts={"users": "1"}, file_digest=str(n)) for n in (1, 2)]
    assert [draft.run_id for draft in collate(trials).drafts] == ["t1", "t2"]


def test_each_trial_has_its_own_copy() -> None:
    printed = [fragment(f"t{n}.txt", figures=FIGURES, file_digest=f"p{n}") for n in (1, 2)]
    full = [fragment(f"t{n}.csv", figures=FIGURES, facts={"mtu": "1500"}, file_digest=f"f{n}") for n in (1, 2)]
    drafts = collate([*printed, *full]).drafts
    assert [(draft.driver, draft.copies) for draft in drafts] == [(full[0], [printed[0]]), (full[1], [printed[1]])]


def test_a_summary_names_its_data_file() -> None:
    both = [
        fragment("f/t-2024.flent.gz", facts={"workload": way, "users": "4"}, figures={"mb_per_s": "951.5"})
        for way in ("STRG", "STRP")
    ]
    printed = [
        replace(each, file="f/t.stdout.txt", facts=(*each.facts, Fact("data_file", "t-2024.flent.gz", 1)), readings=())
        for each in both
    ]
    drafts = collate([*printed, *both]).drafts
    assert [(draft.driver, draft.copies) for draft in drafts] == [(both[0], [printed[0]]), (both[1], [printed[1]])]


ASSUMED = {"workload": "RR", "request_bytes": "200", "response_bytes": "1000", "assumed": "workload, request_bytes, "}
ASSUMED["assumed"] += "response_bytes: from the profile's name"


def facts_of(*fragments: Fragment) -> dict[str, str]:
    (draft,) = collate(fragments).drafts
    return {fact.key: fact.text for fact in reversed(draft.facts)}


def test_what_is_assumed_gives_way_to_the_profile() -> None:
    log = fragment("x.log", facts={**ASSUMED, "users": "1"})
    assert facts_of(log) == {**ASSUMED, "users": "1"}
    profile = report("x.xml", facts={"workload": "STRG", "message_bytes": "64k", "users": "2"})
    assert facts_of(log, profile) == {"workload": "STRG", "message_bytes": "64k", "users": "1"}


def test_what_is_assumed_gives_way_to_a_manifest() -> None:
    row = fragment("m.csv", Kind.CIRCUMSTANCES, None, run_id="AB101", facts={"workload": "CRR"})
    log = fragment("x.log", run_id="AB101", facts=ASSUMED)
    (draft,) = collate([log, row]).drafts
    assert {fact.key: fact.text for fact in draft.facts} == {"workload": "CRR"}
    assert [problem.code for problem in draft.problems] == []


def test_the_log_of_a_load_tool_is_not_from_before_or_after_a_run() -> None:
    names = names_of_files(["mtu_before_after.txt", "x/rr_after.log", "x/rr_before.log", "y.client.log"])
    assert list(names.values()) == ["mtu_before_after", "x/rr_after", "x/rr_before", "y"]
