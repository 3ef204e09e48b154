"""Files as received: with line numbers, by pages, and for download."""

import gzip
import re
import tracemalloc
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from perfdb.results.models import Artifact, RunSource, UploadFile
from perfdb.web.tests.conftest import LOGS, Bring
from perfdb.web.tests.pages import text_of


def address_of(bring: Bring, data: bytes, name: str = "some.log") -> str:
    """Upload a file and answer the address of its page."""
    bring({name: data}, preview=True)
    return reverse("web:artifact", args=[UploadFile.objects.get(path=name).artifact_id])


def test_the_line_asked_for_is_marked_and_an_anchor(web: Client, bring: Bring) -> None:
    source = web.get(address_of(bring, b"one\ntwo\nthree\n"), {"line": "2"}).content.decode()

    marked = source[source.index('<li id="L2" class="marked" aria-current="true">') :]
    assert "<code>two</code>" in marked[: marked.index("</li>")]
    assert source.count("marked") == 1


def test_a_long_file_shows_the_page_of_the_line(web: Client, bring: Bring) -> None:
    address = address_of(bring, b"".join(b"line %d\n" % number for number in range(1, 2502)))

    source = web.get(address, {"line": "1500"}).content.decode()

    assert "line 1001<" in source
    assert "line 2000<" in source
    assert "line 2001<" not in source
    assert 'rel="prev" href="?line=1#L1"' in source
    assert 'rel="next" href="?line=2001#L2001"' in source


@pytest.mark.parametrize("asked", ["2-4", "4-2"])
def test_several_lines_are_marked(web: Client, bring: Bring, asked: str) -> None:
    source = web.get(address_of(bring, b"one\ntwo\nthree\nfour\nfive\n"), {"line": asked}).content.decode()

    assert re.findall(r'<li id="L(\d)" class="marked"', source) == ["2", "3", "4"]


@pytest.mark.parametrize("line", ["", "0", "-3", "x", "9" * 30, "3-", "1-2-3"])
def test_any_line_answers(web: Client, bring: Bring, line: str) -> None:
    assert "one" in text_of(web.get(address_of(bring, b"one\n"), {"line": line}))


def test_a_line_beyond_the_end_is_said(web: Client, bring: Bring) -> None:
    assert "no line 7" in text_of(web.get(address_of(bring, b"one\n"), {"line": "7"}))


def test_other_encodings_are_read(web: Client, bring: Bring) -> None:
    log = next(path for path in sorted((LOGS / "awm/ebcdic_nl").iterdir()) if path.name != "expected.json")

    assert "AWMLOG" in text_of(web.get(address_of(bring, log.read_bytes())))


def test_what_is_no_text_can_be_downloaded(web: Client, bring: Bring) -> None:
    text = text_of(web.get(address_of(bring, bytes(range(256)) * 20, "junk.bin")))

    assert "not a text" in text
    assert "you can download it" in text


def test_a_compressed_file_is_shown_as_what_it_holds(web: Client, bring: Bring) -> None:
    packed = gzip.compress(b"".join(b"line %d\n" % number for number in range(1, 1502)))

    source = web.get(address_of(bring, packed, "some.log.gz"), {"line": "1200"}).content.decode()

    assert '<li id="L1200" class="marked"' in source
    assert "<code>line 1200</code>" in source
    assert "1501 lines" in source


def test_a_damaged_compressed_file_says_so_and_can_be_downloaded(web: Client, bring: Bring) -> None:
    text = text_of(web.get(address_of(bring, gzip.compress(b"one\n" * 99)[:-9], "some.log.gz")))

    assert "is damaged" in text
    assert "you can download it" in text


def test_of_a_large_file_only_a_part_is_held(web: Client, bring: Bring) -> None:
    line = b"x" * 99 + b"\n"
    address = address_of(bring, line * 200_000)

    tracemalloc.start()
    source = web.get(address, {"line": "150000"}).content.decode()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert '<li id="L150000" class="marked"' in source
    assert most < 10_000_000


def test_the_second_who_looks_at_a_large_file_sees_the_same(web: Client, bring: Bring) -> None:
    address = address_of(bring, b"".join(b"line %d of a large log\n" % number for number in range(1, 200_001)))

    first, again = (text_of(web.get(address, {"line": "150000"})) for _ in range(2))

    kept = Path(default_storage.path(f"{Artifact.objects.get().path}.lines"))
    assert kept.exists()
    assert first == again
    assert "200000 lines" in again
    assert "line 149001 of a large log" in again
    kept.write_bytes(b"damaged")
    assert text_of(web.get(address, {"line": "150000"})) == first


def test_the_run_of_the_marked_line_stands_first(web: Client, bring: Bring) -> None:
    bring("awm/three_runs")
    source = RunSource.objects.order_by("-run_id").first()
    assert source is not None
    address = reverse("web:artifact", args=[source.artifact_id])

    page = web.get(address, {"line": str(source.spans[0][0])}).content.decode()

    assert f'<strong><a href="/runs/{source.run_id}/">' in page
    assert page.count("<strong><a") == 1
    assert "<strong><a" not in web.get(address).content.decode()


def test_markup_in_a_log_is_text(web: Client, bring: Bring) -> None:
    source = web.get(address_of(bring, b"<script>alert(1)</script>\n")).content.decode()

    assert "<script>alert" not in source


def test_a_download_is_the_file_as_received(web: Client, bring: Bring) -> None:
    data = b"one\r\ntwo\x00\xff"
    address_of(bring, data, "folder/some.log")

    response = web.get(reverse("web:artifact-download", args=[Artifact.objects.get().pk]))

    assert b"".join(response.streaming_content) == data  # type: ignore[attr-defined] # a FileResponse streams
    assert response.headers["Content-Disposition"] == 'attachment; filename="some.log"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
