"""An upload's runs by experiment: trials side by side, how far apart, and the small charts."""

import re
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from perfdb.results.models import Study, Upload, UploadRun
from perfdb.web.tests.pages import text_of
from perfdb.web.uploads.upload_runs import build_trial_table, draw_upload

Dimensions = dict[str, object]


def a_run(number: int, trial: int, rate: float, *, status: str = "complete", **dimensions: object) -> UploadRun:
    """An unsaved run of an upload with a rate."""
    figures = [{"measure": "trans_per_s", "value": rate, "unit": "trans/s", "printed": ""}]
    summary = {"dimensions": {"workload": "RR", **dimensions}, "figures": figures, "files": []}
    return UploadRun(number=number, run_label=f"r{number}", trial=trial, outcome="new", status=status, summary=summary)


def table(runs: Sequence[UploadRun]) -> list[tuple[str, str, list[float | None], str]]:
    """The rows: group, name, first column's values, how far apart."""
    found = build_trial_table(runs, frozenset())
    return [(group.title, row.name, row.cells[0].values, row.apart) for group in found.groups for row in group.rows]


def test_trials_stand_side_by_side_in_order() -> None:
    runs = [
        a_run(1, 2, 110, mtu=1492, users=10),
        a_run(2, 1, 90, mtu=1492, users=10),
        a_run(3, 1, 5, mtu=8992, users=2),
    ]

    assert table(runs) == [("MTU 1492", "10 users", [90, 110], "20%"), ("MTU 8992", "2 users", [5], "")]


@pytest.mark.parametrize(("rates", "disagrees"), [((90, 110), False), ((89, 111), True), ((100, 100), False)])
def test_trials_more_than_a_fifth_apart_disagree(rates: Sequence[float], disagrees: bool) -> None:
    runs = [a_run(at, at, rate, users=1) for at, rate in enumerate(rates, start=1)]

    assert bool(build_trial_table(runs, frozenset()).disagreeing) == disagrees


def test_a_failed_trial_is_shown_and_not_compared() -> None:
    runs = [a_run(1, 1, 100, users=1), a_run(2, 2, 1, users=1, status="failed"), a_run(3, 3, 101, users=1)]

    assert table(runs) == [("", "1 user", [100, 1, 101], "1%")]


def test_different_circumstances_are_never_trials_of_one_row() -> None:
    runs = [a_run(1, 1, 100, users=1, layer=2), a_run(2, 1, 60, users=1, layer=3), a_run(3, 1, 60, users=1)]

    assert [title for title, *_ in table(runs)] == ["layer 2", "layer 3", "no Layer"]


def test_an_option_that_follows_from_the_users_makes_no_group() -> None:
    threads, window = "factor.threads", "factor.window"
    runs = [a_run(at, 1, 100, users=at, **{threads: str(at), window: "64"}) for at in (1, 5)]
    other = a_run(9, 1, 100, users=5, **{threads: "5", window: "128"})

    assert [title for title, *_ in table(runs)] == ["", ""]
    assert [title for title, *_ in table([*runs, other])] == ["window 64", "window 64", "window 128"]


def test_more_trials_than_fit_are_a_range() -> None:
    runs = [a_run(at, at, 100 + at, users=1) for at in range(1, 8)]

    cell = build_trial_table(runs, frozenset()).groups[0].rows[0].cells[0]

    assert (cell.values, cell.low, cell.high) == ([], 101, 107)


def test_a_chart_for_each_workload_marks_every_run() -> None:
    runs = [
        a_run(1, 1, 90, users=1, mtu=1492),
        a_run(2, 2, 110, users=1, mtu=1492),
        a_run(3, 1, 300, users=10, mtu=1492),
        a_run(4, 1, 50, users=1, mtu=8992),
        a_run(5, 1, 7, users=1, mtu=1492, workload="CRR"),
    ]

    found = draw_upload(runs)

    crr, rr = found.charts
    assert (crr.title, rr.title, [text for _, text in rr.across], [text for _, text in rr.up]) == (
        "CRR", "RR", ["1", "10"], ["0", "150", "300"],
    )  # fmt: skip
    assert [[mark.title for mark in line.marks] for line in rr.lines] == [
        ["r1, trial 1: 90.00 trans/s", "r2, trial 2: 110.0 trans/s", "r3, trial 1: 300.0 trans/s"],
        ["r4, trial 1: 50.00 trans/s"],
    ]
    (first, second, _), mean = rr.lines[0].marks, rr.lines[0].points.split()[0]
    assert float(mean.split(",")[1]) == pytest.approx((first.y + second.y) / 2, abs=0.06)
    assert found.names == [("hue-0", "MTU 1492"), ("hue-1", "MTU 8992")]


def test_a_failed_run_is_marked_and_in_no_mean() -> None:
    ((line,),) = (chart.lines for chart in draw_upload([a_run(1, 1, 100), a_run(2, 2, 1, status="failed")]).charts)

    assert [mark.title for mark in line.marks] == ["r1, trial 1: 100.0 trans/s", "r2, trial 2: 1.000 trans/s, failed"]
    assert line.points == f"{line.marks[0].x},{line.marks[0].y}"


def test_too_many_lines_have_one_hue_and_no_names() -> None:
    found = draw_upload([a_run(at, 1, 9, users=1, mtu=1000 + at) for at in range(13)])

    assert found.names == []
    assert {line.look for line in found.charts[0].lines} == {"hue-0"}


def test_the_page_shows_table_and_charts_and_takes_a_row_as_all_its_trials(web: Client, ada: User) -> None:
    study = Study.objects.create(slug="trials", title="Trials", owner=ada)
    upload = Upload.objects.create(study=study, owner=ada, state=Upload.State.PREVIEW)
    runs = [a_run(1, 1, 100, users=1), a_run(2, 2, 150, users=1), a_run(3, 1, 99, users=5)]
    for run in runs:
        run.upload = upload
    UploadRun.objects.bulk_create(runs)

    response = web.get(reverse("web:upload", args=[upload.pk]))

    text, source = text_of(response), response.content.decode()
    assert "1 experiment has trials that differ by more than 20%" in text
    assert "1 user r1 r2 trial 2 ▲ 40% trials disagree 100 150" in text
    assert re.findall(r'name="run" value="([^"]*)"', source) == ["1 2", "3"]
    assert source.count('<figure class="small-chart">') == 1
