"""The start page."""

import re
from datetime import UTC, datetime

from django.test import Client
from django.urls import reverse

from perfdb.results.models import Run, Study
from perfdb.web.tests.conftest import Bring
from perfdb.web.tests.pages import text_of


def test_the_runs_added_last_come_first_whenever_they_were_measured(web: Client, bring: Bring, run: Run) -> None:
    bring("awm/three_runs")
    last = Run.objects.latest("pk")
    Run.objects.filter(pk=last.pk).update(started=datetime(1999, 1, 1, tzinfo=UTC))

    source = web.get(reverse("web:home")).content.decode()

    listed = [int(pk) for pk in re.findall(r'<th scope="row" class="nowrap pin"><a href="/runs/(\d+)/">', source)]
    assert listed == sorted(listed, reverse=True)
    assert listed[0] == last.pk
    assert "Runs added last" in source


def test_a_study_leads_to_the_questions_of_its_workloads(web: Client, bring: Bring) -> None:
    study = Study.objects.create(slug="spring", title="Spring")
    bring(study=study)
    bring("awm/three_runs", study=study)
    workloads = Run.objects.order_by("workload__name").values_list("workload__name", flat=True).distinct()

    source = web.get(reverse("web:home")).content.decode()

    for kind in ("Charts", "Maximum throughput"):
        for workload in workloads:
            (address,) = re.findall(rf'<a href="([^"]+)" aria-label="{kind} of Spring, {re.escape(workload)}">', source)
            answer = web.get(address.replace("&amp;", "&"))
            assert answer.status_code == 200
            assert workload in text_of(answer)
            assert "study=spring" in address


def test_a_study_without_runs_is_left_out(web: Client, run: Run) -> None:
    Study.objects.create(slug="empty", title="Nothing in it")

    assert "Nothing in it" not in text_of(web.get(reverse("web:home")))
