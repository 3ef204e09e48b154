"""Answers that need no data: what the way through the web server alone costs."""

from collections.abc import Iterator

from bench import archive
from bench.case import Bar, Case
from bench.instance import Instance

_ADDRESS = f"/api/v1/tables/?metric=trans_per_s&study={archive.slug(0)}&workload=RR&rows=users&columns=device"


def cases(instance: Instance) -> Iterator[Case]:
    """A 304 beside the emptiest view there is."""
    headers = {"Accept": "application/json", "If-None-Match": instance.etag(_ADDRESS)}
    yield Case(
        "serving",
        "304 of a table that did not change",
        "an empty view",
        lambda: instance.get(_ADDRESS, headers),
        lambda: instance.get("/healthz"),
        Bar(ratio=2.5),
        lambda: instance.get(_ADDRESS, headers) == b"",
        turns=60,
    )
