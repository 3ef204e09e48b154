"""Facts and readings that are kept in a few bytes read as they were gathered."""

import pickle

from importers.fragment_builder import Gathered, Printed
from importers.model import Fact, Reading
from importers.packed import Facts


def test_what_was_gathered_reads_as_it_was_said() -> None:
    gathered = Gathered([Fact("tool", "x", 1)])
    gathered.say("users", " 4 ", 2)
    gathered.say("server", "", 2)
    gathered.say("client", None, 2)
    gathered.fact("mtu", Printed("1500", 3))
    gathered.measure(("driver_s", "s", "total"), "10.0", 4)
    gathered.measure(("errors", "errors", "client"), "N/A", 4)
    gathered.reading("mb_per_s", Printed("9.5", 5), "MB/s", "client")
    assert tuple(gathered.facts) == (Fact("tool", "x", 1), Fact("users", "4", 2), Fact("mtu", "1500", 3))
    assert gathered.readings == (Reading("driver_s", "10.0", "s", 4), Reading("mb_per_s", "9.5", "MB/s", 5, "client"))
    assert gathered.printed("mb_per_s") == Printed("9.5", 5)
    assert not gathered.has("errors")


def test_facts_of_one_line_and_of_several() -> None:
    one, several = Facts(["a", "b"], ("1", "2"), (7, 7)), Facts(["a", "b"], ("1", "2"), (7, 8))
    assert [fact.line for fact in one] == [7, 7]
    assert [fact.line for fact in several] == [7, 8]
    assert one != several
    assert one[0] == several[0] == Fact("a", "1", 7)
    assert one.keys is several.keys
    assert one == Facts(("a", "b"), ("1", "2"), 7)


def test_what_is_said_behind_others() -> None:
    gathered = Gathered()
    assert gathered.facts_with(("a", "b"), ("1", "2"), 7) == (Fact("a", "1", 7), Fact("b", "2", 7))
    gathered.say("tool", "x", 1)
    assert gathered.facts_with(("a",), ("1",), 7) == (Fact("tool", "x", 1), Fact("a", "1", 7))


def test_nothing_is_nothing() -> None:
    assert Gathered().facts == ()
    assert not Gathered().readings
    assert Facts((), (), ()).texts == []


def test_facts_of_the_host_stay_so_when_kept_and_with_another() -> None:
    gathered = Gathered()
    gathered.say_each(("kernel", "mtu", "users"), ("6.1", None, "4"), (2, 3, 4))
    facts = gathered.facts_but(frozenset({"kernel"}))
    assert isinstance(facts, Facts)
    both = (Fact("kernel", "6.1", 2, of_host=True), Fact("users", "4", 4))
    assert pickle.loads(pickle.dumps(facts)) == facts == both
    assert facts.and_another("tool", "x", 5) == (*both, Fact("tool", "x", 5))
    assert Gathered().facts_but(frozenset({"kernel"})) == ()
