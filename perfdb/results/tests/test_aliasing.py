"""Aliases: shown before they act, moving runs to where they belong, and undone without a trace."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.utils import timezone

from perfdb.analysis.query.parameters import QueryError
from perfdb.results import tasks
from perfdb.results.changes import alias_changes, rebuild
from perfdb.results.changes.rebuild import rederive_runs
from perfdb.results.changes.spellings import read_spellings
from perfdb.results.ingest import import_job, uploads
from perfdb.results.models import Alias, Experiment, Job, Problem, Run, Study
from perfdb.results.runs.evidence import decode_facts
from perfdb.results.runs.vocabulary import read_aliases
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import LOGS, Bring, Work, case
from perfdb.results.tests.rows import all_rows

pytestmark = pytest.mark.django_db

Add = Callable[..., Alias]

WHOLE = case("cp_query/NMGBR950")


def do_jobs() -> list[Job]:
    """Do what waits, and answer it."""
    found = list(Job.objects.filter(kind="alias", state="queued").order_by("pk"))
    for job in found:
        tasks.run_job(job.pk)
        job.refresh_from_db()
        assert job.state == "done", job.outcome
    return found


@pytest.fixture
def add(owner: User) -> Add:
    def do(dimension: str, printed: str, meaning: str, study: Study | None = None) -> Alias:
        alias = alias_changes.add_alias(study or make_study(), dimension, printed, meaning, owner)
        do_jobs()
        return alias

    return do


def undo(alias: Alias) -> None:
    alias_changes.remove_alias(alias)
    do_jobs()


def devices() -> list[str | None]:
    return [run.device and run.device.name for run in Run.objects.order_by("pk").select_related("device")]


def test_runs_move_to_the_experiment_of_the_meaning_and_back(add: Add) -> None:
    one, other = make_run("A", device="QDIO"), make_run("B", device="QDIO GBE")
    rederive_runs(None)
    version = make_study().version
    before = all_rows()
    alias = add("device", "qdio gbe ", "QDIO")
    assert devices() == ["QDIO", "QDIO"]
    one.refresh_from_db()
    other.refresh_from_db()
    assert one.experiment_id == other.experiment_id
    assert Experiment.objects.count() == 1, "the one that was left is gone"
    assert decode_facts(other.evidence)["printed.device"].text == "QDIO GBE"
    assert make_study().version > version
    undo(alias)
    assert all_rows() == before


@pytest.mark.parametrize(
    ("dimension", "printed", "meaning"),
    [
        ("mtu", "1492", "8K"),
        ("users", "10", "20"),
        ("workload", "RR", "STRG 20/1M"),
        ("system", "2064-109", "2066-0X2"),
        ("level", "4.2.0", "4.3.0"),
        ("campaign", "first", "second"),
        ("layer", "2", "3"),
        ("factor.kernel", "2.4", "2.4.7"),
    ],
)
def test_every_dimension_can_have_aliases(add: Add, dimension: str, printed: str, meaning: str) -> None:
    more: dict[str, Any] = {"level": "4.2.0", "campaign": "first", "layer": 2, "factors": {"kernel": "2.4"}}
    make_run("A", **more)
    make_run("B", machine="2066-0X2", **more)
    rederive_runs(None)
    before = all_rows()
    alias = add(dimension, printed, meaning)
    wanted = "8192" if meaning == "8K" else meaning
    (found,) = [each for each in read_spellings(make_study()) if each.dimension == dimension]
    assert [each.value for each in found.values] == [wanted]
    if dimension == "system":
        assert Run.objects.get(run_id="A").experiment_id == Run.objects.get(run_id="B").experiment_id
    undo(alias)
    assert all_rows() == before


def test_an_imported_run_keeps_what_was_printed(bring: Bring, add: Add) -> None:
    bring(*WHOLE)
    run = Run.objects.get()
    assert run.device is not None
    printed = run.device.name
    facts, before = run.evidence.facts, all_rows()
    alias = add("device", printed, "Another", run.study)
    run = Run.objects.get()
    assert devices() == ["Another"]
    assert run.evidence.facts == facts
    undo(alias)
    assert all_rows() == before


def test_what_follows_from_a_dimension_follows_again(bring: Bring, add: Add) -> None:
    bring(*WHOLE)
    run = Run.objects.get()
    before, values = all_rows(), run.values
    alias = add("workload", str(run.workload), "STRG 20/20M", run.study)
    assert str(Run.objects.get().workload) == "STRG"
    assert Run.objects.get().values != values
    undo(alias)
    assert all_rows() == before


def test_a_word_becomes_a_number_only_by_an_alias(bring: Bring, add: Add) -> None:
    bring(*case("netperf/rr_cpu"), facts={"mtu": "jumbo"})
    run = Run.objects.get()
    assert run.mtu is None
    assert Problem.objects.filter(run=run, code="run.dimension-unreadable").count() == 1
    before = all_rows()
    alias = add("mtu", "Jumbo", "9000", run.study)
    run = Run.objects.get()
    assert (run.mtu, decode_facts(run.evidence)["mtu"].text) == (9000, "jumbo")
    assert not Problem.objects.filter(run=run, code="run.dimension-unreadable").exists()
    undo(alias)
    assert all_rows() == before


def test_later_uploads_are_prepared_with_the_aliases(bring: Bring, add: Add) -> None:
    bring(*WHOLE)
    run = Run.objects.get()
    assert run.device is not None
    add("device", run.device.name, "Another", run.study)
    Run.objects.all().delete()
    bring(*WHOLE)
    assert devices() == ["Another"]
    bring(*WHOLE)
    assert len(devices()) == 1, "the same again is already there"


def test_evidence_that_comes_later_joins_under_the_alias(bring: Bring, work: Work, add: Add) -> None:
    first = bring(*[name for name in WHOLE if "client.awm" in name])
    run = Run.objects.get()
    assert run.device is not None
    alias = add("device", run.device.name, "Another", run.study)
    later = bring(*[name for name in WHOLE if "client.awm" not in name])
    assert (later.runs.get().outcome, devices()) == ("extended", ["Another"])
    uploads.undo(later)
    work(later)
    assert devices() == ["Another"]
    undo(alias)
    assert devices() == [run.device.name]
    assert first.runs.get().run == run


def test_a_run_that_had_to_change_its_trial_may_get_more_evidence(bring: Bring, add: Add) -> None:
    names = [name for name in WHOLE if "client.txt" in name]
    others = [(name, (LOGS / name).read_bytes().replace(b"TOTCPU= 0", b"TOTCPU= 1")) for name in names]
    bring(*names, facts={"device": "QDIO"})
    bring(*others, facts={"device": "QDIO GBE"})
    assert [(run.trial, str(run.device)) for run in Run.objects.order_by("pk").select_related("device")] == [
        (1, "QDIO"),
        (1, "QDIO GBE"),
    ]
    alias = add("device", "QDIO GBE", "QDIO", Run.objects.all()[0].study)
    assert list(Run.objects.order_by("pk").values_list("trial", flat=True)) == [1, 2]
    for files, device in ((names, "QDIO"), (others, "QDIO GBE")):
        assert bring(*files, facts={"device": device, "processors": 2}).runs.get().outcome == "extended"
    assert list(Run.objects.order_by("pk").values_list("trial", flat=True)) == [1, 2]
    undo(alias)
    assert list(Run.objects.order_by("pk").values_list("trial", flat=True)) == [1, 1]
    assert devices() == ["QDIO", "QDIO GBE"]


def test_an_alias_made_while_files_are_read_counts(bring: Bring, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import has prepared its records; the alias and its job come before it stores them."""
    bring(*WHOLE)
    run = Run.objects.get()
    assert run.device is not None
    name, study = run.device.name, run.study
    Run.objects.all().delete()
    load = import_job._load

    def late(*arguments: object) -> None:
        alias_changes.add_alias(study, "device", name, "Another", owner)
        do_jobs()
        load(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(import_job, "_load", late)
    bring(*WHOLE)
    assert devices() == ["Another"]


def test_runs_are_never_merged_and_get_their_number_back(add: Add) -> None:
    make_run("A", device="QDIO")
    make_run("A", device="QDIO GBE")
    make_run("A", device="QDIO GBE", trial=2)
    rederive_runs(None)
    before = all_rows()
    effect = alias_changes.find_effect(alias_changes.propose_alias(make_study(), "device", "QDIO GBE", "QDIO"))
    assert [(each.run_id, each.trial, len(each.runs)) for each in effect.twice] == [("A", 1, 2)]
    alias = add("device", "QDIO GBE", "QDIO")
    runs = Run.objects.order_by("pk")
    assert [run.trial for run in runs] == [1, 3, 2]
    assert decode_facts(runs[1].evidence)["printed.trial"].text == "1"
    undo(alias)
    assert all_rows() == before


def test_withdrawn_runs_come_along_and_collide_with_nobody(add: Add) -> None:
    make_run("A", device="QDIO")
    make_run("A", device="QDIO GBE", status="withdrawn")
    rederive_runs(None)
    before = all_rows()
    alias = add("device", "QDIO GBE", "QDIO")
    assert devices() == ["QDIO", "QDIO"]
    assert set(Run.objects.values_list("trial", flat=True)) == {1}
    undo(alias)
    assert all_rows() == before


def test_an_alias_is_its_studys_alone(add: Add) -> None:
    make_run("A", device="QDIO GBE")
    make_run("B", device="QDIO GBE", study=make_study("other"))
    add("device", "QDIO GBE", "QDIO")
    assert devices() == ["QDIO", "QDIO GBE"]


def test_the_preview_says_what_would_change_and_changes_nothing() -> None:
    for number in range(3):
        make_run(f"A{number}", device="QDIO GBE")
    make_run("B", device="Qdio Gbe")
    make_run("C", device="QDIO")
    before = all_rows()
    effect = alias_changes.find_effect(alias_changes.propose_alias(make_study(), "device", "QDIO GBE", "QDIO"))
    assert (effect.runs, effect.values, effect.there) == (4, [("QDIO GBE", 3), ("Qdio Gbe", 1)], 1)
    assert effect.twice == []
    assert all_rows() == before
    assert not Alias.objects.exists()


@pytest.mark.parametrize(
    ("dimension", "printed", "meaning", "why"),
    [
        ("device", "OSA", "QDIO GBE", "not a value of its own but QDIO; name that instead"),
        ("device", "QDIO", "OSA", "QDIO GBE is QDIO; undo that alias first"),
        ("device", "QDIO", "QDIO GBE", "round in a circle"),
        ("device", "qdio gbe", "OSA", "is QDIO already"),
        ("device", "OSA", "OSA", "is itself"),
        ("device", " ", "OSA", "printed is empty"),
        ("device", "OSA", "", "meaning is empty"),
        ("device", "x" * 201, "OSA", "more than 200"),
        ("mtu", "jumbo", "large", "no value of mtu"),
        ("mtu", "jumbo", "0", "no value of mtu"),
        ("system", "2064-109", "nowhere", "no system is called"),
        ("trial", "1", "2", "can have no aliases"),
        ("study", "a", "b", "can have no aliases"),
        ("colour", "a", "b", "colour"),
    ],
)
def test_what_may_be_no_alias(add: Add, dimension: str, printed: str, meaning: str, why: str) -> None:
    make_run("A", device="QDIO GBE")
    add("device", "QDIO GBE", "QDIO")
    with pytest.raises(QueryError, match=why):
        alias_changes.propose_alias(make_study(), dimension, printed, meaning)


def test_two_texts_may_mean_one_value(add: Add) -> None:
    make_run("A", device="QDIO GBE")
    make_run("B", device="qdio-gbe")
    make_run("C", device="QDIO")
    first = add("device", "QDIO GBE", "QDIO")
    add("device", "QDIO-GBE", "QDIO")
    assert set(devices()) == {"QDIO"}
    undo(first)
    assert sorted(filter(None, devices())) == ["QDIO", "QDIO", "QDIO GBE"]


def test_values_that_differ_in_signs_only_are_suggested() -> None:
    make_run("A", device="QDIO GBE")
    make_run("B", device="QDIO GBE")
    make_run("C", device="qdio-gbe")
    make_run("D", device="QDIO 10GBE", mtu=8192)
    (device,) = [each for each in read_spellings(make_study()) if each.dimension == "device"]
    assert [(each.printed, each.meaning) for each in device.suggestions] == [("qdio-gbe", "QDIO GBE")]
    assert [(value.value, value.runs) for value in device.values] == [
        ("QDIO 10GBE", 1),
        ("QDIO GBE", 2),
        ("qdio-gbe", 1),
    ]


def test_a_job_that_was_cut_off_goes_on(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        make_run(f"A{number}", device="QDIO GBE")
    rederive_runs(None)
    before = all_rows()
    alias = alias_changes.add_alias(make_study(), "device", "QDIO GBE", "QDIO", owner)
    monkeypatch.setattr(rebuild, "CHUNK", 1)
    realign, done = alias_changes._realign, list[int]()

    def dying(run: Run, dimension: str) -> bool:
        if len(done) == 2:
            raise OperationalError("the server closed the connection")
        done.append(run.pk)
        return realign(run, dimension)

    monkeypatch.setattr(alias_changes, "_realign", dying)
    job = Job.objects.get(kind="alias")
    tasks.run_job(job.pk)
    assert devices() == ["QDIO", "QDIO", "QDIO GBE"]
    assert alias_changes.is_applying(make_study())
    monkeypatch.setattr(alias_changes, "_realign", realign)
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert (devices(), job.outcome["changed"]) == (["QDIO"] * 3, 3)
    assert not alias_changes.is_applying(make_study())
    undo(alias)
    assert all_rows() == before


def test_a_study_without_aliases_reads_no_systems(django_assert_num_queries: object) -> None:
    study = make_study()
    with django_assert_num_queries(1):  # type: ignore[operator] # a fixture
        assert read_aliases(study).dimensions == []


def test_what_a_run_id_says_has_aliases_too(bring: Bring, add: Add, owner: User) -> None:
    about = {"run_id_pattern": "(?P<campaign>..).*", "run_id_values": {"campaign": {"NM": "Network"}}}
    study = Study.objects.create(slug="p", title="P", owner=owner, **about)
    bring(*case("awm/both_sides"), study=study)
    assert Run.objects.get().campaign == "Network"
    before = all_rows()
    alias = add("campaign", "network", "Net", study)
    assert Run.objects.get().campaign == "Net"
    undo(alias)
    assert all_rows() == before
