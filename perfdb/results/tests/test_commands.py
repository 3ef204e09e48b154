"""manage.py apitoken, signinlink and table"""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from perfdb.results.models import ApiToken
from perfdb.results.runs import access
from perfdb.results.tests.builders import make_run

pytestmark = pytest.mark.django_db


def called(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_a_token_is_the_owners() -> None:
    assert access.find_token_user(called("apitoken", "nightly").strip()) == access.find_owner()
    assert ApiToken.objects.get().name == "nightly"


def test_a_token_of_another_user() -> None:
    ada = User.objects.create_user("ada")
    assert access.find_token_user(called("apitoken", "nightly", "--user", "ada").strip()) == ada


def test_a_token_in_a_file_is_private_and_not_printed(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    file.chmod(0o644)
    assert called("apitoken", "nightly", "--write", str(file)) == ""
    assert access.find_token_user(file.read_text().strip()) == access.find_owner()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_makes_no_token(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot write"):
        called("apitoken", "nightly", "--write", str(tmp_path / "nowhere" / "token"))
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("arguments", [("apitoken", "nightly"), ("signinlink",)])
def test_an_unknown_user_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="there is no user 'eve'"):
        called(*arguments, "--user", "eve")


def test_a_link_signs_in_once() -> None:
    link = called("signinlink").strip()
    secret = link.removeprefix(f"{settings.SITE_URL}/sign-in/").removesuffix("/")
    assert link == f"{settings.SITE_URL}/sign-in/{secret}/"
    assert access.use_sign_in_link(secret) == access.find_owner()
    assert access.use_sign_in_link(secret) is None


def test_a_table_is_aligned() -> None:
    make_run("A", values={"trans_per_s": 9077.29})
    make_run("B", device="HiperSockets", users=20, values={"trans_per_s": 50.5})
    lines = called("table", "metric=trans_per_s&rows=device&columns=users").splitlines()
    (head,) = [line for line in lines if line.startswith("Device")]
    (first,) = [line for line in lines if line.startswith("HiperSockets")]
    (second,) = [line for line in lines if line.startswith("QDIO")]
    assert first.endswith("50.50")
    assert second.rstrip().endswith("9077")
    assert len(first) == len(head)


def test_a_table_says_what_it_mixes() -> None:
    make_run("A", mtu=1492)
    make_run("B", mtu=8192)
    assert "note: " in called("table", "metric=trans_per_s&rows=device")


def test_a_table_without_runs() -> None:
    assert "(no runs)" in called("table", "?metric=trans_per_s&rows=device")


def test_a_wrong_query_is_refused() -> None:
    with pytest.raises(CommandError, match="'colour' is not a parameter; known are: "):
        called("table", "colour=red")
