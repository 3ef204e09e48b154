"""The MTU by the size of TCP's segments."""

# With time stamps 52 bytes of a packet are headers in IPv4 and 72 in IPv6, so that 1428 bytes may be an MTU of 1480
# or of 1500. Only of these sizes one can be sure.
_MTU = {"1448": "1500", "8948": "9000"}


def mtu_of(mss: str) -> str | None:
    """Return the MTU that a segment size implies for certain, else None."""
    return _MTU.get(mss)
