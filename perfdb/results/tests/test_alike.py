"""Runs that are worked out by columns are stored as they are one by one: every row of them is compared."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

import pytest

from bench import inputs
from perfdb.analysis import metrics
from perfdb.results.alike import batch, storing
from perfdb.results.ingest import fragment_spool
from perfdb.results.models import (
    Alias,
    CounterSet,
    DimensionCount,
    Disagreement,
    Experiment,
    Problem,
    Run,
    RunCount,
    RunEvidence,
    RunSource,
    Study,
    Trace,
    Upload,
    UploadRun,
)
from perfdb.results.tests.builders import make_study
from perfdb.results.tests.conftest import LOGS, Bring

pytestmark = pytest.mark.django_db

THREE = "awm/three_runs/syvs100x.client.awm.log"
Rows = dict[str, list[Any]]
Both = Callable[..., tuple[int, int]]


def _content(upload: Upload) -> Rows:
    """Everything that is stored of an upload's runs; numbers that differ from one upload to the next are left out."""
    runs = Run.objects.filter(study=upload.study)
    labels = {str(pk): f"{run_id}/{trial}" for pk, run_id, trial in runs.values_list("pk", "run_id", "trial")}
    keys = {str(pk): key for pk, key in Experiment.objects.filter(study=upload.study).values_list("pk", "key")}
    # A run that does not say when it started has the time of its upload.
    times = {str(upload.created): "received"}
    stands_for: dict[str, dict[str, Any]] = {"run_id": labels, "experiment_id": keys, "started": times}
    gone = {"id", "study_id", "upload_id", "replaced_id", "created"}

    def plain(row: dict[str, Any], own: set[str]) -> str:
        named = {name: stands_for.get(name, {}).get(str(value), value) for name, value in row.items()}
        return repr(sorted((name, value) for name, value in named.items() if name not in own))

    def rows(model: Any, own: set[str] = gone, **which: Any) -> list[str]:
        return sorted(plain(row, own) for row in model.objects.filter(**which).values())

    of_runs: dict[str, Any] = {"run__in": runs}
    return {
        "run": rows(Run, study=upload.study),
        "experiment": rows(Experiment, study=upload.study),
        **{each.__name__: rows(each, **of_runs) for each in (RunEvidence, RunSource, CounterSet, Trace, Disagreement)},
        "problems": rows(Problem, **of_runs) + rows(Problem, upload=upload),
        "outcomes": rows(UploadRun, upload=upload),
        "upload": [(upload.state, upload.runs_found, upload.runs_loaded)],
        "counts": rows(RunCount, gone, experiment__study=upload.study) + rows(DimensionCount, study=upload.study),
        "version": [Study.objects.get(pk=upload.study_id).version > 0],
    }


