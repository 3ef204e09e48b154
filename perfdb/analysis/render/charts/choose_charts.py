"""Which figures a question's tables make: one for each, or what its drawing asks for instead."""

from collections.abc import Sequence

from perfdb.analysis.render.charts.axes import Figure
from perfdb.analysis.render.charts.chart_options import Draw, Drawing
from perfdb.analysis.render.charts.cost_chart import efficiency
from perfdb.analysis.render.charts.heat_map import heat_map
from perfdb.analysis.render.charts.plotly_chart import AS_USUAL, figure, figure_pair
from perfdb.analysis.render.charts.series_styles import PLAIN, Looks
from perfdb.analysis.render.charts.small_multiples import facets
from perfdb.analysis.render.charts.two_axes import two_axes
from perfdb.analysis.tables.table import Table


def figures(tables: Sequence[Table], drawing: Drawing = AS_USUAL, looks: Looks = PLAIN) -> list[Figure | None]:
    """The figures of the tables of one value of the split, each in its table's place.

    Where the first two make one figure, it stands in the first place and None in the second.
    """
    if drawing.draw is Draw.HEAT:
        return [heat_map(table) for table in tables]
    if drawing.draw in (Draw.BOTH, Draw.EFFICIENCY) and len(tables) > 1:
        together = two_axes if drawing.draw is Draw.BOTH else efficiency
        rest = [figure(table, drawing, looks) for table in tables[2:]]
        return [together(tables[0], tables[1], drawing, looks), None, *rest]
    if len(tables) == 2:
        return list(figure_pair(tables[0], tables[1], drawing, looks))
    return [figure(table, drawing, looks) for table in tables]


def in_one(tables: Sequence[Table], looks: Looks = PLAIN) -> Figure:
    """All tables in one figure, whatever they measure: small figures where there are several."""
    return facets(tables, looks=looks) if len(tables) > 1 else figure(tables[0], looks=looks)
