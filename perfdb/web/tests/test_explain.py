"""The page that explains a difference: circumstances by weight, figures by how far they moved, the test in words."""

import re
from dataclasses import replace
from html import unescape

import pytest
from django.test import Client

from perfdb.analysis.verdicts.cells import NextStep
from perfdb.results.models import Note, Problem, Run, RunEvidence
from perfdb.results.queries import explain
from perfdb.results.tests.builders import make_run
from perfdb.web.compare.explain_page import next_steps
from perfdb.web.tests.pages import inline_code, text_of

DEVICES = ("QDIO", "HiperSockets")
COMPARE = {"dimension": "device", "old": "QDIO", "new": "HiperSockets", "metric": "trans_per_s"}


def run_of(device: str, users: int, trial: int, rate: float) -> Run:
    """A trial: the client's CPU falls with the new device, interrupts fall far, the server's CPU wanders."""
    new = device == "HiperSockets"
    wander = (0.97, 1.0, 1.04)[trial - 1]
    steady = (0.999, 1.0, 1.002)[trial - 1]
    values = {
        "trans_per_s": rate,
        "cpu_util@client": (40.0 if new else 50.0) * steady,
        "cpu_util@server": 30.0 * wander,
        "interrupts_per_s": (1000.0 if new else 9000.0) * steady,
    }
    return make_run(f"{device[0]}{users}", device=device, users=users, trial=trial, values=values)


@pytest.fixture
def runs(db: None) -> list[Run]:
    """Two devices with three trials of 1 and 10 users; one in three of the new ones runs elsewhere."""
    found = [
        run_of(device, users, trial, base * users * change)
        for device, base in (("QDIO", 100.0), ("HiperSockets", 130.0))
        for users in (1, 10)
        for trial, change in enumerate((0.99, 1.0, 1.01), start=1)
    ]
    for device, kernel, tool in (("QDIO", "2.4.9", "1.0"), ("HiperSockets", "2.4.17", "1.1")):
        facts = {name: {"text": text, "artifact": 0, "line": 1} for name, text in (("kernel", kernel), ("tool", tool))}
        RunEvidence.objects.filter(run__device__name=device).update(facts=facts)
    return found


def explanations(source: str) -> list[str]:
    """The links of a page that explain."""
    return [unescape(each) for each in re.findall(r'href="(/explain/[^"]*)"', source)]


def test_a_compared_cell_leads_to_its_explanation(web: Client, runs: list[Run]) -> None:
    links = explanations(web.get("/compare/", COMPARE).content.decode())
    assert len(links) == 2

    response = web.get(next(link for link in links if "users%3A10" in link))

    assert response.status_code == 200
    assert inline_code(response) == []
    text = text_of(response)
    said = (
        "Transactions per second QDIO → HiperSockets",
        "Transactions per second of HiperSockets is 30% higher than of QDIO: 1000 → 1300 trans/s.",
        "higher, better, in these runs",
        "1 circumstance also differs",
        "Compared: Device QDIO → HiperSockets",
        "kernel 2.4.9 2.4.17 can explain it other software",
        "1 minor difference",
        "tool 1.0 1.1 minor",
        "3 of the new side, 3 of the old side",
        "95% CI",
        "Student’s t",
        "noise of trials",
        "d = ln(new ÷ baseline) = 26%; se = ",
        "Other metrics that changed",
    )
    assert [each for each in said if each not in text] == []
    places = [text.index(each) for each in said]
    assert places == sorted(places)


def test_figures_are_sorted_by_how_far_they_moved_beyond_noise(web: Client, runs: list[Run]) -> None:
    (link,) = [
        each for each in explanations(web.get("/compare/", COMPARE).content.decode()) if "users%3A1&" in each + "&"
    ]
    text = text_of(web.get(link))

    moved, still = text.split("unchanged or undecided", 1)
    moved = moved[moved.index("Other metrics that changed") :]
    assert moved.index("Interrupts per second") < moved.index("CPU utilisation, client")
    assert "CPU utilisation, server" not in moved
    assert "CPU utilisation, server" in still
    assert "-89%" in moved
    assert re.search(r"-20% ▽ lower, in these runs [\d.]+ ×", moved)


def test_the_verdict_is_the_one_of_the_table(web: Client, runs: list[Run]) -> None:
    asked = "metric=trans_per_s&rows=users&columns=device&baseline=device:QDIO&delta=40"
    source = web.get(f"/charts/?{asked}").content.decode()
    shown = re.findall(r'title="([^"]*)"><a class="percent" href="(/explain/[^"]*)"', source)
    assert len(shown) == 2
    for sentence, link in shown:
        percent, verdict = unescape(sentence).split("; ")[:2]
        text = text_of(web.get(unescape(link)))
        assert percent in text
        assert verdict in text


def test_two_runs_are_explained_with_the_noise_of_their_trials(web: Client, runs: list[Run]) -> None:
    old, new = runs[0], runs[6]
    response = web.get("/explain/", {"old": old.pk, "new": new.pk})

    assert response.status_code == 200
    text = text_of(response)
    assert f"Transactions per second {old.run_id}, trial 1 → {new.run_id}, trial 1" in text
    assert "Device QDIO HiperSockets can explain it another configuration" in text
    assert "likely higher in these runs, if its runs vary like the others'" in text
    assert "repeats of the same setup differ by" in text
    assert "more trial" in text
    assert "Other metrics that changed" in text

    other = web.get(f"/explain/?old={old.pk}&new={new.pk}&of=cpu_util@client")
    assert "CPU utilisation, client of H1" in text_of(other)


