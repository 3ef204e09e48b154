"""The order of first appearance, from which figures take their colours."""

import pytest
from pytest_django import DjangoAssertNumQueries

from perfdb.results.models import Device
from perfdb.results.runs.vocabulary import read_looks
from perfdb.results.tests.builders import make_run


@pytest.mark.django_db
def test_a_name_ranks_by_its_first_appearance(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    Device.objects.create(name="later removed").delete()
    make_run("B", device="vCTC", workload="RR")
    make_run("A", device="HiperSockets", workload="CRR")
    with django_assert_num_queries(1):
        found = read_looks()
    assert found.ranks["device"] == {"vCTC": 0, "HiperSockets": 1}
    assert found.ranks["workload"] == {"RR": 0, "CRR": 1}

    make_run("C", device="Guest LAN", workload="RR")
    assert read_looks().ranks["device"] == {"vCTC": 0, "HiperSockets": 1, "Guest LAN": 2}
