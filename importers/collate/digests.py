"""Digests of what fragments say, whatever their files are called."""

import json
from hashlib import blake2b

from importers.model import Fragment, Reading


def content_digest(fragment: Fragment) -> str:
    """A digest of what a fragment says, whatever its file is called, wherever in it the lines stand."""
    fragment.digest = fragment.digest or _digest(fragment)
    return fragment.digest


def _digest(fragment: Fragment) -> str:
    counted = {
        "format": fragment.format,
        "kind": fragment.kind,
        "run": [fragment.run_id, fragment.trial, fragment.role, fragment.phase, fragment.host],
        "time": [str(fragment.taken), str(fragment.ended), fragment.zone, fragment.status],
        "facts": sorted([fact.key, fact.text] for fact in fragment.facts),
        "readings": sorted(map(_content, fragment.readings)),
        "counters": sorted(map(_content, fragment.counters)),
        "listings": [[each.name, each.columns, each.rows] for each in fragment.listings],
    }
    text = json.dumps(counted, sort_keys=True, ensure_ascii=False)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _content(reading: Reading) -> list[str]:
    return [reading.role, reading.subject, reading.name, reading.text, reading.unit]
