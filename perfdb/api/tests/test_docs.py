"""/api/schema/ and /api/docs/"""

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from perfdb.api.tests.answers import openapi


def test_the_schema_is_complete_and_valid() -> None:
    out = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    assert "openapi: 3" in out.getvalue()


def test_the_schema_is_served(client: Client) -> None:
    response = client.get("/api/schema/")
    assert response.headers["Content-Type"] == "application/json"
    assert response.json()["paths"].keys() == openapi()["paths"].keys()


def test_every_endpoint_says_what_it_is_and_which_errors_it_answers() -> None:
    for path, methods in openapi()["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            assert "401" in operation["responses"], path


def test_the_page_needs_nothing_that_the_policy_forbids(client: Client) -> None:
    response = client.get("/api/docs/")
    html = response.content.decode()
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert all('src="' in tag for tag in re.findall(r"<script[^>]*>", html))
    assert not re.search(r"<style|\sstyle=|\son\w+=", html)


def test_the_page_loads_its_script_and_schema(client: Client) -> None:
    html = client.get("/api/docs/").content.decode()
    script = re.findall(r'<script src="([^"]+)"', html)[-1]
    response = client.get(script.replace("&amp;", "&"))
    assert response.headers["Content-Type"].startswith("application/javascript")
    assert "/api/schema/" in response.content.decode().encode().decode("unicode_escape")


@pytest.mark.parametrize("path", ["/api/v1/nothing/", "/api/v2/runs/", "/api/v1/runs/x/"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_addresses_that_do_not_exist_are_problems_too(client: Client, path: str, method: str) -> None:
    response = getattr(client, method)(path)
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    assert path in response.json()["detail"]
