"""Printing to PDF with a real browser, and without one."""

import pytest

from frontend.tests.browser import system_browser
from perfdb.web.reports import report_pdf


def test_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    program = system_browser()
    if program is None:
        pytest.skip("no browser on this machine")
    monkeypatch.setenv("PERFDB_CHROMIUM", program)
    assert report_pdf.print_to_pdf("<!doctype html><title>x</title><p>Throughput").startswith(b"%PDF-")


def test_without_a_browser_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERFDB_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(report_pdf.NoBrowserError):
        report_pdf.print_to_pdf("")


@pytest.mark.parametrize("program", ["/bin/false", "/no/such/browser"])
def test_a_browser_that_does_not_print_is_an_error(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setenv("PERFDB_CHROMIUM", program)
    with pytest.raises(report_pdf.PrintingError):
        report_pdf.print_to_pdf("")
