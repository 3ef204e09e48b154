"""Preparation of an instance's database: migrations, demo data, published studies.

One process runs all steps, since starting Django takes longer than each step. The sign-in link goes to a file of its
own, not to the log.
"""

import sys
from pathlib import Path

import django
from django.core.management import call_command


def main(link: Path, *, alone: bool) -> None:
    """Prepare the database and write a sign-in link's path.

    ``alone``: no worker can be alive, so interrupted jobs need not wait for their leases.
    """
    django.setup()
    call_command("migrate", interactive=False)
    call_command("loaddemo")
    call_command("loadstudies", "--background")
    if alone:
        call_command("releasejobs")
    link.touch(mode=0o600)
    with link.open("w", encoding="utf-8") as output:
        call_command("signinlink", stdout=output)


if __name__ == "__main__":
    main(Path(sys.argv[1]), alone="--alone" in sys.argv)
