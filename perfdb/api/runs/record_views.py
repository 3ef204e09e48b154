"""Endpoint of JSON records: check all, store the file, import it, return each outcome."""

import re
from typing import Any

from django.core.files.base import ContentFile
from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from perfdb.analysis.query.parameters import QueryError
from perfdb.api.errors import Conflict
from perfdb.api.page_links import known_only
from perfdb.api.permissions import signed_in
from perfdb.api.runs.run_data import upload_reference
from perfdb.api.uploads.views import read_wait, study_called, wait_until_settled
from perfdb.results.ingest import uploads
from perfdb.results.ingest.json_runs import FILE, parse_records
from perfdb.results.models import Problem, Upload, UploadRun

PARAMETERS = ("study", "wait")
_USUAL_WAIT = "10"
_SLUG = re.compile(r"[-\w]{1,80}", re.ASCII)


def create(request: Request) -> Response:
    """Answer 201 with new runs, 200 without, 202 while the import runs."""
    known_only(request.query_params, PARAMETERS)
    wait = read_wait(request.query_params.get("wait", _USUAL_WAIT))
    user = signed_in(request)
    # Of an empty request the framework makes a form without fields.
    sent = request.data if isinstance(request.data, bytes) else b""
    records = parse_records(sent)
    slug = _slug(request.query_params.get("study", "") or records.study)
    with transaction.atomic():
        study = study_called(user, slug, create=True)
        upload = uploads.receive(user, [(FILE, ContentFile(records.content))], study=study)
    # Free the memory while waiting for the worker.
    del records
    wait_until_settled(upload.pk, wait)
    upload.refresh_from_db(fields=["state"])
    body = upload_reference(request, upload)
    if upload.state == Upload.State.DONE:
        runs = _runs(upload)
        status = 201 if any(run["outcome"] == UploadRun.Outcome.NEW for run in runs) else 200
        return Response({"upload": body, "runs": runs}, status=status)
    if upload.state in Upload.SETTLED:
        raise Conflict(_said(upload, body["url"]))
    return Response(body, status=202, headers={"Location": body["url"]})


def _slug(text: str) -> str:
    if text and not _SLUG.fullmatch(text):
        raise QueryError("study", f"{text[:80]!r} is no slug: letters, digits, hyphens and underscores, 80 at most")
    return text


def _runs(upload: Upload) -> list[dict[str, Any]]:
    rows = upload.runs.order_by("number").values_list("run_id", "run_label", "trial", "outcome")
    return [dict(zip(("id", "run_id", "trial", "outcome"), row, strict=True)) for row in rows]


def _said(upload: Upload, url: str) -> str:
    """Return why nothing was stored."""
    first = upload.problems.filter(severity=Problem.Severity.ERROR).order_by("pk").first()
    why = f": {first.message} {first.remedy}" if first else "."
    decide = " Decide with its preview." if upload.state == Upload.State.PREVIEW else ""
    return f"nothing was stored of upload {upload.pk}{why}{decide} It is at {url}"
