"""What part a fragment plays in its run."""

from importers.model import Fragment, Kind


def is_client(fragment: Fragment) -> bool:
    """Whether it is the load tool's own log, of the side that makes the load."""
    return fragment.kind is Kind.DRIVER and fragment.role != "server"


def is_peer(fragment: Fragment) -> bool:
    """Whether it is the load tool's log of the side that answers."""
    return fragment.kind is Kind.DRIVER and fragment.role == "server"


def is_evidence(fragment: Fragment) -> bool:
    """Whether it is a snapshot or a report."""
    return fragment.kind in {Kind.SNAPSHOT, Kind.REPORT}


def is_setting(fragment: Fragment) -> bool:
    """Whether it has facts alone, of no time and no host, so that it may hold for several runs: a profile, say."""
    figures = fragment.readings or fragment.counters or fragment.listings
    return fragment.kind is Kind.REPORT and not (figures or fragment.taken or fragment.host)