@pytest.fixture
def both(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> Both:
    """Bring files in one by one and by columns, and hold what is stored against each other.

    Answers how many runs were written, or noted as stored already, by columns, and how many there are.
    """
    written: list[int] = []
    store, note_again = storing.store, storing.note_again

    def counted(*args: Any) -> None:
        written.append(int(args[-1].sum()))
        store(*args)

    def counted_again(*args: Any) -> None:
        written.append(len(args[-1]))
        note_again(*args)

    monkeypatch.setattr(storing, "store", counted)
    monkeypatch.setattr(storing, "note_again", counted_again)

    def hold(*files: tuple[str, bytes], **more: Any) -> tuple[int, int]:
        monkeypatch.setattr(fragment_spool, "FEW", 0)
        found = []
        # Fragments on disk the one time, and in memory the other.
        for fewest, room in ((10**9, 0), (1, fragment_spool._ROOM)):
            monkeypatch.setattr(batch, "FEWEST", fewest)
            monkeypatch.setattr(fragment_spool, "_ROOM", room)
            study = make_study(f"by-{fewest}")
            written.clear()
            found.append(_content(bring(*files, study=study, **more)))
        for name, rows in found[0].items():
            for one, other in zip(found[1][name], rows, strict=True):
                assert one == other, name
        return sum(written), len(found[0]["outcomes"])

    return hold


def _file(records: Iterable[dict[str, Any]]) -> tuple[str, bytes]:
    return "records.ndjson", "".join(f"{json.dumps(each)}\n" for each in records).encode()


def test_records_of_one_kind_are_all_written_by_columns(both: Both) -> None:
    assert both(("records.ndjson", inputs.records(300))) == (300, 300)


_UNITS = {"ms": ("ms", "us", "s"), "s": ("s", "ms"), "MB/s": ("MB/s", "KB/s", "MB/s 10^6"), "%": ("%",)}
_DIMENSIONS: dict[str, tuple[Any, ...]] = {
    "workload": ("RR 200/1000", "rr", "STRG", "STRP 20M/20", "HTTP", "CRR 64/8192", "STRB", "nonsense!", "RR"),
    "device": ("OSA 1", "veth", 'Ünïcode "quoted" \\ device', "x" * 199),
    "mtu": (1500, "8K", "abc", 57344, 0),
    "users": (1, 10, "20", "many"),
    "layer": (2, 3, "x"),
    "level": ("z/VM 4.1", "5"),
    "machine": ("2064-109",),
    "memory": ("4G", "odd"),
    "processors": (2, "4"),
    "campaign": ("night",),
}
_FACTS: dict[str, tuple[Any, ...]] = {
    "think_ms": ("0", "5", "x"),
    "mb_bytes": ("1000000", "1048576", "1024"),
    "cpu_scope": ("process",),
    "cpu_shared": ("yes",),
    "samples_response_ms": ("1 2 3", "4"),
    "load_percent": ("50 60", "55"),
    "operations_per_transaction": ("2",),
    "operations_per_s": ("200",),
    "client_cpus": ("0 1",),
    "seconds_asked": ("100",),
    "note": ("several words", "12 13", "<b>&", "\u00e4\u20ac"),
    "assumed": ("workload: from the name",),
}


def _any_records(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Records of all sorts, none of which is refused: any metric, unit, role, number and fact."""
    random = Random(seed)
    for number in range(count):
        record: dict[str, Any] = {"run_id": f"R{number // 2}" if random.random() < 0.1 else f"S{number}"}
        record["trial"] = number % 7 + 1
        for name, values in (("dimensions", _DIMENSIONS), ("facts", _FACTS)):
            share = 0.6 if name == "dimensions" else 0.08
            record[name] = {key: random.choice(own) for key, own in values.items() if random.random() < share}
        record["factors"] = {"kernel": "6.4"} if random.random() < 0.5 else {"n": "1"}
        if random.random() < 0.3:
            record["started"] = random.choice(["2026-11-21T14:05:03Z", "2026-11-21T14:05:03+02:00", "2026-11-21 14:05"])
        if random.random() < 0.2:
            record["tags"] = random.choice([["Baseline"], ["a", "b", "A"]])
        if random.random() < 0.1:
            record["status"] = random.choice(["failed", "incomplete"])
        record["metrics"] = dict(_any_figures(random)) | (_fitting(random) if random.random() < 0.7 else {})
        yield record


def _any_figures(random: Random) -> Iterator[tuple[str, Any]]:
    for metric in random.sample(metrics.METRICS, random.randrange(1, 14)):
        role = random.choice(["", "", "", "@client", "@server", "@lpar", "@guest-1"])
        value = random.choice([0, 0.0, 1e-7, 12, 3.25, 100.0, 1e20, -1.5, 12345678901234567890, 0.045, 2.675])
        if random.random() < 0.5:
            value = round(random.lognormvariate(1, 3), random.randrange(6))
        value = 4 if metric.name == "processors" else value
        unit = random.choice(_UNITS.get(metric.unit, (metric.unit,)))
        yield metric.name + role, {"value": value, "unit": unit} if unit and random.random() < 0.5 else value


def _fitting(random: Random) -> dict[str, Any]:
    """Figures that follow from each other, now and then with an error."""
    seconds, rate = random.choice([10, 99.5]), random.uniform(10, 5000)
    cost = random.uniform(0.1, 2)
    wrong = random.choice([1, 1, 1, 1.01, 1.0001, 1.06, 1.048576])
    return {
        "transactions": round(rate * seconds),
        "driver_s": seconds,
        "trans_per_s": round(round(rate * seconds) / seconds * wrong, 2),
        "cpu_ms_per_trans": round(cost * wrong, 3),
        "virtual_cpu_ms_per_trans": round(cost * 0.6, 3),
        "cp_cpu_ms_per_trans": round(cost * 0.4, 3),
        "processor_util@client": round(cost * rate / 10, 2),
        "cpu_ms_per_trans@client": round(cost * wrong, 2),
        "response_ms": round(10_000 / rate * wrong, 3),
    }


@pytest.mark.parametrize("seed", range(3))
def test_records_of_any_kind_are_stored_alike(both: Both, seed: int) -> None:
    by_columns, runs = both(_file(_any_records(300, seed)))
    assert runs == 300
    assert 0 < by_columns < runs


USUAL: dict[str, Any] = {"dimensions": {"device": "veth", "users": 10}, "metrics": {"errors": 0.0}}


def _with(changed: dict[str, Any]) -> tuple[str, bytes]:
    records = [{"run_id": f"A{number}", "trial": 1} | USUAL for number in range(20)]
    return _file([*records[:7], records[7] | changed, *records[8:]])


@pytest.mark.parametrize(
    "changed",
    [
        {"metrics": {"transactions": 0, "response_ms": 5.0, "errors": 1}},
        {"metrics": {"transactions": 1000, "driver_s": 100, "trans_per_s": 10, "mb_per_s": 0.012}}
        | {"dimensions": {"workload": "RR 200/1000"}},
        {"dimensions": {"mtu": "abc"}},
        {"dimensions": {"processors": 2}, "metrics": {"processors@lpar": 4}},
        {"facts": {"assumed": "workload: from its name", "workload": "RR"}},
        # More than a system's column holds.
        {"dimensions": {"machine": "M"}, "metrics": {"processors@lpar": 1e20}},
    ],
)
def test_a_run_that_somebody_has_to_look_at_goes_by_itself(both: Both, changed: dict[str, Any]) -> None:
    assert both(_with(changed))[0] == 19


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"metrics": {"errors": 3, "trans_per_s": 5.5, "transactions": 1000, "driver_s": 100}}, "driver.rate"),
        (
            {"facts": {"think_ms": "0"}, "metrics": {"response_ms": 500, "transactions": 100, "driver_s": 10}},
            "driver.response",
        ),
        ({"metrics": {"cpu_util": 120.5}}, "audit.bound"),
        (
            {"metrics": {"virtual_cpu_ms_per_trans": 0.5, "cp_cpu_ms_per_trans": 0.4, "cpu_ms_per_trans": 0.7}},
            "audit.sum",
        ),
    ],
)
def test_what_checks_and_audit_find_is_said_of_the_run(both: Both, changed: dict[str, Any], code: str) -> None:
    assert both(_with(changed)) == (20, 20)
    assert set(Problem.objects.values_list("code", flat=True)) == {code}


def test_runs_of_one_name_go_by_themselves(both: Both) -> None:
    records: list[dict[str, Any]] = [{"run_id": f"A{n}", "metrics": {"errors": n}} for n in range(20)]
    records += [{"run_id": "B", "trial": trial, "metrics": {"errors": 1}} for trial in (1, 2)]
    records += [{"run_id": "A3", "trial": 2, "metrics": {"errors": 1}}]
    assert both(_file(records)) == (21, 23)


def test_the_same_run_twice_keeps_all_others_out(both: Both) -> None:
    records = [{"run_id": f"A{number}", "trial": 1, "metrics": {"errors": number}} for number in range(20)]
    assert both(_file([*records, records[3] | {"metrics": {"errors": 77}}])) == (0, 21)


BOTH = ("by-1000000000", "by-1")
"""The studies into which `both` brings files."""


def _twenty() -> list[dict[str, Any]]:
    usual = {"trial": 1, "started": "2026-11-21"}
    return [{"run_id": f"A{number}", "metrics": {"errors": number}} | usual for number in range(20)]


@pytest.mark.parametrize("stored", [3, 20])
def test_what_is_stored_already_is_noted_by_columns(bring: Bring, both: Both, stored: int) -> None:
    for study in BOTH:
        bring(_file(_twenty()[:stored]), study=make_study(study))
    assert both(_file(_twenty())) == (20, 20)
    outcomes = UploadRun.objects.filter(upload__study__slug="by-1").order_by("upload", "number")
    assert [row.outcome for row in outcomes] == ["new"] * stored + ["already-there"] * stored + ["new"] * (20 - stored)
    assert RunSource.objects.filter(run__run_id="A2", run__study__slug="by-1").count() == 2


def _withdraw(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(status=Run.Status.WITHDRAWN)


def _read_by_an_older_importer(run: Run) -> None:
    RunSource.objects.filter(run=run).update(format_version=0)


def _of_more_files(run: Run) -> None:
    source = RunSource.objects.get(run=run)
    source.pk, source.path, source.digests = None, "more.txt", ["0" * 32]
    source.save()


def _stored_twice(run: Run) -> None:
    source = RunSource.objects.get(run=run)
    run.pk, run.trial = None, 2
    run.save()
    source.pk, source.run = None, run
    source.save()


def _of_other_evidence(run: Run) -> None:
    RunSource.objects.filter(run=run).update(digests=["0" * 32])


@pytest.mark.parametrize(
    "change", [_withdraw, _read_by_an_older_importer, _of_more_files, _stored_twice, _of_other_evidence]
)
def test_a_stored_run_of_which_more_has_to_be_known_goes_by_itself(
    bring: Bring, both: Both, change: Callable[[Run], None]
) -> None:
    for study in BOTH:
        bring(_file(_twenty()), study=make_study(study))
        change(Run.objects.get(study__slug=study, run_id="A7"))
    assert both(_file(_twenty())) == (19, 20)


def test_a_log_that_comes_again_is_noted_by_columns(bring: Bring, both: Both) -> None:
    for study in BOTH:
        bring(("first.awm.log", inputs.log(60)), study=make_study(study))
    assert both(("bench.awm.log", inputs.log(90))) == (90, 90)


def test_somebody_is_asked_about_a_log_that_comes_again_with_another_figure(bring: Bring, both: Both) -> None:
    data = inputs.log(60)
    at = data.index(b"SUM   trans=", len(data) // 2)
    changed = data[:at] + data[at:].replace(b" trans=", b" trans=1", 1)
    for study in BOTH:
        bring(("first.awm.log", data), study=make_study(study))
    assert both(("bench.awm.log", changed)) == (0, 60)
    last = Upload.objects.latest("pk")
    assert (last.state, set(last.runs.values_list("outcome", flat=True))) == ("preview", {"already-there", "conflict"})


@pytest.mark.parametrize("facts", [{}, {"processors": 2, "mtu": 1500}])
def test_what_a_person_gives_is_in_every_run(both: Both, facts: dict[str, Any]) -> None:
    records = [{"run_id": f"A{number}", "trial": 1, "metrics": {"errors": number}} for number in range(20)]
    assert both(_file(records), facts=facts) == ((0 if facts else 20), 20)


def test_an_alias_of_the_study_counts(both: Both) -> None:
    for study in ("by-1000000000", "by-1"):
        about = {"dimension": "device", "printed": "veth", "folded": "veth", "meaning": "Virtual"}
        Alias.objects.create(study=make_study(study), **about)
    records = [{"run_id": f"A{n}", "dimensions": {"device": "veth"}, "metrics": {"errors": n}} for n in range(20)]
    assert both(_file(records)) == (0, 20)


def test_a_figure_below_zero_is_left_out(both: Both) -> None:
    records = [{"run_id": f"A{n}", "metrics": {"processor_util@client": n - 3.5}} for n in range(20)]
    assert both(_file(records)) == (16, 20)
    assert Problem.objects.filter(code="run.value-unreadable", message__contains="-0.5 % is below zero").exists()
    assert not Run.objects.filter(values__0__lt=0).exists()


def test_logs_of_many_runs_are_stored_alike(both: Both) -> None:
    assert both(("bench.awm.log", inputs.log(60))) == (60, 60)


def test_logs_that_contradict_themselves_are_stored_alike(both: Both) -> None:
    data = inputs.log(60) + inputs.contradicting_log(90)[-30_000:]
    for old, new in ((b"resp_avg_ms=", b"resp_avg_s="), (b" trans=", b" trans=1"), (b"mb_per_sec=", b"mb_per_sec=1")):
        at = data.index(old, len(data) // 2)
        data = data[:at] + data[at:].replace(old, new, 3)
    by_columns, runs = both(("bench.awm.log", data), ("x.awm.log", (LOGS / THREE).read_bytes()))
    assert 30 < by_columns < runs


def test_files_of_several_kinds_are_stored_alike(both: Both) -> None:
    records = inputs.records(60).splitlines(keepends=True)
    files = [("one.ndjson", records[:30]), ("other.ndjson", records[30:])]
    by_columns, runs = both(("bench.awm.log", inputs.log(30)), *((name, b"".join(own)) for name, own in files))
    assert by_columns == runs == 90


def _digits_changed(data: bytes, kind: bytes, random: Random) -> bytes:
    """The same log with other figures, some of them far off, in some of its records of this kind."""

    def line(found: re.Match[bytes]) -> bytes:
        if random.random() < 0.5:
            return found[0]
        at = random.choice([m.start() for m in re.finditer(rb"(?<=[\d.])\d(?=[\d. ])", found[0])])
        return found[0][:at] + b"%d" % random.randrange(10) + found[0][at + 1 :]

    return re.sub(rb"(?m)^" + kind + rb" .*$", line, data)


@pytest.mark.parametrize("kind", [b"SUM", b"CONN", b"INT"])
def test_what_contradicts_itself_in_one_place_is_stored_alike(both: Both, kind: bytes) -> None:
    by_columns, runs = both(("bench.awm.log", _digits_changed(inputs.log(60), kind, Random(kind))))
    assert 10 < by_columns <= runs


@pytest.mark.parametrize("unit", [b"us", b"s"])
def test_records_in_another_unit_than_their_summary_decide_which_unit_is_usual(both: Both, unit: bytes) -> None:
    factor = {b"us": 1000, b"s": 0.001}[unit]

    def rescaled(found: re.Match[bytes]) -> bytes:
        return found[1] + unit + b"=%.6f" % (float(found[2]) * factor)

    lines = inputs.log(60).splitlines(keepends=True)
    lines = [each if each.startswith(b"SUM") else re.sub(rb"(resp_\w+_)ms=(\S+)", rescaled, each) for each in lines]
    # Off, and in none of the units: refused only where other records have another unit.
    lines = [each.replace(b"resp_avg_ms=0", b"resp_avg_ms=7") if each.startswith(b"SUM") else each for each in lines]
    assert both(("bench.awm.log", b"".join(lines))) == (0, 60)
