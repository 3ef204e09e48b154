"""The page of one run: figures by role, and each of them down to the line it came from."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from perfdb.results.models import CounterSet, Run, RunSource, Trace
from perfdb.results.tests.builders import make_run
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import text_of


@pytest.fixture
def source(web: Client, run: Run) -> str:
    """The page of the published example."""
    return web.get(reverse("web:run", args=[run.pk])).content.decode()


def test_it_shows_the_published_figures_by_role(web: Client, run: Run) -> None:
    text = text_of(web.get(reverse("web:run", args=[run.pk])))

    assert "CPU utilisation % 96.76 48.40 48.36" in text
    assert "CPU time per transaction ms/trans 0.22 0.11 0.11" in text
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
    found = re.findall(r'<tbody>\s*<tr><th scope="row">time</th>(.*?)</tr>', source, re.DOTALL)

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
    assert f"Intervals ({len(intervals.samples)})" in source


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


def test_trials_of_the_same_experiment_are_siblings(web: Client, run: Run) -> None:
    evidence = run.evidence
    run.pk, run.trial = None, 2
    run.save()
    evidence.pk = run.pk
    evidence.save(force_insert=True)

    assert "All trials of this experiment" in text_of(web.get(reverse("web:run", args=[run.pk])))


def test_a_failed_run_says_so(web: Client, bring: Bring) -> None:
    bring("bad/awm_aborted")

    assert "failed" in text_of(web.get(reverse("web:run", args=[Run.objects.get().pk])))


def test_what_limited_it_stands_with_its_formula(web: Client, source: str, run: Run) -> None:
    text = text_of(web.get(reverse("web:run", args=[run.pk])))

    assert "What limited it The processors limit: the system is 96.8 % busy" in text
    assert "CPU utilisation 96.7603 % ≥ 95 %" in text
    assert 'href="/how/#limits-verdict-processors"' in source


def test_what_cannot_be_told_says_what_is_missing(web: Client) -> None:
    found = make_run(values={"trans_per_s": 10.0}, mtu=40)

    assert "the utilisation of the whole system is not known" in text_of(web.get(f"/runs/{found.pk}/"))
