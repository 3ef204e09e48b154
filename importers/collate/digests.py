"""Digests of what fragments say, whatever their files are called."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from json.encoder import encode_basestring as quoted
from operator import itemgetter
from typing import NamedTuple

from importers.model import Fragment, Reading
from importers.packed import Facts, Head, Readings

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_PLACE = "\0"  # JSON has none.


def content_digest(fragment: Fragment) -> str:
    """A digest of what a fragment says, whatever its file is called, wherever in it the lines stand."""
    fragment.digest = fragment.digest or _digest(fragment)
    return fragment.digest


def _digest(fragment: Fragment) -> str:
    trial = "null" if fragment.trial is None else str(fragment.trial)
    run = [_quoted(each) for each in (fragment.run_id, fragment.role, fragment.phase, fragment.host)]
    times = map(quoted, (str(fragment.taken), str(fragment.ended), fragment.zone, fragment.status))
    counters = _encode(sorted(map(_content, fragment.counters))) if fragment.counters else "[]"
    listings = [[each.name, each.columns, each.rows] for each in fragment.listings]
    # In the order of these words.
    text = (
        f'{{"counters": {counters}, "facts": [{_facts(fragment)}], "format": {quoted(fragment.format)}, '
        f'"kind": {quoted(fragment.kind)}, "listings": {_encode(listings) if listings else "[]"}, '
        f'"readings": {_readings(fragment)}, "run": [{", ".join([run[0], trial, *run[1:]])}], '
        f'"time": [{", ".join(times)}]}}'
    )
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _quoted(text: str | None) -> str:
    return "null" if text is None else quoted(text)


def _facts(fragment: Fragment) -> str:
    facts = fragment.facts
    if isinstance(facts, Facts):
        return _pairs(facts.keys, tuple(facts.texts))
    return _pairs(tuple([each.key for each in facts]), tuple([each.text for each in facts]))


# Of many runs the same is said.
@lru_cache(4096)
def _pairs(keys: tuple[str, ...], texts: tuple[str, ...]) -> str:
    return ", ".join([f"[{quoted(key)}, {quoted(text)}]" for key, text in sorted(zip(keys, texts, strict=True))])


def _content(reading: Reading) -> list[str]:
    return [reading.role, reading.subject, reading.name, reading.text, reading.unit]


def _readings(fragment: Fragment) -> str:
    """All readings in JSON, in the order of their words."""
    readings = fragment.readings
    if isinstance(readings, Readings) and (form := _form(readings.heads)) is not None:
        texts = readings.texts
        together = "".join(texts)
        # None of the characters has to be escaped.
        if len(quoted(together)) == len(together) + 2:
            return form.filled(texts)
    return _encode(sorted(map(_content, readings)))


class _Form(NamedTuple):
    """Readings of certain heads as JSON in pieces, every other one a place for a text, and what orders the texts."""

    pieces: list[str]
    in_order: Callable[[list[str]], Sequence[str]]

    def filled(self, texts: list[str]) -> str:
        """The JSON with these texts."""
        pieces = self.pieces.copy()
        pieces[1::2] = self.in_order(texts)
        return "".join(pieces)


# Of many runs the same is measured.
@lru_cache(4096)
def _form(heads: tuple[Head, ...]) -> _Form | None:
    """None where the order depends on the texts too, or there is nothing to put into one."""
    ranks, entries = zip(*map(_entry, heads), strict=True) if heads else ((), ())
    if not heads or len(set(ranks)) < len(heads):
        return None
    order = sorted(range(len(heads)), key=ranks.__getitem__)
    pieces = [""] * (2 * len(heads) + 1)
    pieces[::2] = f"[{', '.join([entries[at] for at in order])}]".split(_PLACE)
    return _Form(pieces, itemgetter(*order) if len(order) > 1 else list)


@lru_cache(4096)
def _entry(head: Head) -> tuple[tuple[str, str], str]:
    """What a reading is put into order by, and the reading as JSON with a place for its text."""
    name, unit, role = map(_encode, head)
    return (head[2], head[0]), f'[{role}, "", {name}, "{_PLACE}", {unit}]'
