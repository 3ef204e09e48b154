"""A Table as a Plotly figure: what is drawn is decided here, how it looks by the page's style sheet."""

from typing import Any

from perfdb.analysis.table import Table


def figure(table: Table) -> dict[str, Any]:
    """``{"data", "layout"}``: lines over a numeric dimension, grouped bars otherwise."""
    raise NotImplementedError


def figure_pair(throughput: Table, cost: Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two figures with the same series in the same order and colours."""
    raise NotImplementedError
