"""Output of qperf: the cases of ``fixtures/logs/qperf``, cuts, units and odd values."""

from pathlib import Path

import pytest

from importers.files.text import decode
from importers.load_tools import qperf
from importers.model import Fragment, Status, Text
from importers.tests.expectations import LOGS, assert_as_expected, cases
from importers.tests.fixture_cases import Parsed, parse_with


def content(case: str, name: str) -> str:
    return (LOGS / "qperf" / case / name).read_text()


def decoded(log: str, name: str = "log.txt") -> Text:
    text = decode(name, log.encode()).text
    assert text is not None
    return text


def parse(log: str, name: str = "log.txt") -> Parsed:
    return parse_with(qperf, decoded(log, name))


def readings(fragment: Fragment) -> dict[str, str]:
    return {f"{each.name}@{each.role}": f"{each.text} {each.unit}" for each in fragment.readings}


@pytest.mark.parametrize("folder", cases("qperf"), ids=lambda folder: folder.name)
def test_the_cases_read_as_expected(folder: Path) -> None:
    assert_as_expected(folder, "qperf")


@pytest.mark.parametrize("case", ["both", "exact", "loop"])
def test_output_cut_inside_a_line_has_no_half_figure(case: str) -> None:
    log = content(case, "q.txt")
    whole = [readings(fragment) for fragment in parse(log).fragments]
    for at in range(1, len(log)):
        for fragment, complete in zip(parse(log[:at]).fragments, whole, strict=False):
            found = readings(fragment)
            assert found.items() <= complete.items(), log[:at][-30:]
            assert found or fragment.status is not Status.COMPLETE


def test_a_number_without_unit_counts_only_when_its_line_ends() -> None:
    log = "tcp_lat:\n    latency        =    11.8 us\n    loc_send_msgs  =  84,839 \n"
    assert parse(log).fragments[0].status is Status.COMPLETE
    assert parse(log[:-3]).fragments[0].status is Status.INCOMPLETE


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_prompts_change_nothing(end: str) -> None:
    log = "$ qperf lnxsrv tcp_bw\ntcp_bw:\n    bw  =  812 MB/sec\n$ exit\n".replace("\n", end)
    (fragment,) = parse(log).fragments
    assert (fragment.status, readings(fragment)) == (Status.COMPLETE, {"mb_per_s@total": "812 MB/sec 10^6"})


@pytest.mark.parametrize(
    "text", ["tcp_bw:", "tcp_bw: 3\n    bw = 3", "notes:\n    bw  =  812 MB/sec", "tcp_bw:\nhello"]
)
def test_other_text_is_not_recognised(text: str) -> None:
    assert not qperf.recognise(decoded(f"{text}\n"))


@pytest.mark.parametrize(
    ("value", "size"),
    [("2 KiB (2,048)", "2048"), ("2 KB", "2000"), ("1.5 KB", "1500"), ("1.0005 KB", None), ("7 bytes", "7")],
)
def test_sizes_are_in_bytes_and_kb_is_decimal(value: str, size: str | None) -> None:
    (fragment,) = parse(f"tcp_lat:\n    latency   =  8.44 us\n    msg_size  =  {value}\n").fragments
    assert {fact.key: fact.text for fact in fragment.facts}.get("request_bytes") == size


def test_an_error_before_the_name_is_that_tests() -> None:
    """Errors are not buffered, names are."""
    error = "server: failed to find any RDMA devices: No such device"
    log = f"{error}\nrc_lat:\n"
    assert qperf.recognise(decoded(log))
    (alone,) = parse(log).fragments
    whole, failed = parse(f"tcp_lat:\n    latency  =  8 us\n{log}").fragments
    assert (alone.status, whole.status, failed.status) == (Status.FAILED, Status.COMPLETE, Status.FAILED)
    reasons = [{fact.key: fact.text for fact in each.facts}.get("error") for each in (alone, whole, failed)]
    assert reasons == [error, None, error]
