"""Short captures for tests, and the result of reading them."""

from importers.cp_query import console_capture as cp_query
from importers.files.text import decode
from importers.model import Fragment
from importers.tests.fixture_cases import Parsed, parse_with

HEAD = "* CPQUERY-CAPTURE 1 run_id=AB12 phase=before role=client userid=LINUXA"
USERID = ("query userid", "LINUXA   AT ZVM1")
TIME = (
    "query time",
    "TIME IS 14:05:01 EST TUESDAY 02/26/02",
    "CONNECT= 01:12:33 VIRTCPU= 017:25.51 TOTCPU= 033:40.12",
)
USER = (
    "indicate user",
    "USERID=LINUXA   MACH=XA  STOR=512M VIRT=V XSTORE=NONE",
    "IPLSYS=DEV 0201 DEVNUM=00014",
    "PAGES: RES=00131072 WS=00131004 LOCK=00000261 RESVD=00000000",
    "CPU 00: CTIME=01:12 VTIME=017:25 TTIME=033:40 IO=011873",
    "        RDR=000017 PRT=000411 PCH=000000",
)
VSWITCH = (
    "query vswitch vsw1 details",
    "VSWITCH SYSTEM VSW1     Type: VSWITCH Connected: 1    Maxconn: INFINITE",
    "    VSWITCH Connection:",
    "      RX Packets: 52290          Discarded: 1            Errors: 2",
    "      TX Packets: 40377          Discarded: 3            Errors: 4",
    "      RX Bytes: 4120877              TX Bytes: 3129001",
    "    Adapter Owner: LNXCL1   NIC: 0600  Name: UNASSIGNED",
    "      RX Packets: 38120          Discarded: 0            Errors: 0",
    "      RX Bytes: 2980121              TX Bytes: 3120433",
)


def parse(*lines: str, name: str = "before.client.txt", end: str = "\n") -> Parsed:
    decoded = decode(name, ("\n".join(lines) + end).encode())
    assert decoded.text is not None
    assert cp_query.recognise(decoded.text)
    return parse_with(cp_query, decoded.text)


def only(parsed: Parsed) -> Fragment:
    (fragment,) = parsed.fragments
    return fragment


def codes(parsed: Parsed) -> list[str]:
    assert all(problem.file and problem.message and problem.remedy for problem in parsed.problems)
    return [problem.code for problem in parsed.problems]


def counters(fragment: Fragment) -> dict[tuple[str, str], str]:
    return {(each.subject, each.name): each.text for each in fragment.counters}


def facts(fragment: Fragment) -> dict[str, str]:
    return {fact.key: fact.text for fact in reversed(fragment.facts)}
