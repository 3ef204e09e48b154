"""Timed reads over NFS: cases, cuts, other transcripts."""

from pathlib import Path

import pytest

from importers.load_tools import nfs_read
from importers.model import Status
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, decode_text, parse_with

MOUNT = "# mount -t nfs server:/export /mnt -o rsize=8192,wsize=8192\n"
TIME = "real\t0m9.243s\nuser\t0m0.020s\nsys\t0m1.310s\n"


def parse(log: str) -> Parsed:
    return parse_with(nfs_read, decode_text(log))


def facts(log: str) -> dict[str, str]:
    (fragment,) = parse(log).fragments
    return {fact.key: fact.text for fact in fragment.facts}


@pytest.mark.parametrize("folder", cases("nfs_read"), ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "nfs_read")


@pytest.mark.parametrize("case", ["shell_2001/read.txt", "dd_gnu/reads.log"])
def test_a_read_that_is_cut_off_has_no_figures(case: str) -> None:
    log = (LOGS / "nfs_read" / case).read_text()
    whole = parse(log).fragments
    for at in range(1, len(log)):
        for fragment, uncut in zip(parse(log[:at]).fragments, whole, strict=False):
            assert fragment.status is not Status.COMPLETE or fragment.readings == uncut.readings, log[:at][-60:]


def test_digits_of_other_scripts_are_no_figures() -> None:
    size = "-rw-r--r-- 1 root root {} 2026-03-02 10:11 /mnt/f\n$ time cat /mnt/f > /dev/null\n"
    (fragment,) = parse(MOUNT + size.format("123") + TIME).fragments
    assert fragment.status is Status.COMPLETE
    parsed = parse(MOUNT + size.format("\u0661\u0662\u0663") + TIME)
    assert [each.status for each in parsed.fragments] == [Status.INCOMPLETE]
    assert [problem.code for problem in parsed.problems] == ["nfs_read.no-size"]


def test_digits_at_the_very_end_of_a_file_may_be_cut() -> None:
    log = MOUNT + "# time -p dd if=/mnt/f of=/dev/null\nreal 9.24\nuser 0.02\nsys 1.31"
    assert parse(log).fragments[0].status is Status.INCOMPLETE


@pytest.mark.parametrize(
    "mount",
    [
        "$ mount -t nfs -o rsize=4096,wsize=2048 server:/export /mnt\n",
        "server:/export on /mnt type nfs (rw,rsize=4096,wsize=2048,addr=10.0.0.1)\n",
        "server:/export /mnt nfs4 rw,rsize=4096,wsize=2048,hard 0 0\n",
        "/mnt from server:/export\n Flags:\trw,rsize=4096,wsize=2048\n",
    ],
)
def test_mounts_are_understood_however_they_are_printed(mount: str) -> None:
    found = facts(f"{mount}$ time cat /mnt/f > /dev/null\n{TIME}")
    assert (found["server"], found["factor.rsize"], found["factor.wsize"]) == ("server", "4096", "2048")


def test_of_several_mounts_the_one_counts_that_the_file_lies_under() -> None:
    log = MOUNT + "b:/e on /mnt/inner type nfs (rsize=1024,wsize=1024)\n# time cat /mnt/inner/f\n" + TIME
    assert facts(log)["factor.rsize"] == "1024"
    assert facts(log.replace("/mnt/inner/f", "/mnt/f"))["factor.rsize"] == "8192"


def test_a_local_file_is_under_no_mount() -> None:
    assert "factor.rsize" not in facts(f"{MOUNT}# time cat /home/f\n{TIME}")


@pytest.mark.parametrize(
    "log",
    [TIME, MOUNT, "$ time iperf -c server\n" + TIME, "rsize=8192\n" + TIME, "mount: no nfs here\n1+0 records\n"],
)
def test_a_time_without_a_mount_and_a_mount_without_a_time_are_other_files(log: str) -> None:
    assert not nfs_read.recognise(decode_text(log))


def test_lines_without_end_are_no_burden() -> None:
    log = MOUNT + "mount -t nfs " * 50_000 + "\n" + "0.1s user " * 50_000 + "\n# time cat /mnt/f\n" + TIME
    assert nfs_read.recognise(decode_text(log))
    assert len(parse(log).fragments) == 1
