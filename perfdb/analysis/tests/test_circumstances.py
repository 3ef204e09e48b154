"""What differs between two sets of runs beside what is compared."""

import pytest

from perfdb.analysis.insights.circumstances import CIRCUMSTANCES, Weight, differing_circumstances, values_text

SAME = {"processors": "2", "tool_version": "2.1"}


def keys(old: list[dict[str, str]], new: list[dict[str, str]], *compared: str) -> list[str]:
    return [each.key for each in differing_circumstances(old, new, compared)]


def test_it_works() -> None:
    old = [{**SAME, "level": "z/VM 4.3", "request_bytes": "200"}] * 3
    new = [{**SAME, "level": "z/VM 4.4", "request_bytes": "100", "tool_version": "2.2"}] * 3
    found = differing_circumstances(old, new)
    assert [(each.key, each.weight) for each in found] == [
        ("request_bytes", Weight.OTHER_WORK),
        ("level", Weight.EXPLAINS),
        ("tool_version", Weight.MINOR),
    ]
    assert found[1].sentence == "level: z/VM 4.3 → z/VM 4.4 (can explain it: other software)"


def test_equal_sides_differ_in_nothing() -> None:
    assert keys([SAME] * 3, [SAME] * 2) == []
    assert keys([SAME], []) == []


def test_what_is_compared_and_what_every_run_has_of_its_own_is_left_out() -> None:
    old, new = {"device": "A", "cp.time": "1", "started": "2"}, {"device": "B", "cp.time": "3", "started": "4"}
    assert keys([old], [new], "device") == []
    assert keys([old], [new]) == ["device"]


def test_what_an_end_says_of_what_is_compared_is_left_out_too() -> None:
    old, new = {"mtu": "1500", "server.mtu": "1500"}, {"mtu": "9000", "server.mtu": "9000"}
    assert keys([old], [new], "mtu") == []
    assert keys([old], [new]) == ["mtu", "server.mtu"]


def test_what_was_measured_explains_nothing() -> None:
    old = {"sent_bits_per_second": "9.1", "data_per_s": "3", "operations_per_s.2": "4"}
    assert keys([old], [{name: f"{text}7" for name, text in old.items()}]) == []


@pytest.mark.parametrize(("old", "new", "differs"), [("60", "60.2", False), ("60", "65", False), ("60", "300", True)])
def test_durations_may_differ_a_little(old: str, new: str, differs: bool) -> None:
    assert bool(keys([{"driver_s": old}], [{"driver_s": new}])) is differs
    assert keys([{"driver_s": "a minute"}], [{"driver_s": "an hour"}]) == ["driver_s"]


def test_a_side_that_does_not_say_is_no_difference_that_is_known() -> None:
    (found,) = differing_circumstances([{"kernel": "6.4"}], [{}])
    assert (found.weight, found.old, found.new) == (Weight.MINOR, ("6.4",), ())
    assert found.sentence == "kernel: 6.4 → not known (minor: recorded on one side only)"


def test_other_shares_of_the_same_values_are_minor() -> None:
    (found,) = differing_circumstances([{"mtu": "1500"}, {"mtu": "9000"}], [{"mtu": "1500"}] * 2 + [{"mtu": "9000"}])
    assert (found.weight, found.why) == (Weight.MINOR, "in other shares")


def test_long_lists_are_cut() -> None:
    assert values_text(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 more"


def test_the_last_rule_takes_what_is_left() -> None:
    assert CIRCUMSTANCES[-1].pattern == ".*"
    (found,) = differing_circumstances([{"colour": "red"}], [{"colour": "blue"}])
    assert found.why == "effect unknown"


def test_a_fact_of_several_files_is_told_by_its_role() -> None:
    old = [{"kernel": "2.4.7", "kernel (server, run1/after.txt)": "2.4.7"}]
    new = [{"kernel": "2.4.7", "kernel (server, run2/after.txt)": "2.4.9", "kernel (server, run2/late.txt)": "2.4.9"}]
    (found,) = differing_circumstances(old, new)
    assert (found.key, found.old, found.new) == ("kernel (server)", ("2.4.7",), ("2.4.9",))
    assert found.weight is Weight.EXPLAINS


def test_what_is_another_in_every_run_is_a_reading() -> None:
    old, new = ([{"cp.spool": f"{side}{number}"} for number in range(3)] for side in "ab")
    assert differing_circumstances(old, new) == []
    assert [each.key for each in differing_circumstances(old[:2], new[:2])] == ["cp.spool"]
    assert [each.key for each in differing_circumstances(old, [{"cp.spool": "b0"}] * 3)] == ["cp.spool"]
    assert differing_circumstances([{"cp.indicate_load": "AVGPROC-088%"}], [{"cp.indicate_load": "AVGPROC-091%"}]) == []
    assert keys([{"server.sockstat": "sockets: used 1"}], [{"server.sockstat": "sockets: used 9"}]) == []
