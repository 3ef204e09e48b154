"""Published tables: previewed with their audit, loaded in one transaction as an upload, undone, asked about."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from importers.tests.test_published_tables import BLOCKS, SWEEP, TRANSPOSED
from perfdb.analysis.metrics import Measure
from perfdb.results.ingest import artifacts, uploads
from perfdb.results.models import (
    Alias,
    Disagreement,
    Experiment,
    PublishedFigure,
    PublishedPercent,
    Run,
    TableMapping,
    Upload,
)
from perfdb.results.published.load_tables import NotLoadedError, load_tables, preview_tables
from perfdb.results.published.map_tables import read_paste
from perfdb.results.runs.read import read_record
from perfdb.results.runs.record import Origin
from perfdb.results.tests.builders import make_run, make_study
from perfdb.results.tests.conftest import Work

pytestmark = pytest.mark.django_db


def load(owner: User, text: str, decisions: dict[str, str] | None = None) -> Upload:
    study = make_study()
    return load_tables(owner, study, read_paste(text, study), decisions)


def outcomes(upload: Upload) -> list[str]:
    return list(upload.runs.order_by("number").values_list("outcome", flat=True))


def test_runs_have_the_figures_as_printed(owner: User) -> None:
    upload = load(owner, BLOCKS)
    assert (upload.state, set(outcomes(upload)), upload.runs_loaded) == ("done", {"new"}, 6)
    run = Run.objects.select_related("experiment").get(run_id="cd4sn102")
    assert (str(run.experiment), run.layer) == ("STRG · OSA · MTU 8992 · 10 users", 3)
    value = read_record(run).values[Measure("cpu_ms_per_mb")]
    assert (value.value, value.origin, value.printed, value.line) == (4.5, Origin.PUBLISHED, "4.50*", 11)
    # Nothing follows from a published figure unless a person asks.
    assert {each.origin for each in read_record(run).values.values()} == {Origin.PUBLISHED}


def test_units_of_headings_are_converted(owner: User) -> None:
    load(owner, TRANSPOSED.replace("<th>msec", "<th>usec").replace("trans/sec", "tx/sec"))
    run = Run.objects.get(run_id="aa11bb23")
    values = {str(measure): value.value for measure, value in read_record(run).values.items()}
    assert values["response_ms@client"] == pytest.approx(0.0154)
    assert (values["trans_per_s"], run.mtu, str(run.workload)) == (1300.25, 8192, "RR")


def test_runs_without_an_id_are_named_by_what_they_are(owner: User) -> None:
    load(owner, SWEEP)
    assert set(Run.objects.values_list("run_id", flat=True)) == {
        "hipersockets-rr-8192-1",
        "hipersockets-rr-57344-1",
        "hipersockets-rr-8192-10",
        "hipersockets-strg-8192-1",
        "hipersockets-strg-57344-1",
    }


def test_a_configuration_in_two_tables_of_a_paste_is_one_run(owner: User) -> None:
    best = (
        "Table 5. Best of RR\nDevice\tMTU\tUsers\trun id\ttrans/sec\tCPU (%)\nHiperSockets\t8K\t10\tqq1rr2\t950\t55\n"
    )
    upload = load(owner, f"{SWEEP}\n{best}")
    assert len(outcomes(upload)) == 5
    record = read_record(Run.objects.get(run_id="qq1rr2"))
    assert (record.values[Measure("trans_per_s")].value, record.values[Measure("cpu_util")].value) == (900, 55)
    # What the two tables contradict each other in is said, and nothing is lost.
    (problem,) = upload.problems.filter(code="audit.contradiction")
    assert "950" in problem.message


def test_the_audit_says_which_differences_do_not_follow(owner: User) -> None:
    text = BLOCKS.replace("| Total CPU msec/MB | -25% | -25% | -25% |", "| Total CPU msec/MB | -25% | -15% | -25% |")
    preview = preview_tables(None, read_paste(text, None))
    found = [problem for problem in preview.problems if problem.code.startswith("audit")]
    assert [(each.code, each.line, each.run_id) for each in found] == [("audit.percent", 14, "cd4sn102")]
    assert "-15 %" in found[0].message
    assert "-25.0 %" in found[0].message
    upload = load(owner, text)
    assert list(Run.objects.get(run_id="cd4sn102").problems.values_list("code", flat=True)) == ["audit.percent"]
    assert upload.problems.filter(code="audit.percent").count() == 1
    kept = Disagreement.objects.values_list("run__run_id", "table", "kind", "printed", "line")
    assert list(kept) == [("cd4sn102", "7", "percent", "-15", 14)]


def test_what_is_printed_where_is_kept_as_that_of_the_studies(owner: User) -> None:
    load(owner, BLOCKS)
    figure = PublishedFigure.objects.get(printed="4.50*")
    assert (figure.run.run_id, figure.table, figure.line, figure.read_as) == ("cd4sn102", "7", 11, "ms/MB")
    assert (figure.row_label, figure.column_label) == ("OSA | Total CPU msec/MB", "Layer3 | 10")
    percents = PublishedPercent.objects.filter(metric="mb_per_s").order_by("pk")
    assert list(percents.values_list("run__run_id", "baseline__run_id", "printed")) == [
        ("cd4sn012", "ab4sn013", "25%"),
        ("cd4sn102", "ab4sn101", "10%"),
    ]


@pytest.mark.parametrize(
    ("heading", "right", "wrong", "message"),
    [
        (
            "% reduction",
            ("20.0", "25.0"),
            "35.0",
            "printed as a reduction of 35.0 %, but should be 100 × (3.75 / 5.00 − 1) = -25.00 %",
        ),
        ("% improvement", ("-20.0", "25.0"), "35.0", "printed as a reduction of 35.0 %"),
        (
            "abs. difference",
            ("-20.0", "-1.25"),
            "-1.75",
            "printed as -1.75 ms, but should be 3.75 − 5.00 = -1.250 ms",
        ),
    ],
)
def test_each_kind_of_difference_is_audited(heading: str, right: tuple[str, str], wrong: str, message: str) -> None:
    table = f",OSA,IUCV,{heading}\nMB/sec,100.0,80.0,{right[0]}\nresponse time (msec),5.00,3.75,{right[1]}\n"
    assert [each.message for each in preview_tables(None, read_paste(table, None)).problems] == []
    (problem,) = preview_tables(None, read_paste(table.replace(f",{right[1]}\n", f",{wrong}\n"), None)).problems
    assert (problem.code, problem.line) == ("audit.percent", 3)
    assert message in problem.message


def test_a_table_of_maxima_is_held_against_the_others() -> None:
    most = "Table 2. Maximum Throughput\ndevice,users,workload,MB/sec\nOSA,5,RR,50.5\nIUCV,5,RR,70.5\n"
    text = f"Table 1. All runs\ndevice,users,workload,MB/sec\nOSA,1,RR,51.0\nIUCV,1,RR,70.0\nIUCV,1,CRR,90\n\n{most}"
    (problem,) = preview_tables(None, read_paste(text, None)).problems
    assert (problem.code, problem.line, problem.run_id) == ("audit.maximum", 9, "osa-rr-5")
    assert "51.0 MB/s in Table 1 (1 user)" in problem.message
    assert preview_tables(None, read_paste(text.replace("51.0", "50.5"), None)).problems == []


def test_what_is_said_of_the_measurement_lets_the_audit_check_more(owner: User) -> None:
    text = "Device,workload,users,trans/sec,CPU (%),cpu_msec/trans\nQDIO,RR,10,1000,50,1.00\nQDIO,RR,20,1000,50,2.00\n"
    reading = read_paste(text, None)
    assert not [each for each in preview_tables(None, reading).problems if each.code.startswith("audit")]
    said = replace(reading.tables[0].mapping, fixed={"processors": "2", "method": "report"})
    problems = preview_tables(None, read_paste(text, None, mappings=[said])).problems
    assert [(each.code, each.line) for each in problems] == [("audit.cpu", 3)]


def test_a_preview_stores_nothing_and_promises_what_loading_does(owner: User) -> None:
    study = make_study()
    preview = preview_tables(study, read_paste(BLOCKS, study))
    assert not Run.objects.exists() and not Upload.objects.exists()
    upload = load(owner, BLOCKS)
    assert [each.outcome for each in preview.matches] == outcomes(upload)
    assert [each.record.run_id for each in preview.matches] == list(
        upload.runs.order_by("number").values_list("run_label", flat=True)
    )


def test_the_same_table_again_is_already_there(owner: User) -> None:
    load(owner, BLOCKS)
    assert set(outcomes(load(owner, BLOCKS))) == {"already-there"}
    assert Run.objects.count() == 6


def test_other_numbers_are_asked_about_and_decided(owner: User) -> None:
    load(owner, BLOCKS)
    other = BLOCKS.replace("| 88.0 |", "| 99.0 |")
    study = make_study()
    (conflict,) = preview_tables(study, read_paste(other, study)).conflicts
    assert conflict.record.identity == "cd4sn102/1"
    assert "mb_per_s 88.0 and has mb_per_s 99.0 here" in conflict.problems[0].message
    with pytest.raises(NotLoadedError, match="cd4sn102/1"):
        load(owner, other)
    assert Upload.objects.count() == 1
    load(owner, other, {"cd4sn102/1": "keep"})
    assert set(Run.objects.filter(run_id="cd4sn102").values_list("status", "mb_per_s")) == {("complete", 88.0)}
    load(owner, other, {"cd4sn102/1": "trial"})
    assert set(Run.objects.filter(run_id="cd4sn102").values_list("trial", "mb_per_s")) == {(1, 88.0), (2, 99.0)}


def test_further_figures_of_a_run_are_put_to_those_it_has_and_undo_takes_them_back(owner: User, work: Work) -> None:
    load(owner, SWEEP)
    more = "Device,MTU,workload,users,CPU (%)\nHiperSockets,8K,RR,10,55\n"
    upload = load(owner, more, {"hipersockets-rr-8192-10/1": "replace"})
    run = Run.objects.get(run_id="hipersockets-rr-8192-10", status="complete")
    assert (run.trans_per_s, run.cpu_util) == (900, 55)
    assert set(run.published_figures.values_list("table", "metric", "printed")) == {
        ("4", "trans_per_s", "900"),
        ("the table in line 1", "cpu_util", "55"),
    }
    uploads.undo(upload)
    assert work(upload).state == "undone"
    run = Run.objects.get(run_id="hipersockets-rr-8192-10")
    assert (run.status, run.trans_per_s, run.cpu_util) == ("complete", 900, None)


def test_undo_takes_the_runs_away_and_keeps_the_text(owner: User, work: Work) -> None:
    upload = load(owner, BLOCKS)
    uploads.undo(upload)
    assert work(upload).state == "undone"
    assert (Run.objects.count(), Experiment.objects.count()) == (0, 0)
    text, mapping = upload.files.order_by("path")
    with artifacts.open_artifact(text.artifact) as file:
        assert file.read().decode() == BLOCKS
    assert (text.path, mapping.path) == ("tables.md", "tables.md.mapping.json")


def test_measured_runs_are_left_alone_unless_the_table_prints_their_id(owner: User) -> None:
    study = make_study()
    make_run("hipersockets-1", workload="RR", machine="", device="HiperSockets", mtu=8192, users=10, study=study)
    assert set(outcomes(load(owner, SWEEP))) == {"new"}
    named = "Device,MTU,workload,users,run id,trans/sec\nHiperSockets,8K,RR,10,hipersockets-1,99\n"
    (conflict,) = preview_tables(study, read_paste(named, study)).conflicts
    assert conflict.run is not None and conflict.run.run_id == "hipersockets-1"


def test_aliases_of_the_study_hold_for_tables_too(owner: User) -> None:
    study = make_study()
    Alias.objects.create(study=study, dimension="device", printed="OSA", folded="osa", meaning="OSA-Express2")
    load(owner, BLOCKS)
    assert set(Run.objects.values_list("device__name", flat=True)) == {"VSwitch", "OSA-Express2"}


def test_an_alias_that_makes_a_number_of_a_word_ends_the_problem(owner: User) -> None:
    study = make_study()
    Alias.objects.create(study=study, dimension="users", printed="ten", folded="ten", meaning="10")
    upload = load(owner, "Device,users,trans/sec\nQDIO,ten,5.5\n")
    assert Run.objects.get().users == 10
    assert not upload.problems.exists()


def test_what_was_said_is_remembered_for_the_next_table_of_the_study(owner: User) -> None:
    study = make_study()
    text = "Flavour,sweet,sour\nMB/sec,10,11\n"
    reading = read_paste(text, study)
    assert reading.tables[0].guessed.open == ["top.0"]
    said = replace(reading.tables[0].mapping, top=("factor.flavour",), fixed={"workload": "STRG"})
    load_tables(owner, study, read_paste(text, study, mappings=[said]))
    assert set(Run.objects.values_list("factors__flavour", flat=True)) == {"sweet", "sour"}
    (table,) = read_paste(text.replace("10,11", "12,13"), study).tables
    assert (table.guessed.open, table.mapping.top, table.mapping.fixed) == ([], ("factor.flavour",), {})
    assert read_paste(text, make_study("another")).tables[0].guessed.open == ["top.0"]
    assert TableMapping.objects.count() == 1


def test_what_cannot_be_read_is_a_problem_and_stays_out(owner: User) -> None:
    text = "Device,users,trial,trans/sec,MB/sec\nQDIO,ten,1,5.5,fast\nQDIO,20,zero,6.5,\n"
    upload = load(owner, text)
    assert set(upload.problems.values_list("code", "line")) == {
        ("published.no-number", 2),
        ("run.dimension-unreadable", 2),
        ("published.no-value", 3),
    }
    assert set(Run.objects.values_list("users", "trans_per_s")) == {(None, 5.5), (20, 6.5)}


def test_a_table_without_any_run_is_not_loaded(owner: User) -> None:
    with pytest.raises(NotLoadedError, match="no run"):
        load(owner, "Flavour,sweet\nGrumbles,1.5\n")
    with pytest.raises(NotLoadedError, match="'burn'"):
        load(owner, BLOCKS, {"cd4sn102/1": "burn"})
    assert not Upload.objects.exists()
