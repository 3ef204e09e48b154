"""The examples of docs/api.md, read out of the page and executed as requests."""

import argparse
import re
import shlex
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from rest_framework.test import APIClient

from perfdb.api.tests.answers import problem
from perfdb.api.tests.files import BOUNDARY, case, multipart, post_files
from perfdb.api.tests.test_upload import settled
from perfdb.results.models import Alias, Artifact, Note, PartialFile
from perfdb.results.queries.frozen_links import freeze_question
from perfdb.results.queries.questions import Question
from perfdb.results.runs.bulk_changes import touch_study
from perfdb.results.tests.builders import make_run, make_study

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "api.md"
HOST = "http://testserver"

CURL = argparse.ArgumentParser("curl", exit_on_error=False)
CURL.add_argument("url")
CURL.add_argument("-X", dest="method")
CURL.add_argument("-G", dest="in_address", action="store_true")
CURL.add_argument("-OJ", dest="save", action="store_true")
CURL.add_argument("-H", dest="headers", action="append", default=[])
CURL.add_argument("-F", dest="form", action="append", default=[])
CURL.add_argument("-d", dest="data", action="append", default=[])
CURL.add_argument("--data-binary", dest="bytes", default="")
CURL.add_argument("--data-urlencode", dest="texts", action="append", default=[])


def examples() -> list[str]:
    """The commands of the page's shell blocks, continued lines joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", "").splitlines()]


@pytest.fixture
def names(worker: None, ada: User, api: APIClient) -> dict[str, str]:
    """What stands for the variables of the page."""
    token = api._credentials["HTTP_AUTHORIZATION"].removeprefix("Bearer ")  # type: ignore[attr-defined]
    study = make_study("linux-connectivity", owner=ada)
    call_command("loadstudies", "osa-vs-vswitch-zvm520", "hipersockets-zvm420")
    alias = Alias.objects.create(study=study, dimension="device", printed="OSA", folded="osa", meaning="OSA-2")
    done = settled(api, post_files(api, case("cp_query/NMGBR950")))
    shown = settled(api, post_files(api, case("awm/both_sides"), preview="1"))
    return {
        "PERFDB": HOST,
        "TOKEN": token,
        "UPLOAD": str(done["id"]),
        "PREVIEW": str(shown["id"]),
        "OPEN": str(settled(api, post_files(api, case("awm/both_sides"), preview="1"))["id"]),
        "ALIAS": str(alias.pk),
        "PIECE": PartialFile.objects.create(token="example", owner=ada, path="day1/big.log", size=10).token,
        "RUN": str(done["runs"][0]["id"]),
        "OTHER": str(make_run("OTHER").pk),
        "NOTE": str(Note.objects.create(run_id=done["runs"][0]["id"], author=ada, text="odd").pk),
        "FROZEN": freeze_question(Question.parse("maximum", "workload=RR"), ada).token,
        "ARTIFACT": str(Artifact.objects.order_by("pk").values_list("pk", flat=True)[0]),
    }


def send(command: str, names: dict[str, str]) -> Any:
    """Do what curl would do."""
    program, *words = shlex.split(Template(command).substitute(names), comments=True)
    assert program == "curl"
    asked = CURL.parse_args(words)
    client = APIClient()
    headers = dict(header.split(": ", 1) for header in asked.headers)
    path = asked.url.removeprefix(HOST)
    if asked.form:
        files = [_file(value) for name, value in _pairs(asked.form) if name == "files"]
        fields = {name: value for name, value in _pairs(asked.form) if name != "files"}
        content_type = f"multipart/form-data; boundary={BOUNDARY}"
        return client.post(path, multipart(files, fields), content_type=content_type, headers=headers)
    if asked.in_address:
        assert not any(" " in text for text in asked.data), "curl sends -d as it is"
        return client.get(f"{path}?{'&'.join([*asked.data, urlencode(_pairs(asked.texts))])}", headers=headers)
    if asked.method == "DELETE":
        return client.delete(path, headers=headers)
    if asked.method == "PATCH":
        return client.patch(path, asked.bytes, content_type=headers.pop("Content-Type"), headers=headers)
    if asked.data or asked.method == "POST":
        content_type = headers.pop("Content-Type", "application/x-www-form-urlencoded")
        send_body = client.put if asked.method == "PUT" else client.post
        return send_body(path, "".join(asked.data), content_type=content_type, headers=headers)
    return client.get(path, headers=headers)


def _pairs(texts: list[str]) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (text.partition("=") for text in texts)]


def _file(value: str) -> tuple[str, bytes]:
    path, _, renamed = value.removeprefix("@").partition(";filename=")
    return renamed or Path(path).name, (ROOT / path).read_bytes()


def test_there_are_examples() -> None:
    assert len(examples()) >= 12


def test_examples_work(names: dict[str, str], reader: APIClient) -> None:
    for example in examples():
        expected = re.search(r"# (\d{3})$", example)
        response = send(example, names)
        if expected:
            problem(response, int(expected[1]))
        else:
            assert response.status_code in (200, 201, 202, 204), (example, response.content)


def test_asking_again_is_answered_as_the_page_says(reader: APIClient) -> None:
    run = make_run()
    tag = reader.get("/api/v1/runs/").headers["ETag"]
    assert reader.get("/api/v1/runs/", headers={"If-None-Match": tag}).status_code == 304
    touch_study(run.study)
    assert reader.get("/api/v1/runs/", headers={"If-None-Match": tag}).status_code == 200
