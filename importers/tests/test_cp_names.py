"""Names of capture files, for captures without head line."""

import pytest

from importers.file_names import phase_and_role_in


@pytest.mark.parametrize(
    ("name", "phase", "role"),
    [
        ("before.client.txt", "before", "client"),
        ("NMGBR950.before.client.txt", "before", "client"),
        ("x/NMGBR950/after.lpar.txt", "after", "lpar"),
        ("client_after.log", "after", "client"),
        ("NMGBR950/before/server", "before", "server"),
        ("AFTER.Client.TXT", "after", "client"),
        ("before.linuxc.txt", "before", "linuxc"),
        ("before.20020226.txt", "before", None),
        ("before.txt", "before", None),
        ("capture.txt", None, None),
        ("before-and-after.client.txt", None, "client"),
    ],
)
def test_phase_and_role_from_names(name: str, phase: str | None, role: str | None) -> None:
    assert phase_and_role_in(name) == (phase, role)
