"""Interval of the garbage collector in long-running processes."""

import gc


def collect_seldom(after: int = 50_000) -> None:
    """Freeze all present objects and collect garbage less often.

    Answers and import chunks are tens of thousands of small objects without cycles; looking for cycles after every 700
    takes a third of the time. Call once, when all code is loaded. At most ``after`` objects wait for a collection.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(after, 20, 20)
