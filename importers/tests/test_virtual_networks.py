"""QUERY LAN, VSWITCH and NIC: packet counters and the network."""

import pytest

from importers.tests.captures import HEAD, TIME, VSWITCH, codes, counters, facts, only, parse


def test_adapter_counters_have_network_owner_and_adapter_as_subject() -> None:
    fragment = only(parse(HEAD, *TIME, *VSWITCH))
    texts = counters(fragment)
    assert texts["VSW1/uplink", "rx_packets"] == "52290"
    assert texts["VSW1/uplink", "tx_bytes"] == "3129001"
    assert [texts["VSW1/uplink", f"{way}_{what}"] for way in ("rx", "tx") for what in ("discarded", "errors")] == [
        *("1", "2", "3", "4")
    ]
    assert texts["VSW1/LNXCL1/0600", "rx_bytes"] == "2980121"
    units = {each.name: each.unit for each in fragment.counters}
    assert (units["rx_packets"], units["rx_bytes"]) == ("count", "bytes")


def test_head_lines_of_networks_are_facts() -> None:
    kept = facts(only(parse(HEAD, *TIME, *VSWITCH)))
    assert [kept[f"lan.VSW1.{key}"] for key in ("owner", "type", "connected", "maxconn")] == [
        *("SYSTEM", "VSWITCH", "1", "INFINITE")
    ]


def test_query_nic_repeats_the_same_counters() -> None:
    nic = (
        "query nic 0600 user lnxcl1 details",
        "Adapter 0600  Type: QDIO      Name: UNASSIGNED  Devices: 3",
        "  Port 0 MAC: 02-00-00-00-00-03  VSWITCH: SYSTEM VSW1",
        "  RX Packets: 38125          Discarded: 0            Errors: 0",
    )
    fragment = only(parse(HEAD, *TIME, *VSWITCH, *nic))
    seen = [each.text for each in fragment.counters if (each.subject, each.name) == ("VSW1/LNXCL1/0600", "rx_packets")]
    assert seen == ["38120"]


@pytest.mark.parametrize(
    ("command", "attached", "subject"),
    [
        ("q nic 0600 user lnxcl1 details", "VSWITCH: SYSTEM VSW1", "VSW1/LNXCL1/0600"),
        ("q nic 0600 details", "LAN: SYSTEM GLAN", "GLAN/LINUXA/0600"),
        ("q nic 0600 details", "LAN: None", "none/LINUXA/0600"),
    ],
)
def test_query_nic_alone_names_owner_and_network(command: str, attached: str, subject: str) -> None:
    lines = [
        *(command, "Adapter 0600.P00 Type: QDIO      Name: UNASSIGNED  Devices: 3"),
        *(f"  MAC: 02-00-00-00-00-03  {attached}", "  RX Bytes: 12      TX Bytes: 34"),
    ]
    assert counters(only(parse(HEAD, *TIME, *lines)))[subject, "tx_bytes"] == "34"


def test_packet_counters_of_no_adapter_are_reported() -> None:
    parsed = parse(HEAD, *TIME, "q lan details", "  RX Packets: 5   Discarded: 0   Errors: 0")
    assert codes(parsed) == ["cp_query.no-adapter"]
