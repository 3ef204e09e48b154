"""Pages travel compressed; nothing else does."""

import gzip

from django.test import Client

from perfdb.results.models import Run

TAKES = {"Accept-Encoding": "gzip"}


def test_a_page_is_compressed(web: Client, run: Run) -> None:
    plain = web.get("/charts/")
    compressed = web.get("/charts/", headers=TAKES)

    assert compressed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in compressed["Vary"]
    assert len(compressed.content) < len(plain.content) / 3
    assert b'id="result"' in gzip.decompress(compressed.content)
    assert not plain.has_header("Content-Encoding")


def test_the_rest_interface_is_not(web: Client, run: Run) -> None:
    assert not web.get("/api/v1/tables/", {"metric": "trans_per_s"}, headers=TAKES).has_header("Content-Encoding")
