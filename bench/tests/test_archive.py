"""The synthetic archive is what it says, and the same every time."""

from itertools import islice

from bench import archive
from bench.archive import RUNS_PER_STUDY, records


def test_a_study_has_6480_runs_less_a_few() -> None:
    made = list(records(0))
    assert RUNS_PER_STUDY == 6480
    assert 0.97 < len(made) / RUNS_PER_STUDY < 0.99
    assert len({(record.run_id, record.trial) for record in made}) == len(made)


def test_the_same_number_gives_the_same_runs() -> None:
    first, again, other = (list(islice(records(study), 50)) for study in (3, 3, 4))
    assert first == again
    assert [record.values for record in first] != [record.values for record in other]


def test_a_run_has_about_forty_values_and_some_are_absent() -> None:
    counts = [len(record.values) for record in islice(records(1), 1000)]
    assert 36 <= sum(counts) / len(counts) <= 42
    assert len(set(counts)) > 3


def test_throughput_saturates() -> None:
    rates = {
        (record.configuration.users, record.trial): value.value
        for record in records(0)
        if record.configuration.workload == archive.WORKLOADS[0]
        and record.configuration.device == archive.DEVICES[0]
        and record.configuration.mtu == 1500
        for measure, value in record.values.items()
        if str(measure) == "trans_per_s"
    }
    assert rates[50, 1] / rates[1, 1] > 2
    assert rates[100, 1] / rates[50, 1] < 1.3


def test_so_many_runs_need_so_many_studies() -> None:
    assert [archive.studies(runs) for runs in (1, 6480, 6481, 1_000_000)] == [1, 1, 2, 155]
