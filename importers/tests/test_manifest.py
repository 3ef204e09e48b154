"""Manifests: a row a run, a column a circumstance; unreadable rows are skipped."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from importers.formats import FileReading, read_files
from importers.model import Fragment, Kind, SourceFile
from importers.tests.fixture_cases import assert_case, cases

HEAD = "run_id,tool,mtu,users,trial,start_utc,end,operator\n"


def read_text(text: str) -> FileReading:
    (reading,) = read_files([SourceFile("manifest.csv", text.encode())])
    return reading


def only(text: str) -> Fragment:
    reading = read_text(text)
    assert (reading.format, reading.problems) == ("manifest", [])
    (fragment,) = reading.fragments
    return fragment


@pytest.mark.parametrize("folder", cases("manifest"), ids=lambda path: path.name)
def test_a_case_reads_as_expected(folder: Path) -> None:
    assert_case(folder)


def test_a_row_is_the_circumstances_of_a_run() -> None:
    row = 'AB101,iperf3,9000,10,2,2024-03-14T09:20:00,2024-03-14T09:21:00Z,"Doe, J."\n'
    fragment = only(HEAD + row)
    assert (fragment.kind, fragment.run_id, fragment.trial) == (Kind.CIRCUMSTANCES, "AB101", 2)
    assert (fragment.taken, fragment.ended, fragment.zone) == (
        datetime(2024, 3, 14, 9, 20),
        datetime(2024, 3, 14, 9, 21),
        "+00:00",
    )
    said = {(fact.key, fact.text, fact.line) for fact in fragment.facts}
    assert said == {("factor.tool", "iperf3", 2), ("mtu", "9000", 2), ("users", "10", 2), ("operator", "Doe, J.", 2)}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_may_be_apart_by_other_characters(delimiter: str) -> None:
    fragment = only(f"Run_ID{delimiter}Device\nAB101{delimiter}OSA\n")
    assert [(fact.key, fact.text) for fact in fragment.facts] == [("device", "OSA")]


def test_an_empty_cell_says_nothing() -> None:
    assert [fact.key for fact in only(HEAD + "AB101,,1500,,,,,\n").facts] == ["mtu"]


@pytest.mark.parametrize(
    ("row", "code", "kept"),
    [
        ("AB101,iperf3\n", "manifest.cells", 0),
        (',iperf3,9000,10,2,,,"x"\n', "manifest.no-run", 0),
        ('AB101,iperf3,9000,10,2,,,"open\n', "manifest.cells", 0),
        ("AB101,iperf3,9000,10,2,,,cut", "manifest.cut-off", 0),
        ("AB101,iperf3,9000,10,zero,,,x\n", "manifest.trial", 1),
        ("AB101,iperf3,9000,10,2,noon,,x\n", "manifest.time", 1),
    ],
)
def test_what_a_row_lacks_is_said(row: str, code: str, kept: int) -> None:
    reading = read_text(f"{HEAD}{row}")
    assert [(problem.code, problem.line) for problem in reading.problems] == [(code, 2)]
    assert len(reading.fragments) == kept


@pytest.mark.parametrize("head", ["run_id\nAB101\n", "run id numbers, as of today\n", "run_id,run_id\na,b\n"])
def test_other_tables_are_no_manifests(head: str) -> None:
    assert read_text(head).format is None


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("nuttcp -T3 -r -N4 lnxb", {"workload": "STRG", "users": "4"}),
        ("taskset -c 1 /usr/bin/nuttcp -u -R200m lnxb", {"workload": "STRP", "users": "1"}),
        ("nuttcp -F -r lnxb", {"users": "1"}),
        ("sockperf pp --tcp -i lnxb -m 200", {"request_bytes": "200", "response_bytes": "200"}),
        ("sockperf ping-pong -i lnxb", {"request_bytes": "14", "response_bytes": "14"}),
        ("sockperf tp -i lnxb --msg-size=1400", {"message_bytes": "1400"}),
        ("sockperf under-load -i lnxb --mps 1000", {}),
        ("qperf lnxb -t 2 tcp_lat udp_lat", {"request_bytes": "1", "response_bytes": "1"}),
        ("qperf lnxb -m 64K tcp_bw", {"message_bytes": "64K"}),
        ("qperf lnxb -m 1K tcp_bw tcp_lat", {}),
        ("qperf lnxb -oo msg_size:1:4K:*16 tcp_lat", {}),
        ("iperf -c lnxb -y C", {"workload": "STRP"}),
        ("iperf -c lnxb -y C -R", {"workload": "STRG"}),
        ("iperf -c lnxb -y C -d", {}),
        ("iperf -c lnxb", {}),
        ("netperf -H lnxb -t TCP_RR -- -r 200,1000", {}),
        ("nuttcp 'not closed", {}),
        ("nuttcp -N", {"workload": "STRP", "users": "1"}),
        ("nuttcp -N0 lnxb", {"workload": "STRP"}),
        ("sockperf pp -m many", {}),
    ],
)
def test_a_command_tells_what_the_output_leaves_open(command: str, told: dict[str, str]) -> None:
    facts = {fact.key: fact.text for fact in only(f'run_id,command\nAB101,"{command}"\n').facts}
    assert facts == {"command": command} | told


def test_a_column_counts_more_than_the_command() -> None:
    facts = only("run_id,workload,command\nAB101,STRG,nuttcp -T3 lnxb\n").facts
    assert [(fact.key, fact.text) for fact in facts if fact.key == "workload"] == [("workload", "STRG")]


def _universal(text: str) -> datetime | None:
    """The slow way of reading a time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=None) - (moment.utcoffset() or timedelta(0)) if moment.tzinfo else moment


@given(text=st.from_regex(r"[0-9W]{4}[-W0-9][0-9]{2}[-0-9]2[0-9][T+ -]14[:.]05[:.][0-9][0-9.:+]Z", fullmatch=True))
@example(text="2026W11-21+14:05:03Z")
@example(text="2026-11-21T14:05:03Z")
def test_a_universal_time_is_read_as_python_reads_it(text: str) -> None:
    fragment = read_text(f"run_id,start\nAB101,{text}\n").fragments[0]
    assert fragment.taken == _universal(text)
    assert fragment.zone == ("" if fragment.taken is None else "+00:00")
