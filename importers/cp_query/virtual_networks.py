"""Counters in the responses of QUERY LAN, QUERY VSWITCH and QUERY NIC with DETAILS.

A counter's subject is ``network/owner/adapter`` (``VSW1/LNXCL1/0600``), or ``network/uplink`` for a virtual switch's
own connection. QUERY NIC repeats counters of QUERY VSWITCH for the same subject; the first counts.
"""

import re
from dataclasses import dataclass

from importers.cp_query.console_lines import Line
from importers.cp_query.responses import Evidence, Response
from importers.model import Reading

_NETWORK = re.compile(
    r"\s*(?:LAN|VSWITCH)\s+(?P<owner>\S+)\s+(?P<name>\S+)\s+Type:\s*(?P<type>\S+)"
    r"(?:\s+Connected:\s*(?P<connected>\S+))?(?:\s+Maxconn:\s*(?P<maxconn>\S+))?"
)
_ADAPTER = re.compile(r"\s*Adapter Owner:\s*(\S+)\s+NIC:\s*([0-9A-Fa-f]+)")
_NIC = re.compile(r"\s*Adapter\s+([0-9A-Fa-f]{4})\S*\s+Type:")
_ATTACHED = re.compile(r"\b(?:VSWITCH|LAN):\s*(?:\S+\s+(\S+)|(None))", re.IGNORECASE)
_OF_USER = re.compile(r"\buser\s+(\S+)")
_STATE = re.compile(r"\b(State|RDEV|Controller|Portname|IPTimeout):\s*(\S+)")
_TRAFFIC = re.compile(r"\b(RX|TX) (Packets|Bytes):\s*([0-9]+)(?![0-9])")
_DIRECTIONS = ("RX ", "TX ")
_COUNTERS = {
    (way, what): (f"{way}_{what}".lower(), unit)
    for way in ("RX", "TX")
    for what, unit in (("Packets", "count"), ("Bytes", "bytes"))
}
_TROUBLE = re.compile(r"\b(Discarded|Errors):\s*([0-9]+)(?![0-9])")


@dataclass(slots=True)
class _Place:
    """The network, owner and adapter of the next counters, by the last heading line."""

    network: str | None = None
    owner: str | None = None
    adapter: str | None = None

    @property
    def subject(self) -> str | None:
        if self.owner == "uplink" and self.network:
            return f"{self.network}/uplink"
        if not (self.owner and self.adapter):
            return None
        return f"{self.network or 'none'}/{self.owner}/{self.adapter}"


def read_network(response: Response, evidence: Evidence, role: str) -> None:
    """Read adapter counters of a response; networks become facts ``lan.<name>.…``."""
    words = ("LAN", "VSWITCH", "X Packets:", "X Bytes:")
    if not (response.command.startswith("query nic") or any(word in response.text for word in words)):
        return
    place = _Place()
    for line in response.lines:
        if ":" not in line.text:
            continue
        if line.text.lstrip().startswith(_DIRECTIONS) or not _read_heading(line, response, place, evidence):
            _read_state(line, place, evidence)
            _read_counters(line, place, evidence, role)


def _read_heading(line: Line, response: Response, place: _Place, evidence: Evidence) -> bool:
    """Move to the block that a heading line opens; return False for other lines."""
    if head := _NETWORK.match(line.text):
        place.network, place.owner, place.adapter = head["name"], None, None
        for key in ("owner", "type", "connected", "maxconn"):
            if head[key]:
                evidence.fact(f"lan.{head['name']}.{key}", head[key], line.number)
    elif line.text.strip() == "VSWITCH Connection:":
        place.owner, place.adapter = "uplink", None
    elif adapter := _ADAPTER.match(line.text):
        place.owner, place.adapter = adapter[1], adapter[2].upper()
    elif nic := _NIC.match(line.text):
        user = _OF_USER.search(response.command)
        place.network, place.adapter = None, nic[1].upper()
        place.owner = user[1].upper() if user else evidence.host
    elif response.command.startswith("query nic") and (attached := _ATTACHED.search(line.text)):
        place.network = attached[1]
    else:
        return False
    return True


def _read_state(line: Line, place: _Place, evidence: Evidence) -> None:
    """Read the uplink in a network's head: state, real device, controller."""
    if place.network is not None and place.adapter is None:
        for label, text in _STATE.findall(line.text):
            evidence.fact(f"lan.{place.network}.{label.lower()}", text, line.number)


def _read_counters(line: Line, place: _Place, evidence: Evidence, role: str) -> None:
    traffic = _traffic(line.text) if "X " in line.text else []
    if not traffic:
        return
    subject = place.subject
    if subject is None:
        message = "These packet counters belong to no adapter that the capture names; they were left out."
        evidence.found.warn("cp_query.no-adapter", message, "Capture the whole response.", line.number)
        return
    for name, text, unit in traffic:
        evidence.count(Reading(name, text, unit, line.number, role, subject))


def _traffic(text: str) -> list[tuple[str, str, str]]:
    """Return the counters of a line: name, text and unit."""
    traffic = [(*_COUNTERS[way, what], count) for way, what, count in _TRAFFIC.findall(text)]
    trouble = _TROUBLE.findall(text) if traffic else []
    return [
        *((name, count, unit) for name, unit, count in traffic),
        *((f"{traffic[0][0][:2]}_{what.lower()}", count, "count") for what, count in trouble),
    ]
