"""Digests of the content of fragments, independent of file names and line numbers."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from operator import itemgetter

from importers.model import Fragment, Reading

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_key_and_text = itemgetter(0, 1)
_role_to_unit = itemgetter(4, 5, 0, 1, 2)


def content_digest(fragment: Fragment) -> str:
    """Return a digest of a fragment's content; stored digests must not change."""
    fragment.digest = fragment.digest or _digest(fragment)
    return fragment.digest


def _digest(fragment: Fragment) -> str:
    content = {
        "counters": _sorted(fragment.counters),
        "facts": sorted(map(_key_and_text, fragment.facts)),
        "format": fragment.format,
        "kind": fragment.kind,
        "listings": [[each.name, each.columns, each.rows] for each in fragment.listings],
        "readings": _sorted(fragment.readings),
        "run": [fragment.run_id, fragment.trial, fragment.role, fragment.phase, fragment.host],
        "time": [str(fragment.taken), str(fragment.ended), fragment.zone, fragment.status],
    }
    return blake2b(_encode(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _sorted(readings: Iterable[Reading]) -> list[tuple[str, ...]]:
    return sorted(map(_role_to_unit, readings))
