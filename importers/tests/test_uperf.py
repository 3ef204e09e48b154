"""uperf: logs, profiles and histories; cases, cuts, mixtures and odd values."""

import json
from pathlib import Path

import pytest

from importers.files.text import decode
from importers.model import Fragment, Kind, Status
from importers.tests.expectations import EXPECTED, LOGS, assert_fragment, cases, read_case
from importers.tests.fixture_cases import Parsed, parse_with
from importers.uperf import log as uperf


def content(case: str, name: str = "uperf.log") -> str:
    return (LOGS / "uperf" / case / name).read_bytes().decode()


def parse(log: str) -> Parsed:
    text = decode("uperf.log", log.encode()).text
    assert text is not None
    return parse_with(uperf, text)


def only(log: str) -> Fragment:
    (fragment,) = parse(log).fragments
    return fragment


def facts(fragment: Fragment) -> dict[str, str]:
    return {fact.key: fact.text for fact in fragment.facts}


def readings(fragment: Fragment) -> dict[str, str]:
    return {reading.name: f"{reading.text} {reading.unit}" for reading in fragment.readings}


_OPERATIONS = {"connect", "write", "read", "disconnect", "accept"}


@pytest.mark.parametrize("folder", cases("uperf"), ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    expected = json.loads((folder / EXPECTED).read_text())
    found = read_case(folder)
    assert {reading.format for reading in found} == {"uperf"}
    problems = [problem for reading in found for problem in reading.problems]
    assert [problem.code for problem in problems] == expected["problems"]
    assert all(problem.file and problem.remedy for problem in problems)
    assert [text for text in expected["says"] if not any(text in each.message for each in problems)] == []
    fragments = [fragment for reading in found for fragment in reading.fragments]
    assert len(fragments) == len(expected["fragments"])
    for fragment, wanted in zip(fragments, expected["fragments"], strict=True):
        assert_fragment(fragment, wanted)
        # Lines end in LF here; CR is what overwrites a progress line.
        lines = (folder / fragment.file).read_bytes().decode().split("\n")
        assert all(reading.text in lines[reading.line - 1] for reading in fragment.readings)
        assert all(fragment.first_line <= fact.line <= fragment.last_line for fact in fragment.facts)


@pytest.mark.parametrize("case", ["rr", "crr_slave_waits", "raw_verbose", "two_groups"])
def test_a_log_cut_anywhere_is_never_complete(case: str) -> None:
    log = content(case)
    end = log.index("%", log.rindex("Difference(%)") + 13)
    for at in range(60, log.rindex("%", end)):
        for fragment in parse(log[:at]).fragments:
            assert fragment.status is not Status.COMPLETE, log[:at][-40:]
            assert fragment.readings == ()


def test_only_the_last_progress_line_of_the_measured_transaction_counts() -> None:
    fragment = only(content("rr"))
    assert fragment.listings[0].columns == (
        ("elapsed", "s"),
        ("data", "KB"),
        ("data", "MB"),
        ("data", "GB"),
        ("data_per_s", "Mb/s"),
        ("operations_per_s", "1/s"),
    )
    assert fragment.listings[0].rows[1] == ("30.01", None, "941.18", None, "263.08", "54808")
    assert readings(fragment)["driver_s"] == "60.21 s"


def test_totals_groups_and_slaves_are_no_throughput() -> None:
    """Total covers start-up and end, and Group Details multiplies by the number of operations."""
    log = content("processes", "run.log")
    values = readings(only(log)).values()
    assert "237.88" in log and not any("237.88" in value for value in values)
    assert "22.22" in log and not any("22.22" in value for value in values)


def test_data_without_a_unit_is_bytes() -> None:
    log = content("few_transactions", "x.log")
    assert ("data", "B") in only(log).listings[0].columns


def test_the_table_of_averages_counts_from_zero() -> None:
    found = readings(only(content("rr")))
    assert found["transactions"] == "1646311 count"
    assert readings(only(content("crr_slave_waits")))["transactions"] == "560370 count"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("rr1c-200x30k", {"workload": "RR", "request_bytes": "200", "response_bytes": "30k"}),
        ("rr1c-1x1---250", {"workload": "RR", "request_bytes": "1", "response_bytes": "1"}),
        ("str-writex30k--50", {"workload": "STRP", "message_bytes": "30k"}),
        ("str-readx30k-1", {"workload": "STRG", "message_bytes": "30k"}),
        ("my own profile", {}),
    ],
)
def test_names_of_profiles_suggest_a_workload(name: str, wanted: dict[str, str]) -> None:
    log = content("rr").replace("rr1c-200x1000", name)
    # Without the table of operations, which proves more than a name.
    lines = [line for line in log.splitlines(keepends=True) if line.split(" ")[0] not in _OPERATIONS]
    found = facts(only("".join(lines)))
    keys = ("workload", "request_bytes", "response_bytes", "message_bytes")
    assert {key: found[key] for key in keys if key in found} == wanted
    assert ("assumed" in found) is bool(wanted)


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ({"connect": 4, "write": 5000, "read": 5000, "disconnect": 4}, "RR"),
        ({"connect": 4, "write": 5003, "read": 5000}, "RR"),
        ({"connect": 5000, "write": 5000, "read": 5000, "disconnect": 5000}, "CRR"),
        ({"connect": 4, "read": 5000}, "STRG"),
        ({"connect": 4, "sendfile": 5000}, "STRP"),
        ({"connect": 4, "write": 5000, "read": 1000}, None),
    ],
)
def test_the_operations_counted_prove_the_pattern(counts: dict[str, int], wanted: str | None) -> None:
    log = content("rr").replace("rr1c-200x1000", "mine")
    rows = [
        f"{name:<14}{count:>10}      5.10us      0.00ns      5.20us      5.00us\n" for name, count in counts.items()
    ]
    lines = [line for line in log.splitlines(keepends=True) if line.split(" ")[0] not in _OPERATIONS]
    place = next(at for at, line in enumerate(lines) if line.startswith("Flowop")) + 2
    found = facts(only("".join([*lines[:place], *rows, *lines[place:]])))
    assert found.get("workload") == wanted


