"""Roles of guests in monitor reports.

The fact ``roles`` of a person counts first (``client=LNXCL1 nontcp=RRCLI*,RRSRV*``), then the driver's log. Where the
log names TCP/IP stacks with guests of their own, each stack is a role named by its user ID in lower case, and the
driver's clients and servers together are ``nontcp``; else the roles are ``client`` and ``server``.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from perfdb.results.runs.record import FactValue

ROLES = "roles"
NONTCP = "nontcp"

_STACKS = ("client_stack", "server_stack")
_RANGE = re.compile(r"(?P<stem>[A-Z@#$_-]*[A-Z@#$_])(?P<first>[0-9]{1,6})-(?P<last>[0-9]{1,6})")


def roles_of_guests(facts: Mapping[str, FactValue], guests: Iterable[str]) -> dict[str, str]:
    """Return the role of each user ID; guests without a role are left out."""
    patterns = [*_given(facts), *_stated(facts)]
    found = ((guest, role) for guest in guests for role, pattern in patterns if _fits(guest.upper(), pattern))
    roles: dict[str, str] = {}
    for guest, role in found:
        roles.setdefault(guest, role)
    return roles


def _given(facts: Mapping[str, FactValue]) -> Iterable[tuple[str, str]]:
    for entry in re.split(r"[\s;]+", facts[ROLES].text.strip()) if ROLES in facts else []:
        role, equals, patterns = entry.partition("=")
        if role and equals:
            yield from ((role.lower(), pattern) for pattern in patterns.split(",") if pattern)


def _stated(facts: Mapping[str, FactValue]) -> Iterable[tuple[str, str]]:
    stacks = [facts[key].text for key in _STACKS if key in facts]
    yield from ((stack.lower(), stack) for stack in stacks)
    for key in ("client", "server"):
        if key in facts:
            yield NONTCP if stacks else key, facts[key].text


def _fits(guest: str, pattern: str) -> bool:
    """Return whether a guest fits a name, pattern or range (``RRCLI01-10``)."""
    wanted = pattern.upper()
    numbered = _RANGE.fullmatch(wanted)
    if numbered is None:
        return fnmatchcase(guest, wanted)
    number = guest.removeprefix(numbered["stem"])
    alike = guest.startswith(numbered["stem"]) and re.fullmatch(r"[0-9]{1,6}", number) is not None
    return alike and int(numbered["first"]) <= int(number) <= int(numbered["last"])
