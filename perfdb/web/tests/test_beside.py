"""Chosen runs beside each other: by experiment, else trial by trial, the first being the base."""

import re

import pytest
from django.test import Client

from perfdb.results.models import Run, RunEvidence
from perfdb.results.tests.builders import make_run
from perfdb.web.tests.pages import figures_of, inline_code, text_of


def run(device: str, trial: int, rate: float, **more: object) -> Run:
    values = {"trans_per_s": rate, "cpu_ms_per_trans": 2.0, "cpu_util@client": 50.0}
    return make_run(f"R{device}", device=device, trial=trial, values=values, **more)  # type: ignore[arg-type]


def beside(web: Client, *runs: Run) -> str:
    return f"/compare/?runs={','.join(str(each.pk) for each in runs)}"


def test_runs_of_several_experiments_are_columns_of_their_trials(web: Client) -> None:
    runs = [
        run(device, trial, rate * change)
        for device, rate in (("QDIO", 100.0), ("vCTC", 80.0), ("HiperSockets", 130.0))
        for trial, change in ((1, 0.99), (2, 1.01))
    ]
    # The base is the first that was chosen, whatever its name.
    response = web.get(beside(web, runs[2], runs[3], runs[0], runs[1], runs[4], runs[5]) + "&together=1")

    assert response.status_code == 200
    assert inline_code(response) == []
    source = response.content.decode()
    heads = re.findall(r'<th scope="col" class="number">([^<]*)</th>', source)
    assert heads[:3] == ["vCTC", "HiperSockets", "QDIO"]
    text = text_of(response)
    said = "△ higher, better, in these runs"
    assert f"Transactions per second trans/s 80.00 130.0 +63% {said} 100.0 +25% {said}" in text
    assert "Nothing else differs" in text
    assert [figure["data"][0]["type"] for figure in figures_of(source)] == ["bar", "bar"]
    for link in re.findall(r'href="(/explain/[^"]*)"', source):
        assert web.get(link.replace("&amp;", "&")).status_code == 200


def test_trials_of_one_experiment_stand_each_by_itself(web: Client) -> None:
    runs = [run("QDIO", trial, rate) for trial, rate in ((1, 100.0), (2, 90.0))]
    response = web.get(beside(web, *runs))

    text = text_of(response)
    assert "RQDIO trial 1" in text
    assert "RQDIO trial 2 " in text
    assert "-10%" in text
    assert f'href="/explain/?old={runs[0].pk}&amp;new={runs[1].pk}"' in response.content.decode()


def test_circumstances_have_a_value_for_each_column(web: Client) -> None:
    runs = [run(device, 1, 100.0) for device in ("QDIO", "vCTC", "IUCV")]
    for each, kernel in zip(runs, ("2.4.9", "2.4.9", "2.4.17"), strict=True):
        RunEvidence.objects.filter(run=each).update(facts={"kernel": {"text": kernel, "artifact": 0, "line": 1}})

    text = text_of(web.get(beside(web, *runs)))

    heads = "RQDIO RIUCV RvCTC"
    assert heads in text
    assert "kernel 2.4.9 2.4.17 2.4.9 can explain it other software" in text


def test_runs_that_are_not_complete_are_said(web: Client) -> None:
    runs = [run("QDIO", 1, 100.0), run("vCTC", 1, 90.0), run("IUCV", 1, 80.0, status="failed")]
    assert f"1 of the chosen runs is not complete, or gone: {runs[2].pk}" in text_of(web.get(beside(web, *runs)))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("", "of these there are none"),
        ("1", "of these there are none"),
        ("a,b", "'a' is not the number of a run"),
        (",".join(map(str, range(70))), "70 runs are too many"),
    ],
)
def test_what_cannot_stand_beside_each_other_is_said(web: Client, asked: str, message: str) -> None:
    response = web.get(f"/compare/?runs={asked}")

    assert response.status_code == 400
    assert message in text_of(response)


def test_few_runs_are_never_merged_and_all_their_trials_are_a_click_away(web: Client) -> None:
    runs = [run(device, trial, 100.0 * trial) for device in ("QDIO", "vCTC") for trial in (1, 2)]
    extra = run("vCTC", 3, 300.0)
    source = web.get(beside(web, *runs)).content.decode()

    heads = re.findall(r'<th scope="col" class="number">([^<]*)</th>', source)
    assert heads[:4] == ["RQDIO trial 1", "RQDIO trial 2", "RvCTC trial 1", "RvCTC trial 2"]
    (every,) = re.findall(r'href="([^"]*)">Use all 5 trials instead', source)
    together = web.get(every.replace("&amp;", "&"))
    assert str(extra.pk) in every
    heads = re.findall(r'<th scope="col" class="number">([^<]*)</th>', together.content.decode())
    assert heads[:2] == ["QDIO", "vCTC"]


def test_only_differences_are_shown_the_largest_first(web: Client) -> None:
    old = make_run("A", device="QDIO", values={"trans_per_s": 100.0, "response_ms": 1.0, "cpu_util": 50.0})
    values = {"trans_per_s": 90.0, "response_ms": 2.0, "cpu_util": 50.5, "mb_per_s": 3.0}
    new = make_run("B", device="vCTC", mtu=9000, values=values)
    text = text_of(web.get(beside(web, old, new)))

    differing, _, rest = text.partition("Of one run only: Throughput.")
    assert differing.index("Response time ms") < differing.index("Transactions per second trans/s")
    assert "Equal or within 2% 1 figure" in rest
    assert "CPU utilisation" in rest
    assert "Device and MTU differ, so a difference can come from any of them." in text
    assert "What differs Device QDIO vCTC MTU MTU 1492 MTU 9000" in text


def test_any_column_can_be_the_baseline(web: Client) -> None:
    runs = [run(device, 1, 100.0) for device in ("QDIO", "vCTC")]
    source = web.get(beside(web, *runs)).content.decode()

    (pin,) = re.findall(r'href="([^"]*)">use as baseline', source)
    assert pin == beside(web, *reversed(runs))


def test_single_runs_have_one_answer_for_all(web: Client) -> None:
    runs = [run(device, 1, rate) for device, rate in (("QDIO", 100.0), ("vCTC", 90.0), ("IUCV", 80.0))]

    text = text_of(web.get(beside(web, *runs)))

    assert text.count("No answer yet") == 1