def test_the_host_is_not_given_when_its_cell_may_be_cut() -> None:
    assert "server" not in facts(only(content("rr").replace("lnxsrv    ", "lnxsrv-longname")))


def test_crlf_and_missing_last_line_end_change_nothing() -> None:
    log = content("rr")
    assert [each.text for each in only(log.replace("\n", "\r\n")).readings] == [
        each.text for each in only(log).readings
    ]
    assert only(log.rstrip("\n")).status is Status.COMPLETE


def test_garbage_around_a_log_is_left_alone() -> None:
    log = content("rr")
    around = only("$ ssh lnxcl\nLast login: Mon\n" + log + "$ exit\nlogout\n")
    assert (around.status, readings(around)) == (Status.COMPLETE, readings(only(log)))


def test_digits_may_touch_the_rate() -> None:
    log = content("rr").replace("262.49Mb/s       54686op/s", "262.49Mb/s123456789012op/s")
    assert facts(only(log))["operations_per_s"] == "123456789012"


def test_nothing_done_is_a_failure() -> None:
    log = content("rr").replace("1.84GB", "     0").replace("54686op/s", "    0op/s").replace("941.18M", "      0")
    log = log.replace("7.03KB", "     0").replace("10op/s", " 0op/s").replace("41228op/s", "    0op/s")
    assert only(log).status is Status.FAILED


@pytest.mark.parametrize(
    "text", ["Starting 3 threads", "<profile name='x'>", "1 2 3 4 5\n1 2 3 4 5", "Error parsing x"]
)
def test_other_text_is_not_recognised(text: str) -> None:
    decoded = decode("a", f"{text}\n".encode()).text
    assert decoded is not None
    assert not uperf.recognise(decoded)


def test_a_profile_has_facts_only_with_the_lines_they_stand_in() -> None:
    profile = content("rr", "profile.xml")
    fragment = only(profile)
    assert (fragment.kind, fragment.readings) == (Kind.REPORT, ())
    lines = {fact.key: profile.splitlines()[fact.line - 1].strip() for fact in fragment.facts}
    assert lines["users"] == '<group nthreads="10">'
    assert lines["asked_duration_s"] == '<transaction duration="60s">'
    assert lines["server"].startswith('<flowop type="connect"')


def test_a_profile_of_very_many_elements_is_refused() -> None:
    flowop = '      <flowop type="write" options="size=200"/>\n'
    parsed = parse(content("rr", "profile.xml").replace(flowop, flowop * 20_000))
    assert [problem.code for problem in parsed.problems] == ["uperf.bad-profile"]
