"""The browser of the browser tests."""

import pytest
from playwright.sync_api import Error, Page, expect


def test_draws_a_page(page: Page) -> None:
    page.goto("data:text/html,<h1>perfdb</h1><script>document.querySelector('h1').append(' runs')</script>")
    expect(page.get_by_role("heading", name="perfdb runs")).to_be_visible()


def test_resolves_no_other_host(page: Page) -> None:
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("http://example.com/")
