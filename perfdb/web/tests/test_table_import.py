"""Importing published tables by plain forms: reading, saying, previewing, loading, and each refusal."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from importers.tests.test_published_tables import BLOCKS, SWEEP, TRANSPOSED
from perfdb.results.models import Run, Study, TableMapping, Upload
from perfdb.web.tests.conftest import work
from perfdb.web.tests.pages import text_of

ADDRESS = "/tables/import/"
UNKNOWN = "Flavour,sweet,sour\nMB/sec,10.5,11.5\nGrumbles,1,2\n"


def fields_of(source: str) -> dict[str, str]:
    """Every field of the page's form with its value, as a browser would send them."""
    form = source[source.index("<form class", source.index("<main")) : source.index("</main>")]
    found = {}
    for tag in re.findall(r"<input [^>]*>", form):
        given = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if given["name"] != "csrfmiddlewaretoken" and (given.get("type") != "radio" or " checked" in tag):
            found[given["name"]] = _unescaped(given.get("value", ""))
    for name, options in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        found[name] = _unescaped(chosen[1]) if chosen else ""
    return found


def _unescaped(text: str) -> str:
    for entity, character in (("&quot;", '"'), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text


def read(web: Client, text: str, **more: str) -> dict[str, str]:
    response = web.post(ADDRESS, {"text": text, **more})
    assert response.status_code == 200, text_of(response)
    return fields_of(response.content.decode())


@pytest.mark.parametrize("text", [BLOCKS, SWEEP, TRANSPOSED])
def test_the_form_sent_back_unchanged_means_the_same(web: Client, text: str) -> None:
    fields = read(web, text, new_study="Our tables")
    response = web.post(ADDRESS, fields | {"action": "preview"})
    assert "Nothing is stored yet." in text_of(response)
    assert fields_of(response.content.decode()) == fields
    assert not Upload.objects.exists()


def test_from_text_to_undo(web: Client) -> None:
    fields = read(web, BLOCKS, new_study="Our tables")
    text = text_of(web.post(ADDRESS, fields | {"action": "preview"}))
    assert "The tables hold 11 figures and 5 differences of 6 runs: 6 new runs." in text
    assert "The audit found no figure that contradicts the others." in text
    response = web.post(ADDRESS, fields | {"action": "load"})
    upload = Upload.objects.get()
    assert response.headers["Location"] == reverse("web:upload", args=[upload.pk])
    assert (upload.study.title, Run.objects.count()) == ("Our tables", 6)
    assert "published-mapping" in text_of(web.get(reverse("web:upload", args=[upload.pk])))
    web.post(reverse("web:upload-undo", args=[upload.pk]))
    assert (work(upload).state, Run.objects.count()) == ("undone", 0)
    again = web.post(reverse("web:upload-again", args=[upload.pk])).headers["Location"]
    assert "| 88.0 |" in text_of(web.get(again))


def test_a_file_is_read_as_pasted_text_is(web: Client) -> None:
    response = web.post(ADDRESS, {"file": SimpleUploadedFile("best.html", TRANSPOSED.encode("utf-16"))})
    assert "1 table read as html" in text_of(response)
    assert fields_of(response.content.decode())["text"] == TRANSPOSED.strip()


def test_what_is_said_changes_what_is_read_and_is_remembered(web: Client, ada: User) -> None:
    study = Study.objects.create(slug="sweets", title="Sweets", owner=ada)
    fields = read(web, UNKNOWN, study="sweets")
    page = text_of(web.post(ADDRESS, {"text": UNKNOWN, "study": "sweets"}))
    assert "2 headings need your check" in page
    names = {text: name.removesuffix(".text") for name, text in fields.items() if name.startswith("t0.name.")}
    said = {
        "t0.head": "1",
        "t0.top.0": "factor.flavour",
        f"{names['MB/sec']}.means": "mb_per_s@server",
        f"{names['MB/sec']}.unit": "KB/sec",
        "t0.fixed.workload": "STRG",
        "t0.fixed.users": "10",
    }
    web.post(
        ADDRESS, {name: text for name, text in (fields | said | {"action": "load"}).items() if "top.1" not in name}
    )
    run = Run.objects.select_related("workload").get(factors__flavour="sour")
    assert (str(run.workload), run.users, run.study) == ("STRG", 10, study)
    assert TableMapping.objects.get().made_by == ada
    again = read(web, UNKNOWN.replace("10.5", "12.5"), study="sweets")
    assert (again["t0.head"], again[f"{names['MB/sec']}.means"]) == ("1", "mb_per_s@server")


def test_a_meaning_that_is_none_is_said(web: Client) -> None:
    fields = read(web, BLOCKS)
    name = next(name for name, text in fields.items() if text == "MB/sec").replace(".text", ".means")
    response = web.post(ADDRESS, fields | {name: "zork<b>", "action": "load"})
    assert response.status_code == 400
    assert "MB/sec: 'zork<b>' is no metric" in text_of(response)
    assert not Upload.objects.exists()


def test_conflicts_are_asked_about(web: Client) -> None:
    web.post(ADDRESS, read(web, BLOCKS) | {"action": "load"})
    fields = read(web, BLOCKS.replace("| 88.0 |", "| 99.0 |"))
    response = web.post(ADDRESS, fields | {"action": "preview"})
    assert "5 runs already there, 1 run in conflict" in text_of(response)
    asked = fields_of(response.content.decode())
    (name,) = (each for each in asked if each.startswith("decision:cd4sn102/1#"))
    assert asked[name] == "keep"
    response = web.post(ADDRESS, fields | {"action": "load"})
    assert (response.status_code, "Decide what becomes of cd4sn102/1." in text_of(response)) == (400, True)
    web.post(ADDRESS, asked | {name: "trial", "action": "load"})
    assert Run.objects.filter(run_id="cd4sn102", trial=2, mb_per_s=99).exists()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"text": "  "}, "Paste a table"),
        ({"text": "nothing but prose"}, "No table was found"),
        ({"text": BLOCKS, "study": "no-such-study"}, "no study 'no-such-study'"),
        ({"text": "Flavour,sweet\nGrumbles,1\n", "action": "load"}, "There is no run in these tables"),
        ({"file": SimpleUploadedFile("a.csv", b"x" * (1024 * 1024 + 1))}, "at most 1,048,576"),
    ],
)
def test_refusals_say_why(web: Client, fields: dict[str, str], says: str) -> None:
    response = web.post(ADDRESS, fields)
    assert (response.status_code, says in text_of(response)) == (400, True)
    assert not Upload.objects.exists()


def test_a_refused_load_leaves_no_new_study(web: Client) -> None:
    web.post(ADDRESS, {"text": "Flavour,sweet\nGrumbles,1\n", "action": "load", "new_study": "Nothing"})
    assert not Study.objects.filter(title="Nothing").exists()


def test_only_people_who_signed_in_may_import(stranger: Client) -> None:
    assert "/sign-in/" in stranger.get(ADDRESS).headers["Location"]
    assert "/sign-in/" in stranger.post(ADDRESS, {"text": BLOCKS}).headers["Location"]


def test_hostile_fields_do_no_harm(web: Client) -> None:
    hostile = {"t0.head": "9999", "t0.side": "-1", "t0.top.0": "<script>", "t0.name.x.text": "\x00", "t0.section": "'"}
    response = web.post(ADDRESS, {"text": BLOCKS, "action": "preview", **hostile})
    assert response.status_code in (200, 400)
    assert "<script>" not in response.content.decode().partition("</head>")[2]
