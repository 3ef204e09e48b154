"""Collation of fragments to runs by run id, name and time."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from importers.collate.drafts import Collated, collate
from importers.collate.run_ids import RunIdPattern
from importers.model import Fact, Fragment, Kind, Listing, Pair, Reading, Severity, SourcedFact, content_digest

START = datetime(2002, 2, 26, 14, 5, 0)
END = START + timedelta(minutes=10)


def log(run_id: str | None = "AB101", trial: int | None = 1, **more: Any) -> Fragment:
    facts = tuple(Fact(key, text, 3) for key, text in more.pop("facts", {"client": "LINUXA"}).items())
    values: dict[str, Any] = {
        **{"file": "a.awm.log", "role": "client", "host": "LINUXA", "taken": START, "ended": END},
        "readings": (Reading("transactions", "100", "count", 9),),
    }
    return Fragment(
        format="awm",
        format_version=1,
        kind=Kind.DRIVER,
        first_line=2,
        last_line=10,
        run_id=run_id,
        trial=trial,
        facts=facts,
        **(values | more),
    )


def snapshot(phase: str | None, run_id: str | None = "AB101", **more: Any) -> Fragment:
    role = more.setdefault("role", "client")
    taken = START - timedelta(seconds=2) if phase == "before" else END + timedelta(seconds=8)
    values: dict[str, Any] = {
        "file": f"{phase}.{role}.txt",
        "host": {"client": "LINUXA", "server": "LINUXB"}.get(role, "PERFOPER"),
        "taken": taken,
        "counters": (Reading("totcpu", f"{len(str(phase))}:00.00", "mmm:ss.hs", 5, str(role)),),
    }
    return Fragment(
        format="cp_query",
        format_version=1,
        kind=Kind.SNAPSHOT,
        first_line=1,
        last_line=9,
        run_id=run_id,
        phase=phase,
        **(values | more),
    )


def later(fragment: Fragment, minutes: int, **more: Any) -> Fragment:
    shift = timedelta(minutes=minutes)
    ended = fragment.ended + shift if fragment.ended else None
    assert fragment.taken is not None
    return replace(fragment, taken=fragment.taken + shift, ended=ended, **more)


def codes(collated: Collated) -> list[str]:
    return [problem.code for problem in collated.problems]


def files(pair: Pair) -> tuple[str, str | None, str | None]:
    before, after = (half.file if half else None for half in (pair.before, pair.after))
    return pair.role, before, after


def test_logs_and_snapshots_of_one_run_id_make_a_run() -> None:
    server = log(file="b.awm.log", role="server", host="LINUXB")
    parts = [snapshot("after"), snapshot("before"), server, log(), snapshot("before", role="lpar")]
    collated = collate(parts)
    (draft,) = collated.drafts
    assert (draft.run_id, draft.trial) == ("AB101", 1)
    assert draft.driver == log()
    assert draft.peer == server
    assert sorted(map(files, draft.pairs)) == [
        ("client", "before.client.txt", "after.client.txt"),
        ("lpar", "before.lpar.txt", None),
    ]
    assert codes(collated) == []
    assert draft.problems == []


def test_facts_name_file_and_role_and_driver_comes_first() -> None:
    node = snapshot("before", facts=(Fact("node", "ZVM1", 3),))
    (draft,) = collate([node, log()]).drafts
    assert draft.facts == [
        SourcedFact("client", "LINUXA", "a.awm.log", 3, "client"),
        SourcedFact("node", "ZVM1", "before.client.txt", 3, "client"),
    ]


def test_the_same_statement_of_two_files_is_one_fact() -> None:
    parts = [snapshot(phase, facts=(Fact("node", "ZVM1", 3),)) for phase in ("before", "after")]
    (draft,) = collate(parts).drafts
    assert [fact.file for fact in draft.facts] == ["before.client.txt"]


def test_each_trial_is_a_run() -> None:
    drafts = collate([log(), later(log(trial=2), 20)]).drafts
    assert [(draft.run_id, draft.trial) for draft in drafts] == [("AB101", 1), ("AB101", 2)]


def test_drafts_come_in_the_order_of_their_files() -> None:
    parts = [snapshot("before", "ZZ900"), log("BB200"), log("AA100")]
    assert [draft.run_id for draft in collate(parts).drafts] == ["ZZ900", "BB200", "AA100"]


def test_snapshots_alone_are_a_run_that_waits() -> None:
    (draft,) = collate([snapshot("before")]).drafts
    assert (draft.driver, draft.trial) == (None, None)
    assert list(map(files, draft.pairs)) == [("client", "before.client.txt", None)]


def test_a_servers_log_alone_is_a_run_without_driver() -> None:
    (draft,) = collate([log(role="server")]).drafts
    assert draft.driver is None
    assert draft.peer is not None


def test_the_same_content_under_two_names_counts_once() -> None:
    collated = collate([log(), replace(log(), file="copy.log", first_line=7)])
    assert len(collated.drafts) == 1
    (problem,) = collated.problems
    assert (problem.code, problem.severity, problem.file) == ("collate.duplicate", Severity.NOTE, "copy.log")
    assert "a.awm.log" in problem.message


def test_two_different_logs_of_one_identity_are_two_runs() -> None:
    other = log(file="b.log", readings=(Reading("transactions", "99", "count", 9),))
    drafts = collate([log(), other]).drafts
    assert [(draft.run_id, draft.trial, draft.driver and draft.driver.file) for draft in drafts] == [
        ("AB101", 1, "a.awm.log"),
        ("AB101", 1, "b.log"),
    ]


def test_snapshots_of_two_logs_at_the_same_time_go_to_the_first_and_it_is_said() -> None:
    other = log(file="b.log", readings=(Reading("transactions", "99", "count", 9),))
    first, second = collate([log(), other, snapshot("before")]).drafts
    assert len(first.pairs) == 1
    assert second.pairs == []
    assert [problem.code for problem in first.problems] == ["collate.two-logs"]


def test_snapshots_of_a_run_id_with_several_trials_go_by_time() -> None:
    parts: list[Fragment] = []
    for trial in (1, 2, 3):
        minutes = 12 * trial
        parts.append(later(log(trial=trial), minutes))
        parts += [later(snapshot(phase), minutes, file=f"{phase}{trial}.txt") for phase in ("before", "after")]
    collated = collate(parts)
    assert codes(collated) == []
    assert [(draft.trial, *map(files, draft.pairs)) for draft in collated.drafts] == [
        (trial, ("client", f"before{trial}.txt", f"after{trial}.txt")) for trial in (1, 2, 3)
    ]


@pytest.mark.parametrize("taken", [START - timedelta(hours=3), None])
def test_a_snapshot_that_fits_no_trials_time_is_left_out(taken: datetime | None) -> None:
    collated = collate([log(), later(log(trial=2), 20), snapshot("before", taken=taken)])
    assert codes(collated) == ["collate.ambiguous"]
    assert [draft.pairs for draft in collated.drafts] == [[], []]


def test_a_trial_said_by_the_snapshot_counts() -> None:
    collated = collate([log(), later(log(trial=2), 20), snapshot("before", trial=2, taken=None)])
    assert [len(draft.pairs) for draft in collated.drafts] == [0, 1]


def test_two_different_snapshots_of_one_phase_are_both_left_out() -> None:
    other = later(snapshot("before"), -3, file="x/before.client.txt")
    (draft,) = collate([log(), snapshot("before"), other, snapshot("after")]).drafts
    assert list(map(files, draft.pairs)) == [("client", None, "after.client.txt")]
    assert [problem.code for problem in draft.problems] == ["collate.two-snapshots"] * 2


@pytest.mark.parametrize("lacking", [{"phase": None}, {"role": None}])
def test_a_snapshot_without_phase_or_role_is_left_out(lacking: dict[str, Any]) -> None:
    collated = collate([log(), replace(snapshot("before"), **lacking)])
    assert collated.drafts[0].pairs == []
    assert [problem.code for problem in collated.drafts[0].problems] == ["collate.unplaced"]


def test_a_snapshot_without_host_is_of_its_roles_only_host() -> None:
    (draft,) = collate([snapshot("before", host=None), snapshot("after")]).drafts
    assert [(pair.host, pair.before is not None, pair.after is not None) for pair in draft.pairs] == [
        ("LINUXA", True, True)
    ]


def test_hosts_of_one_role_make_pairs_of_their_own() -> None:
    parts = [snapshot(phase, host=host) for host in ("LINUXA", "LINUXC") for phase in ("before", "after")]
    (draft,) = collate(parts).drafts
    assert [pair.host for pair in draft.pairs] == ["LINUXA", "LINUXC"]


@pytest.mark.parametrize(
    "name",
    [
        *("AB101/before.client.txt", "AB101.before.client.txt", "ab101_before_client.txt", "x/AB101/y/before.txt"),
        "runs of may/AB101-before.txt",
    ],
)
def test_a_known_run_id_in_a_name_counts(name: str) -> None:
    (draft,) = collate([log(), snapshot("before", None, file=name, host="OTHER")]).drafts
    assert len(draft.pairs) == 1
    assert [(each.code, each.severity) for each in draft.problems] == [("collate.run-id-from-name", Severity.NOTE)]


@pytest.mark.parametrize(
    ("name", "run_id"),
    [
        ("NMGBR950/before.client.txt", "NMGBR950"),
        ("captures/NMGBR950.before.client.txt", "NMGBR950"),
        ("2002-02-26/qnxr1072.after.lpar.txt", "qnxr1072"),
    ],
)
def test_a_word_that_looks_like_a_run_id_counts_when_it_is_the_only_one(name: str, run_id: str) -> None:
    assert [draft.run_id for draft in collate([snapshot("before", None, file=name)]).drafts] == [run_id]


@pytest.mark.parametrize("name", ["before.client.txt", "captures/before.client.txt", "session2/AB101.before.txt"])
def test_without_or_with_two_candidates_no_run_is_made_up(name: str) -> None:
    collated = collate([snapshot("before", None, file=name)])
    assert collated.drafts == []
    assert codes(collated) == ["collate.no-run"]


def test_the_studys_pattern_finds_run_ids_in_names() -> None:
    pattern = RunIdPattern("run-[a-z]+")
    (draft,) = collate([snapshot("before", None, file="session2/run-x.before.client.txt")], pattern).drafts
    assert draft.run_id == "run-x"


def test_what_names_no_run_is_joined_by_time_and_host() -> None:
    runs = [log(), later(log("AB102", file="b.log"), 15)]
    loose = [snapshot(phase, None, file=f"{phase}.txt") for phase in ("before", "after")]
    collated = collate([*runs, *loose])
    assert codes(collated) == []
    assert [list(map(files, draft.pairs)) for draft in collated.drafts] == [
        [("client", "before.txt", "after.txt")],
        [],
    ]
    assert {problem.code for problem in collated.drafts[0].problems} == {"collate.joined-by-time"}


def test_the_lpars_snapshot_is_joined_by_the_node_it_shares() -> None:
    node = (Fact("node", "ZVM1", 3),)
    loose = snapshot("before", None, role="lpar", file="lpar.txt", facts=node)
    guest = snapshot("before", None, file="guest.txt", facts=node)
    (draft,) = collate([loose, guest, log()]).drafts
    assert {pair.role for pair in draft.pairs} == {"lpar", "client"}


def test_another_hosts_snapshot_is_not_joined_by_time() -> None:
    collated = collate([log(), snapshot("before", None, file="before.txt", host="OTHER")])
    assert codes(collated) == ["collate.no-run"]
    assert collated.drafts[0].pairs == []


def test_two_runs_at_the_same_time_leave_the_snapshot_out() -> None:
    collated = collate([log(), log("AB102", file="b.log"), snapshot("before", None, file="before.txt")])
    assert codes(collated) == ["collate.no-run"]


def test_a_report_is_joined_by_the_window_it_covers() -> None:
    report = replace(
        snapshot(None, None, file="report.txt", host="LINUXA"),
        kind=Kind.REPORT,
        taken=START + timedelta(minutes=1),
        ended=END - timedelta(minutes=1),
    )
    first, second = collate([later(log("AB100"), -30), log(), report]).drafts
    assert (first.reports, second.reports) == ([], [report])


def test_the_pattern_fills_what_the_log_lacks() -> None:
    pattern = RunIdPattern(r"AB(?P<users>\d)(?P<device>\d\d)", {"device": {"01": "QDIO"}})
    (draft,) = collate([log(facts={"users": "1"})], pattern).drafts
    assert draft.facts == [
        SourcedFact("users", "1", "a.awm.log", 3, "client"),
        SourcedFact("device", "QDIO", "", 0),
    ]
    assert draft.problems == []


def test_a_contradiction_between_run_id_and_log_is_reported() -> None:
    pattern = RunIdPattern(r"AB(?P<users>\d)\d\d")
    (draft,) = collate([log(facts={"users": "50"})], pattern).drafts
    (problem,) = draft.problems
    assert (problem.code, problem.severity) == ("collate.pattern-contradiction", Severity.WARNING)
    assert (problem.file, problem.line, problem.run_id) == ("a.awm.log", 3, "AB101")
    assert "users 1" in problem.message
    assert "50" in problem.message


@pytest.mark.parametrize(("stated", "value"), [("8192", "8K"), ("8 KB", "8192"), ("QDIO GBE", "qdio GbE"), ("01", "1")])
def test_the_same_value_written_otherwise_is_no_contradiction(stated: str, value: str) -> None:
    pattern = RunIdPattern(r"AB(?P<mtu>\d)\d\d", {"mtu": {"1": value}})
    (draft,) = collate([log(facts={"mtu": stated})], pattern).drafts
    assert draft.problems == []


def test_the_pattern_may_say_the_trial() -> None:
    (draft,) = collate([log()], RunIdPattern(r"AB10(?P<trial>\d)")).drafts
    assert draft.trial == 1
    (draft,) = collate([log("AB103")], RunIdPattern(r"AB10(?P<trial>\d)")).drafts
    assert draft.trial == 3


def test_a_pattern_that_does_not_fit_says_nothing() -> None:
    assert collate([log()], RunIdPattern("ZZ(?P<users>.*)")).drafts[0].problems == []


def test_a_pattern_that_is_none_is_reported_once() -> None:
    collated = collate([log(), log("AB102")], RunIdPattern("(?P<users"))
    assert codes(collated) == ["collate.bad-pattern"]
    assert len(collated.drafts) == 2


def test_the_digest_is_of_what_is_said() -> None:
    one = log()
    assert content_digest(one) == content_digest(replace(one, file="x", first_line=9, last_line=99, format_version=7))
    assert content_digest(one) == content_digest(
        replace(one, readings=tuple(reading._replace(line=77) for reading in one.readings))
    )
    listing = Listing("intervals", (("trans", "count"),), (("5",),), (3,))
    for other in (
        replace(one, run_id="AB999"),
        replace(one, taken=END),
        replace(one, facts=()),
        replace(one, readings=(one.readings[0]._replace(text="101"),)),
        replace(one, readings=(one.readings[0]._replace(role="server"),)),
        replace(one, listings=(listing,)),
    ):
        assert content_digest(other) != content_digest(one)
    assert content_digest(replace(one, listings=(listing,))) == content_digest(
        replace(one, listings=(Listing(listing.name, listing.columns, listing.rows, (8,)),))
    )
