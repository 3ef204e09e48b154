"""The header of every page: one line, with long names too."""

from itertools import pairwise

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import sign_in

ONE_LINE = 48


@pytest.mark.parametrize("name", ["owner", "bartholomew.featherstonehaugh@measurements.example"])
def test_it_is_one_line_and_no_wider_than_the_window(page: Page, live_server: LiveServer, name: str) -> None:
    sign_in(page, live_server)
    page.locator(".who").evaluate("(element, name) => { element.textContent = name }", name)
    wrong = []
    for width in (860, 1000, 1024, 1100, 1200, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 700})
        height = page.locator(".top").evaluate("element => element.offsetHeight")
        wider = page.locator("html").evaluate("root => root.scrollWidth > root.clientWidth")
        if height > ONE_LINE or wider:
            wrong.append((width, height, wider))
        parts = page.locator(".top > *:visible").evaluate_all("all => all.map(each => each.getBoundingClientRect())")
        for left, right in pairwise(parts):
            assert left["right"] <= right["left"], (width, left, right)
    assert wrong == []


def test_what_the_search_box_has_no_room_for_a_link_does(page: Page, live_server: LiveServer) -> None:
    sign_in(page, live_server)
    for width in (860, 1000, 1100, 1280):
        page.set_viewport_size({"width": width, "height": 700})
        box, link = (
            page.get_by_role("combobox", name="Search runs, devices, studies, files"),
            page.get_by_role("link", name="Search"),
        )
        assert box.is_visible() != link.is_visible()
