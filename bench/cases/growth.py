"""What must not become slower as the archive grows: each page beside itself on the small archive."""

from collections.abc import Iterator

from bench import archive
from bench.case import Bar, Case
from bench.cases.queries import QUESTIONS
from bench.instance import Instance

BAR = Bar(ratio=2.0)
_BEST_OF_ALL = "/api/v1/tables/?metric=trans_per_s&workload=CRR&rows=device&pick=trans_per_s:device"


def cases(large: Instance, small: Instance) -> Iterator[Case]:
    """Addresses asked of both; the study is the same in both."""
    addresses = {name: f"/api/v1/tables/?{question}" for name, question in QUESTIONS.items()}
    addresses |= {
        "run list": "/runs/",
        "run list over REST": "/api/v1/runs/",
        "run list of a study, by throughput": f"/runs/?study={archive.slug(0)}&sort=-trans_per_s",
        "home": "/",
        "studies": "/studies/",
        "best per device over everything": _BEST_OF_ALL,
    }
    for name, address in addresses.items():
        yield _case(name, large, small, address, address)
    yield _case("one run", large, small, _one_run(large), _one_run(small))


def pages(instance: Instance) -> Iterator[Case]:
    """Page 1,000 of the run list beside page 1."""
    deep = _page(instance, 1000)
    yield Case(
        "growth",
        "page 1,000 of the run list",
        "page 1",
        lambda: instance.get(deep),
        lambda: instance.get("/api/v1/runs/?size=10"),
        BAR,
        lambda: len(instance.json(deep)["results"]) == 10,  # type: ignore[index]
    )


def _case(name: str, large: Instance, small: Instance, of_large: str, of_small: str) -> Case:
    return Case(
        "growth",
        f"{name}, {large.runs:,} runs",
        f"the same with {small.runs:,} runs",
        lambda: large.get(of_large),
        lambda: small.get(of_small),
        BAR,
    )


def _one_run(instance: Instance) -> str:
    """The page of the first run of the first study."""
    found = instance.json(f"/api/v1/runs/?study={archive.slug(0)}&sort=run_id&size=1")
    return f"/runs/{found['results'][0]['id']}/"  # type: ignore[index]


def _page(instance: Instance, number: int) -> str:
    """The address of a page of ten, found as people find it: by following the links."""
    address = "/api/v1/runs/?size=10"
    for _ in range(number - 1):
        following = instance.json(address)["next"]  # type: ignore[index]
        address = following[following.index("/api/") :]
    return address
