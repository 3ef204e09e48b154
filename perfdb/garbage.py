"""How often a process that serves for long looks for garbage in circles."""

import gc


def collect_seldom(after: int = 50_000) -> None:
    """Leave what is there now alone for ever, and look through what comes later less often than Python does by itself.

    An answer and a chunk of an import are made of tens of thousands of small objects, none of them in a circle: looking
    for circles after every 700 takes a third of the time. Call it once, when all code is loaded. It looks each time
    that ``after`` more objects are there than before; at most so many may be garbage that waits for it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(after, 20, 20)
