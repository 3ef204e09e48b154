"""The page of one run: figures by role, and each of them down to the line it came from."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from perfdb.results import tasks
from perfdb.results.ingest import uploads
from perfdb.results.models import CounterSet, Disagreement, PublishedFigure, Run, RunSource, Trace
from perfdb.results.tests.builders import make_run, make_study
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import text_of


@pytest.fixture
def source(web: Client, run: Run) -> str:
    """The page of the published example."""
    return web.get(reverse("web:run", args=[run.pk])).content.decode()


def test_it_shows_the_published_figures_by_role(web: Client, run: Run) -> None:
    text = text_of(web.get(reverse("web:run", args=[run.pk])))

    assert "CPU utilisation % 96.76 48.40 48.36" in text
    assert "CPU time per transaction ms/trans 0.2200 0.1101 0.1100" in text
    assert "RR · QDIO GBE · MTU 9000 · 50 users · trial 1" in text


def test_each_figure_leads_to_its_formula_with_the_numbers_put_in(source: str) -> None:
    found = re.search(r'href="#(figure-\d+)" title="96\.76028\d* %, derived">96\.76</a>', source)

    assert found is not None
    body = source[source.index(f'id="{found[1]}"') :]
    assert "(611.78 + 611.27) / (2 × 632) × 100 = 96.760" in body[: body.index("</details>")]


def test_an_input_leads_to_its_line_before_and_after(web: Client, source: str) -> None:
    before = re.search(r'href="(/artifacts/\d+/\?line=\d+)#L\d+"[^>]*title="before\.client\.txt', source)

    assert before is not None
    assert 'class="marked" aria-current="true"' in web.get(before[1]).content.decode()


def test_counters_stand_with_their_difference_and_rate(source: str, run: Run) -> None:
    found = CounterSet.objects.select_related("layout").get(run=run, role="client", subject="")
    at = found.layout.names.index("totcpu")
    before, after = found.before[at], found.after[at]
    assert before is not None
    assert after is not None

    assert f"{after - before:.2f}</td>" in source
    assert f"{(after - before) / 632:.3f}</td>" in source


def test_counters_begin_with_the_moments_of_the_captures(source: str, run: Run) -> None:
    source = source[source.index("Counters before and after") :]
    group = r'(?:<tr class="group">.*?</tr>\s*)?'
    found = re.findall(rf'<tbody>\s*{group}<tr><th scope="row">time</th>(.*?)</tr>', source, re.DOTALL)

    assert len(found) == CounterSet.objects.filter(run=run, layout__names__contains=["time"]).count()
    before, after, difference, rate = re.findall(r"<td[^>]*>(.*?)</td>", found[0], re.DOTALL)
    assert re.search(r">\d{4}-\d\d-\d\d \d\d:\d\d:\d\d</a>", before)
    assert "/artifacts/" in after
    assert (difference, rate) == ("632", "–")


def test_intervals_are_drawn_per_second_and_listed(source: str, run: Run) -> None:
    assert '<script id="intervals-figure" type="application/json">' in source
    assert "Transactions per second (trans/s)" in source
    assert "Response time (ms)" in source
    intervals = Trace.objects.filter(run=run, listing="intervals").earliest("position")
    assert f'<h2>Intervals</h2> <span class="muted">{len(intervals.samples)}<' in source


def test_files_and_uploads_are_named(source: str, run: Run) -> None:
    for found in RunSource.objects.filter(run=run):
        assert found.path in source
        assert reverse("web:artifact-download", args=[found.artifact_id]) in source
        assert reverse("web:upload", args=[found.upload_id]) in source


@pytest.mark.parametrize("bad", ["awm_zero_transactions", "cp_before_without_after"])
def test_problems_stand_with_what_to_do(web: Client, bring: Bring, bad: str) -> None:
    problem = bring(f"bad/{bad}").problems.earliest("pk")

    text = text_of(web.get(reverse("web:run", args=[Run.objects.get().pk])))

    assert text.count(problem.message) == 1
    assert problem.remedy in text


def test_a_run_stands_among_its_trials(web: Client) -> None:
    runs = [
        make_run(f"R{n}", trial=n, values={"trans_per_s": rate, "cpu_util": 50.0})
        for n, rate in ((1, 100.0), (2, 110.0), (3, 105.0))
    ]
    response = web.get(f"/runs/{runs[1].pk}/")
    text, source = text_of(response), response.content.decode()

    assert "110.0 transactions per second. Normal for this experiment. 7.3% above the mean of its 2 repeats; " in text
    assert "the 3 trials differ by 9.5%." in text
    assert "Transactions per second 110.0 trans/s trial 1: 100.0 trans/s" in text
    rates = re.search(
        r'<svg class="strip"[^>]*aria-label="110.0 trans/s; the mean of 3 trials is 105.*?</svg>', source, re.DOTALL
    )
    assert rates is not None
    found = re.findall(r'<circle(?: class="(here)")? cx="([\d.]+)"[^>]*><title>([^<]*)</title>', rates[0])
    assert [(here, title) for here, _, title in found] == [
        ("", "trial 1: 100.0 trans/s"),
        ("", "trial 3: 105.0 trans/s"),
        ("here", "trial 2: 110.0 trans/s"),
    ]
    first, third, own = (float(x) for _, x, _ in found)
    assert first < third < own
    assert (first + own) / 2 == pytest.approx(third)


def test_each_trial_can_be_held_against_the_run(web: Client) -> None:
    run, other, again = make_run("A"), make_run("B", trial=2), make_run("A", trial=3)

    source = web.get(f"/runs/{run.pk}/").content.decode()

    addresses = re.findall(r'<a href="(/compare/[^"]*)">compare', source)
    assert addresses == [f"/compare/?runs={run.pk},{each.pk}" for each in (again, other)]
    assert all(web.get(address).status_code == 200 for address in addresses)


def test_alone_in_its_experiment_a_run_is_not_judged(web: Client) -> None:
    response = web.get(f"/runs/{make_run(values={'trans_per_s': 100.0}).pk}/")

    assert "100.0 transactions per second. " in text_of(response)
    assert "Normal" not in text_of(response)
    assert '<svg class="strip"' not in response.content.decode()


def test_an_outlier_is_called_one(web: Client) -> None:
    rates = (100.0, 100.3, 99.8, 100.1, 100.2, 60.0)
    runs = [make_run(f"R{n}", trial=n, values={"trans_per_s": rate}) for n, rate in enumerate(rates, start=1)]

    odd, beside = (text_of(web.get(f"/runs/{run.pk}/")) for run in (runs[-1], runs[0]))

    assert "60.00 transactions per second. Differs from its repeats." in odd
    assert "100.0 transactions per second. Its trials disagree." in beside


def test_a_failed_run_is_not_counted(web: Client) -> None:
    found = make_run(values={"trans_per_s": 10.0}, status=Run.Status.FAILED)

    assert "This run failed; no table counts it." in text_of(web.get(f"/runs/{found.pk}/"))


def test_a_streaming_run_costs_cpu_per_mb(web: Client) -> None:
    found = make_run(workload="STRG", values={"mb_per_s": 115.63, "cpu_ms_per_mb": 2.4089})

    assert "115.6 MB/s at 2.409 ms CPU per MB." in text_of(web.get(f"/runs/{found.pk}/")).replace("\xa0", " ")


def test_the_runs_before_and_after_are_a_click_away(web: Client) -> None:
    first, second, third = (
        make_run(name, started=datetime(2003, 4, day, tzinfo=UTC)) for name, day in (("A", 3), ("B", 1), ("C", 2))
    )
    make_run("D", started=datetime(2003, 4, 2, tzinfo=UTC), study=make_study("other"))

    source = web.get(f"/runs/{third.pk}/").content.decode()

    assert f'rel="prev" href="/runs/{second.pk}/"' in source
    assert f'rel="next" href="/runs/{first.pk}/"' in source


def test_a_published_figure_leads_to_its_table_and_line(web: Client) -> None:
    call_command("loadstudies", "hipersockets-zvm420")
    place = PublishedFigure.objects.filter(metric="trans_per_s").earliest("pk")

    response = web.get(f"/runs/{place.run_id}/")

    text = text_of(response)
    assert f"Printed as {place.printed}" in text
    assert f"line {place.line} of the document as transcribed" in text
    assert f'href="/studies/hipersockets-zvm420/#table-{place.table}"' in response.content.decode()
    assert "There are none: this run was published, not measured here." in text
    assert "given by a person" not in text


def test_a_figure_that_does_not_follow_is_said(web: Client) -> None:
    call_command("loadstudies", "hipersockets-zvm420")
    wrong = Disagreement.objects.earliest("pk")

    assert wrong.message in text_of(web.get(f"/runs/{wrong.run_id}/"))


def test_a_run_that_one_line_tells_shows_its_facts(web: Client, ada: User) -> None:
    record = (
        b'{"run_id": "ONE", "dimensions": {"device": "OSA 1"}, "facts": {"colour": "red"}, "metrics": {"errors": 1}}'
    )
    upload = uploads.receive(ada, [("one.ndjson", ContentFile(record))])
    tasks.run_job(upload.jobs.get().pk)

    assert "colour red" in text_of(web.get(reverse("web:run", args=[Run.objects.get(run_id="ONE").pk])))


def test_the_history_begins_with_the_upload(web: Client, run: Run) -> None:
    assert f"History UTC {run.upload_runs.get().upload.created:%Y-%m-%d %H:%M} Imported, upload" in text_of(
        web.get(f"/runs/{run.pk}/")
    )


def test_a_failed_run_says_so(web: Client, bring: Bring) -> None:
    bring("bad/awm_aborted")

    assert "failed" in text_of(web.get(reverse("web:run", args=[Run.objects.get().pk])))


def test_what_limited_it_stands_with_its_formula(web: Client, source: str, run: Run) -> None:
    text = text_of(web.get(reverse("web:run", args=[run.pk])))

    assert "Bottleneck The processors limit: the system is 96.8% busy" in text
    assert "CPU utilisation 96.7603% ≥ 95%" in text
    assert 'href="/how/#limits-verdict-processors"' in source


def test_what_cannot_be_told_says_what_is_missing(web: Client) -> None:
    found = make_run(values={"trans_per_s": 10.0}, mtu=40)

    assert "the utilisation of the whole system is not known" in text_of(web.get(f"/runs/{found.pk}/"))


def test_a_role_of_a_single_figure_has_no_column(web: Client) -> None:
    values = {"trans_per_s": 10.0, "cpu_util": 50.0, "cpu_util@client": 20.0, "processors@lpar": 2.0}
    source = web.get(f"/runs/{make_run(values=values).pk}/").content.decode()

    assert re.findall(r'<th scope="col" class="number">(\w+)</th>', source)[:3] == ["total", "client"]
    assert re.search(r'Processors .*?<span class="unit">lpar</span>', source)
