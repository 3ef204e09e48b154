"""Stored digests must not change: digests of JSON with fixed order."""

import json
from hashlib import blake2b
from random import Random

import pytest

from importers.model import Fact, Fragment, Kind, Listing, Reading, content_digest

_WORDS = (
    "cpu",
    "cpu_ms",
    "100 %s",
    "cpu-x",
    "cpu.y",
    "a b",
    "a",
    'quo"ted',
    "back\\slash",
    "ä€",
    "x!",
    "",
    "1/s",
    "new\nline",
)


def _plain(fragment: Fragment) -> str:
    def content(readings: object) -> list[list[str]]:
        return sorted([each.role, each.subject, each.name, each.text, each.unit] for each in readings)  # type: ignore[attr-defined]

    counted = {
        "format": fragment.format,
        "kind": fragment.kind,
        "run": [fragment.run_id, fragment.trial, fragment.role, fragment.phase, fragment.host],
        "time": [str(fragment.taken), str(fragment.ended), fragment.zone, fragment.status],
        "facts": sorted([fact.key, fact.text] for fact in fragment.facts),
        "readings": content(fragment.readings),
        "counters": content(fragment.counters),
        "listings": [[each.name, each.columns, each.rows] for each in fragment.listings],
    }
    text = json.dumps(counted, sort_keys=True, ensure_ascii=False)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@pytest.mark.parametrize("seed", range(200))
def test_a_digest_is_that_of_the_whole_as_json(seed: int) -> None:
    random = Random(seed)
    words = _WORDS[: 4 if seed % 2 else None]
    readings = [
        Reading(random.choice(words), random.choice(("1", "-2.5", "1e3", *words)), random.choice(words), 3)._replace(
            role=random.choice(words)
        )
        for _ in range(random.randrange(12))
    ]
    facts = [Fact(random.choice(words), random.choice(words), 2) for _ in range(3)]
    listing = Listing("intervals", (("t0", "s"), ("n", "")), (("1", None), ("2", "x")), (4, 5))
    fragment = Fragment(
        *("f", "awm", 1, Kind.DRIVER, 1, 2, "R1"),
        facts=facts,
        readings=readings,
        listings=(listing,),
    )
    assert content_digest(fragment) == _plain(fragment)
