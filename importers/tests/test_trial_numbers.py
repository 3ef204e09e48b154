"""The results of one file: trials of one configuration, several servers, several processes."""

from collections.abc import Iterator

from importers.collate.drafts import collate
from importers.formats import read_files
from importers.model import Fact, Fragment, Kind, SourceFile
from importers.tests.fixture_cases import LOGS, facts_of
from importers.trial_numbers import number_each, number_trials

DATED = "$ date\nThu Mar 14 14:05:00 CET 2024\n$ netperf -H srv7 -t TCP_RR\n"


def result(number: int, server: str, users: str = "1") -> Fragment:
    facts = (Fact("workload", "RR", 1), Fact("users", users, 1), Fact("server", server, number))
    return Fragment("a.txt", "netperf", 1, Kind.DRIVER, number, number, role="client", facts=facts)


def test_equal_results_are_trials() -> None:
    numbered = number_trials([result(1, "srv7"), result(2, "srv7", "2"), result(3, "srv7")])
    assert [each.trial for each in numbered] == [1, None, 2]
    assert all("factor.server" not in facts_of(each) for each in numbered)


def test_results_of_two_servers_are_no_trials_of_each_other() -> None:
    numbered = number_trials([result(1, "srv7"), result(2, "srv8"), result(3, "srv7"), result(4, "srv7", "9")])
    assert [each.trial for each in numbered] == [1, None, 2, None]
    assert [facts_of(each).get("factor.server") for each in numbered] == ["srv7", "srv8", "srv7", None]
    assert [fact.line for fact in numbered[1].facts if fact.key == "factor.server"] == [2]


def test_a_result_goes_on_when_those_behind_it_cannot_change_it() -> None:
    read_so_far: list[int] = []

    def results(*servers: str) -> Iterator[Fragment]:
        for number, server in enumerate(servers, start=1):
            read_so_far.append(number)
            yield result(number, server)

    handed_over = [(each.trial, len(read_so_far)) for each in number_each(results("a", "b", "a", "b", "b", "c"))]
    # The first is sure once there is another server and a second of its own; the last has no second.
    assert handed_over == [(1, 3), (1, 4), (2, 4), (2, 4), (3, 5), (None, 6)]


def test_results_side_by_side_in_a_file_are_processes_of_one_run() -> None:
    for text in (side := (LOGS / "netperf/many_in_one/users.txt").read_text(), side.replace("3502", "3501")):
        (reading,) = read_files([SourceFile("users.txt", text.encode())])
        (draft,) = collate(reading.fragments).drafts
        assert (draft.run_id, len(draft.logs)) == ("users", 2)
    (again, twice) = read_files([SourceFile(name, side.encode()) for name in ("a.txt", "b.txt")])
    assert [len(draft.logs) for draft in collate([*again.fragments, *twice.fragments]).drafts] == [2]


def test_dates_beside_a_log_make_it_no_snapshot() -> None:
    log = (LOGS / "netperf/many_in_one/trials.txt").read_text()
    (reading,) = read_files([SourceFile("trials.txt", (DATED + log).encode())])
    assert (reading.format, len(reading.fragments)) == ("netperf", 2)
