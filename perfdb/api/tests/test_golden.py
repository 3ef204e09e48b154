"""Digests of stored rows and REST answers after all fixture logs are in, compared with committed digests.

``GOLDEN_RENEW=1 python -m pytest perfdb/api/tests/test_golden.py`` writes the file anew; ``python -m fixtures.golden``
shows in full what differs from another checkout.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from fixtures.golden import inputs
from fixtures.golden.answers import describe_answer
from fixtures.golden.names import Names
from fixtures.golden.product import APART, OPEN_JOBS, Answer
from fixtures.golden.questions import choose_addresses
from fixtures.golden.rows import describe_tables, read_tables
from fixtures.golden.steps import API, Steps
from perfdb.results import tasks
from perfdb.results.runs import access

pytestmark = pytest.mark.django_db
EXPECTED = Path(__file__).parent / "golden.json"
ANSWERS = 60


class Inside:
    """The product inside the test's process and transaction, whose jobs run when something waits for them."""

    def __init__(self) -> None:
        self._token = access.make_token(access.find_owner(), "golden")
        self._pages = Client(raise_request_exception=False)
        self._pages.force_login(access.find_owner())

    def call(self, method: str, address: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Return the answer to a request; a session for pages, a token for the REST interface."""
        is_rest = API in address
        client = Client(raise_request_exception=False) if is_rest else self._pages
        login = {"Authorization": f"Bearer {self._token}"} if is_rest else {}
        kind = headers.get("Content-Type", "")
        response: Any = client.generic(method, address, body or b"", kind, headers={**headers, **login})
        content = b"".join(response.streaming_content) if response.streaming else response.content
        return Answer(response.status_code, response.headers.get("Content-Type", "").partition(";")[0], content)

    def query(self, statement: str) -> list[Any]:
        """Return the rows of a statement with one column of JSON."""
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return [json.loads(value) for (value,) in cursor.fetchall()]

    def settle(self) -> None:
        """Run the jobs that are open."""
        for job in self.query(OPEN_JOBS):
            tasks.run_job(job)

    def manage(self, *arguments: str) -> str:
        """Return the output of a management command."""
        call_command(*arguments, stdout=(output := StringIO()))
        return output.getvalue()


def bring_some(steps: Steps) -> None:
    """Upload all fixture logs, in as few uploads as keep runs apart; records, a table, and a little of the rest."""
    places = defaultdict[int, dict[str, bytes]](dict)
    for case in inputs.cases():
        places[case.place] |= {f"{case.form}/{path}": content for path, content in case.files.items()}
    uploads = [steps.upload(files, study=f"logs-{place:02}") for place, files in sorted(places.items())]
    for upload in uploads:
        steps.accept(upload)
    for _ in range(2):
        steps.records(inputs.records(60), "records")
    steps.call("POST", f"{API}/published-tables/", {"text": inputs.TABLE, "study": "pasted"})
    alias = {"dimension": "device", "printed": "QDIO GBE", "meaning": "QDIO"}
    steps.call("POST", f"{API}/studies/records/aliases/", alias)
    steps.call("POST", f"{API}/runs/withdraw/", {"query": "study=records&users=50", "reason": "odd"})
    steps.call("POST", f"{API}/uploads/{uploads[1]}/undo/")


def digests(product: Inside) -> Iterator[tuple[str, str]]:
    """Yield a digest for each table and for some addresses."""
    tables = read_tables(product)
    names = Names(tables, {"http://testserver": "<host>"}, datetime.now(UTC).date())
    for table, lines in describe_tables(tables, names):
        yield f"table {table}", f"{len(lines)} {_digest(''.join(lines))}"
    addresses = [each for each in choose_addresses(tables) if each.startswith(API)]
    for address in addresses[:: len(addresses) // ANSWERS]:
        answer = product.call("GET", address, {})
        yield names.text(address), f"{answer.status} {_digest(describe_answer(answer, names))}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def test_rows_and_answers_are_as_before(settings: Settings) -> None:
    settings.PUBLIC_READ = True
    with connection.cursor() as cursor:
        cursor.execute(APART)
    product = Inside()
    bring_some(Steps(product))
    found = dict(digests(product))
    if os.environ.get("GOLDEN_RENEW"):
        EXPECTED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    expected = json.loads(EXPECTED.read_text())
    changed = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
    assert changed == [], "golden.json differs here; renew it if that is meant"
