"""Adapters in ``ip link`` and ``ethtool``: counters, MTU, driver and offloads."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from importers.files import json_documents
from importers.linux_snapshot.evidence import Evidence, Section
from importers.model import Text

_LINK = re.compile(r"\d+:\s+(?P<name>[^:@\s]+)(?:@\S+)?:\s+<[^>]*>(?P<rest>.*)")
_COUNTED = re.compile(r"\s*(?P<direction>RX|TX)(?P<errors> errors)?:\s+(?P<names>\S.*)")
_SETTINGS = ("mtu", "qdisc")
_LOOPBACK = "lo"
_PRETTY_HEAD = 8
# What ip calls otherwise than /proc/net/dev.
_SPELLED = {"mcast": "multicast", "collsns": "collisions", "missed": "missed", "overrun": "over"}
_OFFLOADS = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "udp-fragmentation-offload": "ufo",
    "scatter-gather": "sg",
    "rx-checksumming": "rx",
    "tx-checksumming": "tx",
}
_STATISTIC = re.compile(r"\s+(?P<name>\S.*?):\s+(?P<value>\d+)\s*")
_DRIVERS = {"peer_ifindex": "veth"}  # A statistic that only this driver has tells it, where nobody asked ethtool -i.
_FEATURE = re.compile(r"(?P<name>[a-z-]+):\s+(?P<state>on|off)\b.*")


def read_link(section: Section, evidence: Evidence) -> None:
    """Read ``ip -s -s link``: settings, then pairs of lines of names and values."""
    settings: dict[str, list[tuple[str, str, int]]] = {}
    subject, prefix, names = "", "", list[str]()
    for number, text in section.filled:
        if link := _LINK.match(text):
            subject, names = f"link/{link['name']}", []
            words = link["rest"].split()
            for key, value in pairwise(words):
                if key in _SETTINGS:
                    settings.setdefault(link["name"], []).append((key, value, number))
        elif subject and (head := _COUNTED.fullmatch(text)):
            prefix, names = head["direction"].lower() + ("_error_" if head["errors"] else "_"), head["names"].split()
        elif names:
            for name, value in zip(names, text.split(), strict=False):
                unit = "bytes" if name == "bytes" else "count"
                evidence.count(subject, prefix + _SPELLED.get(name, name), value, unit, number)
            names = []
    _keep_settings(settings, evidence)


def _keep_settings(settings: dict[str, list[tuple[str, str, int]]], evidence: Evidence) -> None:
    """Add ``mtu`` and ``qdisc`` of the only real adapter, or with adapter names."""
    adapters = [name for name in settings if name != _LOOPBACK]
    for name in adapters:
        for key, value, line in settings[name]:
            evidence.fact(key if len(adapters) == 1 else f"{key}.{name}", value, line)


def read_link_json(section: Section, evidence: Evidence) -> None:
    """Read ``ip -j -s link``."""
    settings: dict[str, list[tuple[str, str, int]]] = {}
    first = section.line + 1 if section.lines and section.lines[0][0] > section.line else section.line
    lines = [text for _, text in section.lines]
    for document in json_documents.documents(Text(evidence.found.file, lines, "")):
        for link in document.root.values():
            name = link.string("ifname")
            if name is None:
                continue
            for key in _SETTINGS:
                value = link.get(key)
                if value is not None:
                    settings.setdefault(name.text, []).append((key, value.text, first + value.line - 1))
            for direction in ("rx", "tx"):
                _count_members(f"link/{name.text}", direction, link, first, evidence)
    _keep_settings(settings, evidence)


def _count_members(subject: str, direction: str, link: json_documents.Node, first: int, evidence: Evidence) -> None:
    counted = link.get("stats64", direction) or link.get("stats", direction)
    keys = counted.keys() if counted else []
    for key, printed in zip(keys, map(counted.printed, keys) if counted else (), strict=True):
        text, line = printed or ("", link.line)
        name, unit = _counter(direction, key)
        evidence.count(subject, name, text, unit, first + line - 1)


@lru_cache(maxsize=256)
def _counter(direction: str, key: str) -> tuple[str, str]:
    """Return the name in ip's text output of a number in JSON, and the unit."""
    head, _, error = key.rpartition("_errors")
    name = f"{direction}_error_{head}" if head and not error else f"{direction}_{key}"
    return name, "bytes" if key == "bytes" else "count"


def read_statistics(section: Section, evidence: Evidence) -> None:
    """Read ``ethtool -S``, by the driver's own names."""
    for number, text in section.lines:
        if match := _STATISTIC.fullmatch(text):
            unit = "bytes" if match["name"].endswith("bytes") else "count"
            evidence.count(f"ethtool/{_device(section.title)}", match["name"], match["value"], unit, number)
            if driver := _DRIVERS.get(match["name"]):
                evidence.fact("driver", driver, number)


def read_features(section: Section, evidence: Evidence) -> None:
    """Read ``ethtool -k``: offloads as facts, such as ``offload.tso`` = on.

    Offloads change the meaning of the MTU.
    """
    for number, text in section.lines:
        match = _FEATURE.fullmatch(text)
        if match and match["name"] in _OFFLOADS:
            evidence.fact(f"offload.{_OFFLOADS[match['name']]}", match["state"], number)


def read_driver(section: Section, evidence: Evidence) -> None:
    """Read ``ethtool -i``: driver, version and firmware."""
    keys = {"driver": "driver", "version": "driver_version", "firmware-version": "firmware_version"}
    for number, text in section.filled:
        name, _, value = text.partition(":")
        if name in keys and value.strip() not in {"", "N/A"}:
            evidence.fact(keys[name], value, number)


def _device(title: str) -> str:
    """Return the adapter that a command names last."""
    words = [word for word in title.split()[1:] if not word.startswith("-")]
    return words[-1] if words else "adapter"


def is_link_json(lines: Sequence[str]) -> bool:
    """Return whether text is JSON of ``ip -j link``."""
    first = "".join(lines[:_PRETTY_HEAD])[:400].lstrip()
    return first.startswith("[") and '"ifname"' in first
