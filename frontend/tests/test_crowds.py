"""Charts of thousands of trials: few elements, and each trial is reachable."""

from typing import Any

from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, add_chart, settled, sign_in

USERS = (1, 5, 10, 50)
EACH = 250
SERIES = 5
HIGHEST = 20_000
AXIS = {"rangemode": "tozero", "autorangeoptions": {"clipmin": -HIGHEST, "clipmax": HIGHEST}}
# Asks for where a trial of a series stands on the screen.
_PLACE = """(chart, [series, at]) => {
  const { xaxis, yaxis } = chart.plot._fullLayout;
  const box = chart.plot.getBoundingClientRect();
  const trace = chart.trials[series];
  return [box.x + xaxis._offset + xaxis.d2p(trace.x[at]), box.y + yaxis._offset + yaxis.d2p(trace.y[at])];
}"""


def crowd(page: Page, live_server: LiveServer, run: int, **first: object) -> Locator:
    """Return a chart of five lines of a thousand trials, on a page of charts."""
    sign_in(page, live_server)
    settled(page, f"{live_server.url}/charts/?metric=trans_per_s&workload=RR&mtu=1500&rows=users&columns=device")
    data = [_line(0) | first, *map(_line, range(1, SERIES))] + [_trials(number, run) for number in range(SERIES)]
    title = {"text": "Rate", "subtitle": {"text": "5 lines &amp; their trials"}}
    layout = {"title": title, "hovermode": "closest", "showlegend": True, "yaxis": AXIS}
    return add_chart(page, {"data": data, "layout": layout})


def test_thousands_of_trials_are_few_elements_and_lead_to_their_runs(
    page: Page, live_server: LiveServer, filled: dict[str, int], watch: Watch
) -> None:
    chart = crowd(page, live_server, filled["run"])
    expect(chart.locator(".chart-subtitle")).to_have_text("5 lines & their trials")
    expect(chart.locator("g.marks")).to_have_count(SERIES)
    # Plotly knows of the lines alone.
    expect(chart.locator(".scatterlayer .trace")).to_have_count(SERIES)
    assert chart.locator("*").count() < 500

    # The highest of all trials: the axis reaches to it.
    place = chart.evaluate(_PLACE, [SERIES - 1, EACH * 4 - 1])
    page.mouse.move(*place)
    expect(chart.locator(".chart-tip")).to_have_text(f"line 4 <&>\n50 users\nrun {filled['run']}: {_height(4, 999):g}")
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(f"{live_server.url}/runs/{filled['run']}/")


def test_trials_go_with_their_line_and_what_is_hidden_stays_so_in_another_theme(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    chart = crowd(page, live_server, filled["run"])
    top = "(chart) => chart.plot._fullLayout.yaxis.range[1]"
    before = chart.evaluate(top)
    assert before > _height(4, 999)
    colours = chart.locator("g.marks path").evaluate_all("paths => paths.map((path) => path.getAttribute('fill'))")

    chart.locator(".legendtoggle").last.click(force=True)
    expect(chart.locator("g.marks")).to_have_count(SERIES - 1)
    page.wait_for_function(f"(before) => ({top})(document.querySelector('[data-figure=added]')) < before", arg=before)

    page.locator("[data-theme-toggle]").click()
    expect(chart.locator("g.marks path").first).not_to_have_attribute("fill", colours[0])
    expect(chart.locator("g.marks")).to_have_count(SERIES - 1)


def test_an_axis_goes_no_further_than_it_may_until_what_goes_on_beyond_it_is_hidden(
    page: Page, live_server: LiveServer, filled: dict[str, int]
) -> None:
    """Error bars are cut at the chart's edge; trials are inside."""
    chart = crowd(
        page, live_server, filled["run"], error_y={"array": [9 * HIGHEST] * len(USERS), "arrayminus": [0] * len(USERS)}
    )
    top = "(chart) => chart.plot._fullLayout.yaxis.range[1]"
    assert chart.evaluate(top) == HIGHEST

    chart.locator(".legendtoggle").first.click(force=True)
    page.wait_for_function(f"(most) => ({top})(document.querySelector('[data-figure=added]')) < most / 2", arg=HIGHEST)
    assert chart.evaluate(top) > _height(SERIES - 1, EACH * len(USERS) - 1)


def _height(number: int, at: int) -> float:
    return 1000.0 * (number + 1) + at


def _line(number: int) -> dict[str, Any]:
    name = f"line {number} &lt;&amp;&gt;"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "meta": {"series": number},
        "marker": {"symbol": "circle"},
        "x": list(USERS),
        "y": [_height(number, EACH * place) for place in range(len(USERS))],
        "hoverinfo": "text",
        "hovertext": [f"{name}<br>{users} users" for users in USERS],
        "customdata": [{"line": 2, "runs": []} for _ in USERS],
    }


def _trials(number: int, run: int) -> dict[str, Any]:
    """Trials that lie above each other at each number of users."""
    line = _line(number)
    name = line["name"]
    places = [(USERS[at // EACH], _height(number, at)) for at in range(EACH * len(USERS))]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "legendgroup": name,
        "showlegend": False,
        "meta": {"series": number, "trials": "lines"},
        "marker": {"symbol": "circle", "size": 5},
        "x": [users for users, _ in places],
        "y": [height for _, height in places],
        "hoverinfo": "text",
        "hovertext": [f"{name}<br>{users} users<br>run {run}: {height:g}" for users, height in places],
        "customdata": [{"line": 2, "runs": [run]} for _ in places],
    }
