"""Where values come from is written short and read back as it was."""

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from perfdb.results.runs import evidence as origins
from perfdb.results.runs.record import FactValue, Origin, Value

_NUMBERS = st.sampled_from([0, 1, 2])
_TEXTS = st.sampled_from(["", "1.5", "2"])
_LOGGED = st.builds(Value, st.just(1.5), st.just(Origin.REPORTED), _TEXTS, _NUMBERS, _NUMBERS, st.just(""))
_DERIVED = st.builds(
    Value, st.just(2.5), st.just(Origin.DERIVED), _TEXTS, _NUMBERS, _NUMBERS, st.sampled_from(["a/1", "b/2"])
)
_OTHERS = st.builds(
    Value, st.just(0.5), st.sampled_from([Origin.GIVEN, Origin.PUBLISHED]), _TEXTS, _NUMBERS, _NUMBERS, st.just("")
)


def _row(values: dict[int, Value]) -> Any:
    return SimpleNamespace(**dict(zip(origins.COLUMNS, origins.encode_values(values), strict=True)))


@given(st.dictionaries(st.integers(1, 9), _LOGGED | _DERIVED | _OTHERS))
def test_what_is_written_is_read(values: dict[int, Value]) -> None:
    by_slot = [values[slot].value if slot in values else None for slot in range(1, 10)]
    assert dict(origins.decode_values(_row(values), by_slot)) == values


def test_one_line_of_one_log_is_there_once() -> None:
    printed = {slot: Value(1.5, Origin.REPORTED, "1.5", 7, 3) for slot in (1, 2, 4)}
    derived = {3: Value(2.0, Origin.DERIVED, formula="a/1"), 5: Value(2.04, Origin.DERIVED, "2.0", 7, 3, "b/1")}
    assert origins.encode_values(printed | derived) == (
        *([1, 2, 3, 4, 5], "rrdrd", "1.5\n1.5\n\n1.5\n2.0"),
        *([7], [3], ["a/1", "b/1"]),
    )


def test_a_fact_is_its_text_where_it_stands_beside_all_values() -> None:
    facts = {"here": FactValue("a", 7, 3), "below": FactValue("b", 7, 4), "given": FactValue("c")}
    elsewhere = {name: facts[name]._asdict() for name in ("below", "given")}
    one, several = (
        _row({slot: Value(1.5, Origin.REPORTED, "1.5", 7, slot) for slot in slots}) for slots in ([3], [3, 4])
    )
    for evidence, kept in (one, {"here": "a"}), (several, {"here": facts["here"]._asdict()}):
        evidence.facts = origins.encode_facts(facts, evidence.artifacts, evidence.lines)
        assert evidence.facts == kept | elsewhere
        assert origins.decode_facts(evidence) == facts


def test_a_printed_text_is_of_one_line() -> None:
    assert _row({1: Value(1.5, Origin.PUBLISHED, "1\n5")}).printed == "1 5"