def test_what_people_and_checks_say_of_the_runs_stands_there(web: Client, runs: list[Run]) -> None:
    Note.objects.create(run=runs[0], text="The adapter was changed before this run.")
    Problem.objects.create(run=runs[6], severity="warning", code="x", message="The clocks disagree.")
    Problem.objects.create(run=runs[7], severity="warning", code="x", message="Of another run.")

    text = text_of(web.get("/explain/", {"old": runs[0].pk, "new": runs[6].pk}))

    assert f"{runs[0].run_id}, trial 1: The adapter was changed before this run." in text
    assert "The clocks disagree." in text
    assert "Of another run." not in text


def test_single_runs_without_any_repetition(web: Client) -> None:
    old, new = (make_run("R", device=device, values={"trans_per_s": rate}) for device, rate in (("A", 1.0), ("B", 2.0)))
    text = text_of(web.get("/explain/", {"old": old.pk, "new": new.pk}))

    assert "can't tell: no repeats" in text
    assert "nothing was repeated" in text
    assert "These runs have no other metric in common" in text


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("", "which figure is to be explained?"),
        ("of=trans_per_s", "nothing is compared"),
        ("of=speed", "'speed' is not a metric"),
        ("old=1", "which run is the new one?"),
        ("old=x&new=2", "which run is the old one?"),
        ("old=987654321&new=987654322", "there is no run 987654321"),
        (
            "of=trans_per_s&rows=users&columns=device&baseline=device:QDIO&at=users:10&at=device:QDIO",
            "the baseline itself",
        ),
        ("of=trans_per_s&rows=users&columns=device&baseline=device:QDIO&at=users:99&at=device:QDIO", "no such cell"),
        (
            "of=trans_per_s&rows=users&columns=device&baseline=device:vCTC&at=users:10&at=device:QDIO",
            "there is no run to compare this with",
        ),
    ],
)
def test_what_cannot_be_explained_is_said(web: Client, runs: list[Run], asked: str, message: str) -> None:
    response = web.get(f"/explain/?{asked}")

    assert response.status_code == 400
    assert message in text_of(response)


def test_only_complete_runs_are_explained(web: Client, runs: list[Run]) -> None:
    Run.objects.filter(pk=runs[0].pk).update(status=Run.Status.WITHDRAWN)
    response = web.get("/explain/", {"old": runs[0].pk, "new": runs[1].pk})

    assert response.status_code == 400
    assert "is withdrawn: only complete runs are compared" in text_of(response)


def test_remarks_of_one_kind_on_a_run_are_counted(web: Client, runs: list[Run]) -> None:
    old, new = (next(run for run in runs if (run.device.name, run.users) == (device, 10)) for device in DEVICES)
    old.problems.create(severity="note", code="name", message="Named by its folder.")
    for number in range(4):
        old.problems.create(severity="warning", code="busy", message=f"Processor {number} was busy.")

    text = text_of(web.get("/explain/", {"old": old.pk, "new": new.pk}))

    assert "Processor 0 was busy. And 3 more of this kind." in text
    assert text.index("Processor 0") < text.index("Named by its folder.")


def test_nobody_is_asked_for_a_thousand_trials(runs: list[Run]) -> None:
    old, new = (next(run.pk for run in runs if (run.device.name, run.users) == (device, 10)) for device in DEVICES)
    found, _ = explain.explain_address([("old", str(old)), ("new", str(new))])

    *_, step = next_steps(old, new, replace(found.comparison, next=NextStep("trials", 200)))

    assert step.command == ""
    assert "about 199 more trials of each" in step.text

    *_, step = next_steps(old, new, replace(found.comparison, next=NextStep("campaigns", 4)))

    assert step.text == "Measure both on further days, one after the other: about 4 campaigns a side in all"


def test_two_single_runs_lead_on(web: Client, runs: list[Run]) -> None:
    old, new = (next(run for run in runs if (run.device.name, run.users) == (device, 10)) for device in DEVICES)
    response = web.get("/explain/", {"old": old.pk, "new": new.pk})

    text = text_of(response)
    assert "What next Compare QDIO → HiperSockets over all their runs Compare both runs" in text
    assert "more trials of the old one: sh record.sh --study guest-lan --repeat" in text
    assert "device=QDIO mtu=1492 users=10 -- COMMAND" in text
    found = {unescape(each) for each in re.findall(r'href="(/compare/\?[^"]+)"', response.content.decode())}
    assert {f"/compare/?runs={old.pk},{new.pk}"} < found
    (series,) = (each for each in found if "dimension=" in each)
    assert "2 matched pairs" in text_of(web.get(series))


def test_a_compared_cell_has_a_question_to_go_back_to_instead(web: Client, runs: list[Run]) -> None:
    (link, *_) = explanations(web.get("/compare/", COMPARE).content.decode())

    assert "What next" not in text_of(web.get(link))
