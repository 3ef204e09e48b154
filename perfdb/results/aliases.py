"""The aliases of a study, as its runs are prepared with them."""

from perfdb.results.models import Alias, Study, System
from perfdb.results.prepare.aliases import Aliases
from perfdb.results.record import SystemIdentity


def aliases_of(study: Study) -> Aliases:
    """All aliases of a study as they are now, with the systems where an alias may name one."""
    rows = list(Alias.objects.filter(study=study).order_by("pk").values_list("dimension", "folded", "meaning"))
    meanings = {(dimension, folded): meaning for dimension, folded, meaning in rows}
    return Aliases(meanings, systems() if any(dimension == "system" for dimension, _ in meanings) else {})


def systems() -> dict[str, SystemIdentity]:
    """All systems by name; of two that are called alike the older one counts."""
    rows = System.objects.order_by("-pk")
    return {row.name: SystemIdentity(row.machine, row.host, row.processors, row.memory_bytes) for row in rows}
