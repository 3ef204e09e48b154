"""Pages of a large archive, beside an empty view and beside a small archive."""

from collections.abc import Iterator

from bench import archive
from bench.instance import Instance
from bench.measure import Bar, Case, Work
from bench.questions import QUESTIONS

PAGE_BAR = Bar(seconds=0.3)
GROWTH_BAR = Bar(ratio=2.0)
_BEST = "/api/v1/tables/?metric=trans_per_s&workload=CRR&rows=device&pick=trans_per_s:device"
_PAGES = {
    "run list": "/runs/",
    "run list over REST": "/api/v1/runs/",
    "run list of a study, by throughput": f"/runs/?study={archive.slug(0)}&sort=-trans_per_s",
    "home": "/",
    "studies": "/studies/",
    "best per device over everything": _BEST,
}


def page_cases(instance: Instance) -> Iterator[Case]:
    """Yield a case for each page; its floor is an empty view."""
    for name, address in {**_PAGES, "one run": _one_run(instance)}.items():
        yield Case("pages", name, _get(instance, address), _get(instance, "/healthz"), PAGE_BAR)


def growth_cases(large: Instance, small: Instance) -> Iterator[Case]:
    """Yield a case for each question and page; its floor is the small archive."""
    addresses = {name: f"/api/v1/tables/?{question}" for name, question in QUESTIONS.items()} | _PAGES
    for name, address in addresses.items():
        yield Case("growth", f"{name}, {large.runs:,} runs", _get(large, address), _get(small, address), GROWTH_BAR)
    ours, theirs = _one_run(large), _one_run(small)
    yield Case("growth", f"one run, {large.runs:,} runs", _get(large, ours), _get(small, theirs), GROWTH_BAR)


def _get(instance: Instance, address: str) -> Work:
    return lambda: instance.client.get(address)


def _one_run(instance: Instance) -> str:
    found = instance.client.json(f"/api/v1/runs/?study={archive.slug(0)}&sort=run_id&size=1")
    return f"/runs/{found['results'][0]['id']}/"
