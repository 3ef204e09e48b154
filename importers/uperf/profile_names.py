"""What a profile's name says of its workload, by IBM's way of naming: ``rr1c-200x1000``, ``str-readx30k``.

A name is no proof. Whether "read" means that the client reads, two of IBM's own pages say differently; here it does.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

_SIZE = r"(\d{1,15}[kmg]?)"
_EXCHANGE = re.compile(rf"(rr|crr|strg|strp)(?:\d+c)?-{_SIZE}x{_SIZE}(?:-+\d+)?", re.IGNORECASE)
_STREAM = re.compile(rf"str-(read|write)x{_SIZE}(?:-+\d+)?", re.IGNORECASE)


@lru_cache(64)
def assumed(profile: str) -> Mapping[str, str]:
    """The facts that a profile's name suggests; none for a name that is not of this kind."""
    # Run after run of a log is of the same profile.
    exchange = _EXCHANGE.fullmatch(profile)
    if exchange is not None:
        keys = ("workload", "request_bytes", "response_bytes")
        return dict(zip(keys, (exchange[1].upper(), exchange[2], exchange[3]), strict=True))
    stream = _STREAM.fullmatch(profile)
    if stream is not None:
        return {"workload": "STRG" if stream[1].lower() == "read" else "STRP", "message_bytes": stream[2]}
    return {}
