"""What browsers write on tabs: pages that were asked different questions have different titles."""

import re

import pytest
from django.test import Client

from perfdb.results.models import Run
from perfdb.web.templatetags.perfdb import breakable


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("/", "perfdb"),
        ("/runs/", "Runs · perfdb"),
        ("/runs/?q=NMG&device=QDIO GBE", "Runs · NMG · QDIO GBE · perfdb"),
        ("/charts/?metric=cpu_util@client&workload=RR", "Charts: CPU utilisation, client · RR · perfdb"),
        ("/ranking/?workload=RR&users=50", "Ranking · RR · 50 · perfdb"),
        ("/charts/?colour=red", "Charts · perfdb"),
        ("/ranking/?colour=red", "Ranking · perfdb"),
    ],
)
def test_a_title_says_what_was_asked(web: Client, run: Run, address: str, title: str) -> None:
    assert re.findall("<title>(.*)</title>", web.get(address).content.decode()) == [title]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("day1/before.client.txt", "day1/<wbr>before.<wbr>client.<wbr>txt"),
        ("a_b-c", "a_<wbr>b-<wbr>c"),
        ("./<b>", "./<wbr>&lt;b&gt;"),
        ("", ""),
    ],
)
def test_a_path_breaks_between_its_parts(path: str, shown: str) -> None:
    assert breakable(path) == shown
