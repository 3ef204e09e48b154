"""nuttcp in three forms: cases, cuts, output of other tools."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.model import Parsed, Status
from importers.nuttcp import log as nuttcp
from importers.tests.expectations import LOGS, assert_as_expected, cases

CASES = cases("nuttcp")


def content(case: str) -> str:
    return (LOGS / "nuttcp" / case / "client.txt").read_text(encoding="utf-8")


def parse(log: str) -> Parsed:
    text = decode("client.txt", log.encode()).text
    assert text is not None
    return nuttcp.parse(text)


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "nuttcp")


@pytest.mark.parametrize("case", ["brief", "intervals", "udp", "many_streams", "verbose", "verbose_reverse", "short"])
def test_text_cut_anywhere_is_never_complete(case: str) -> None:
    log = content(case)
    for at in range(len(log) - len(log.lstrip()) + 1, len(log)):
        parsed = parse(log[:at])
        assert [each for each in parsed.fragments if each.status is Status.COMPLETE] == [], f"cut at {at}"
        assert not parsed.fragments or parsed.problems


def test_results_one_after_another_are_trials() -> None:
    for case in ("brief", "verbose", "intervals"):
        fragments = parse(content(case) * 3).fragments
        assert [(each.trial, each.status) for each in fragments] == [(trial, Status.COMPLETE) for trial in (1, 2, 3)]
        assert len({str(each.listings) for each in fragments}) <= 3


@pytest.mark.parametrize(
    ("command", "workload"),
    [
        ("$ nuttcp -T10 lnxb", "STRP"),
        ("$ nuttcp -r -u -R100m lnxb", "STRG"),
        ("root@lnxa:/tmp# /usr/bin/nuttcp -t -N4 lnxb", "STRP"),
        ("$ nuttcp -r -F lnxb", None),
        ("nuttcp is a tool, not a command here!", None),
    ],
)
def test_the_command_tells_the_direction(command: str, workload: str | None) -> None:
    (fragment,) = parse(f"{command}\n{content('brief')}").fragments
    facts = {fact.key: fact.text for fact in fragment.facts}
    assert facts.get("workload") == workload


def test_the_clients_own_command_is_that_before_its_result() -> None:
    """An interval line without a result belongs to the last command."""
    interval = content("intervals").splitlines(keepends=True)[0]
    fragments = parse(f"$ nuttcp -r lnxb\n{interval}$ nuttcp lnxb\n{content('brief')}").fragments
    assert [each.status for each in fragments] == [Status.INCOMPLETE, Status.COMPLETE]
    workloads = [next(fact.text for fact in each.facts if fact.key == "workload") for each in fragments]
    assert workloads == ["STRG", "STRP"]


@pytest.mark.parametrize(
    "other",
    [
        "ttcp-t: buflen=8192, nbuf=2048 tcp\n",
        "16777216 bytes in 0.02 real seconds\n",
        "10 MB / 2 seconds\n",
        "errno=111\n",
    ],
)
def test_what_is_of_another_tool_is_not_recognised(other: str) -> None:
    text = decode("a", other.encode()).text
    assert text is not None
    assert not nuttcp.recognise(text)


def test_jitter_is_kept() -> None:
    result = "   23.8 MB /   2.00 sec =   99.8 Mbps 20 %TX 3 %RX 12 / 17067 drop/pkt 0.07 %loss 0.0140 msAvgJitter"
    for behind, known in (("", None), (" 0.9100 msMaxJitter", "0.9100")):
        (fragment,) = parse(f"$ nuttcp -u -j lnxb\n{result}{behind}\n").fragments
        figures = {each.name: each.text for each in fragment.readings}
        assert (figures["jitter_ms"], figures.get("jitter_max_ms")) == ("0.0140", known)
