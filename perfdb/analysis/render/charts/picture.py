"""A chart as a picture of its own, drawn by matplotlib from the figure that a browser's Plotly draws."""

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import groupby, pairwise
from textwrap import wrap
from threading import Lock
from typing import Any, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from perfdb.analysis.units import significant_text

Form = Literal["svg", "png"]

_DPI = 100
_SMALL, _TEXT, _TITLE = 8.5, 9.5, 13.0
_DASHES: Mapping[str, Any] = {
    "solid": "-", "dash": (0, (5, 2)), "dot": (0, (1, 1.6)), "dashdot": (0, (5, 2, 1, 2)), "longdash": (0, (9, 3)),
    "longdashdot": (0, (9, 3, 1, 3)),
}  # fmt: skip
_MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v", "cross": "P", "x": "X",
    "star": "*", "hexagon": "h", "pentagon": "p", "line-ew": "_",
}  # fmt: skip
_HATCHES = {"/": "////", "\\": "\\\\\\\\", "x": "xxx", "-": "---", "|": "|||", "+": "+++", ".": "..."}
# Pixels: a character of a legend, the specimen before a name, and a line of the legend and of the heading.
_CHARACTER, _SPECIMEN, _LINE = 6.4, 48, 19
# The least distance of two names at line ends, in pixels.
_APART = 15
# matplotlib draws one picture at a time.
_DRAWING = Lock()


@dataclass(frozen=True, slots=True)
class Look:
    """Size in pixels, and a theme's colours by name in the style sheet.

    ``scale``: a PNG has so many pixels for each of them, so that words can be read on a slide.
    """

    width: float
    height: float
    colours: Mapping[str, str]
    scale: float = 1.0


def draw_picture(figure: Mapping[str, Any], heading: str, lines: Sequence[str], look: Look, form: Form) -> bytes:
    """Return a Plotly figure as SVG or PNG, below a heading and further lines."""
    with _DRAWING, rc_context({"font.size": _TEXT, "svg.fonttype": "none", "svg.hashsalt": "perfdb"}):
        drawn = Figure(figsize=(look.width / _DPI, look.height / _DPI), dpi=_DPI, facecolor=look.colours["surface"])
        top = _write_heading(drawn, heading, lines, look)
        bottom = _write_legend(drawn, figure, look)
        _draw_axes(drawn, figure, look, top, bottom)
        out = io.BytesIO()
        options: dict[str, Any] = {"metadata": {"Date": None}} if form == "svg" else {"dpi": _DPI * look.scale}
        drawn.savefig(out, format=form, **options)
    return out.getvalue()


def _plain(text: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", text.replace("<br>", "\n"))).replace("$", r"\$")


def _write_heading(drawn: Figure, heading: str, lines: Sequence[str], look: Look) -> float:
    """Write the heading; return the pixels that it takes."""
    y = 14.0
    for size, colour, weight, text in (
        (_TITLE, "text", "bold", heading),
        *((_TEXT, "muted", "normal", line) for line in lines if line),
    ):
        for line in wrap(_plain(text), int((look.width - 32) / (size * (0.9 if weight == "bold" else 0.76)))):
            drawn.text(16 / look.width, 1 - y / look.height, line, color=look.colours[colour], size=size,
                       weight=weight, va="top")  # fmt: skip
            y += size * 1.4 + 6
    return y + 10


def _colour(look: Look, series: object) -> str:
    return look.colours["muted"] if series is None else look.colours[f"series-{series}"]


def _write_legend(drawn: Figure, figure: Mapping[str, Any], look: Look) -> float:
    """Write the legend at the bottom; return the pixels that it takes."""
    layout = figure["layout"]
    named = [trace for trace in figure["data"] if trace.get("name") and trace.get("showlegend", True)]
    named = list({trace["name"]: trace for trace in reversed(named)}.values())[::-1]
    named.sort(key=lambda trace: trace.get("legendrank", 1000))
    if not layout.get("showlegend") or not named or "direct" in layout.get("meta", {}):
        return 12
    names = [_plain(trace["name"]) for trace in named]
    columns = max(1, int((look.width - 32) / (max(map(len, names)) * _CHARACTER + _SPECIMEN)))
    title = _plain(layout.get("legend", {}).get("title", {}).get("text", ""))
    legend = drawn.legend(
        [_specimen(trace, look) for trace in named], names, loc="lower left", ncols=columns, frameon=False,
        bbox_to_anchor=(8 / look.width, 2 / look.height), fontsize=_SMALL, labelcolor=look.colours["text"],
        title=title or None, alignment="left", handlelength=3, columnspacing=1.6,
    )  # fmt: skip
    legend.get_title().set(color=look.colours["muted"], size=_SMALL)
    return math.ceil(len(names) / columns) * _LINE + (_LINE if title else 0) + 14


def _specimen(trace: Mapping[str, Any], look: Look) -> Line2D | Patch:
    colour = _trace_colour(trace, look)
    if trace["type"] == "bar":
        return Patch(facecolor=colour, edgecolor=look.colours["surface"], hatch=_hatch(trace, 0))
    symbol = _symbols(trace, 1)[0]
    has_line = "lines" in trace["mode"]
    dash: Any = _DASHES.get(trace.get("line", {}).get("dash", "solid"), "-") if has_line else "none"
    return Line2D(
        [], [], color=colour, linestyle=dash, alpha=trace.get("opacity", 1), markersize=5,
        marker=_marker(symbol) if "markers" in trace["mode"] else "none",
        markerfacecolor=_fill(trace, symbol, look), markeredgecolor=colour,
    )  # fmt: skip


def _trace_colour(trace: Mapping[str, Any], look: Look) -> str:
    series = trace.get("meta", {}).get("series", 0)
    return _colour(look, series[0] if isinstance(series, list) else series)


def _marker(symbol: str) -> str:
    return _MARKERS.get(symbol.removesuffix("-open"), "o")


def _fill(trace: Mapping[str, Any], symbol: str, look: Look) -> str:
    meta = trace.get("meta", {})
    hollow = symbol.endswith("-open") or meta.get("hollow") or meta.get("trials")
    return look.colours["surface"] if hollow else _trace_colour(trace, look)


def _symbols(trace: Mapping[str, Any], count: int) -> list[str]:
    symbol = trace.get("marker", {}).get("symbol", "circle")
    return symbol if isinstance(symbol, list) else [symbol] * count


def _hatch(trace: Mapping[str, Any], at: int) -> str:
    shape = trace.get("marker", {}).get("pattern", {}).get("shape", "")
    return _HATCHES.get(shape[at] if isinstance(shape, list) else shape, "")


def _place(
    room: tuple[float, float, float, float], look: Look, x: Sequence[float], y: Sequence[float]
) -> tuple[float, float, float, float]:
    """Return left, bottom, width and height in shares of the picture, for shares of a room in pixels."""
    left, bottom, width, height = room
    return (
        (left + x[0] * width) / look.width,
        (bottom + y[0] * height) / look.height,
        (x[1] - x[0]) * width / look.width,
        (y[1] - y[0]) * height / look.height,
    )


def _axis(layout: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the layout of an axis by its short name: ``y2`` for ``yaxis2``."""
    found: Mapping[str, Any] = layout.get(f"{name[0]}axis{name[1:]}", {})
    return found


def _draw_axes(drawn: Figure, figure: Mapping[str, Any], look: Look, top: float, bottom: float) -> None:
    """Draw all traces on axes, in the room between heading and legend."""
    data, layout = figure["data"], figure["layout"]
    x_of = {trace.get("yaxis", "y"): trace.get("xaxis", "x") for trace in data}
    ends = layout.get("meta", {}).get("direct", {}).get("ends", ())
    longest = max((len(_plain(end["name"])) for end in ends), default=0)
    right = 76.0 if any("overlaying" in _axis(layout, name) for name in x_of) else 20.0 + longest * _CHARACTER
    heads = 18.0 if len(layout.get("annotations", ())) else 0.0
    room = (76.0, bottom + 46, look.width - 76 - right, look.height - top - bottom - 46 - heads)
    axes: dict[str, Axes] = {}
    for name in sorted(x_of, key=lambda name: int(name[1:] or 1)):
        x, y = _axis(layout, x_of[name]), _axis(layout, name)
        if "overlaying" in y:
            axes[name] = axes[y["overlaying"]].twinx()
        else:
            place = _place(room, look, x.get("domain", (0, 1)), y.get("domain", (0, 1)))
            axes[name] = drawn.add_axes(place, sharey=axes.get(y.get("matches", "")))
    places = {name: _places(_axis(layout, x_of[name]), data) for name in axes}
    for name, ax in axes.items():
        own = [trace for trace in data if trace.get("yaxis", "y") == name]
        _draw_traces(ax, own, places[name], layout.get("barmode"), look)
    for name, ax in axes.items():
        ax.set_facecolor("none")
        if "overlaying" not in _axis(layout, name):
            _style_axis(ax, "x", _axis(layout, x_of[name]), places[name], look)
        _style_axis(ax, "y", _axis(layout, name), {}, look)
        for spine in ax.spines.values():
            spine.set_color(look.colours["line"])
    _name_lines(axes, ends, look)
    for note in layout.get("annotations", ()):
        x, y = (
            _axis(layout, note.get(ref, "paper").partition(" ")[0]).get("domain", (0, 1)) for ref in ("xref", "yref")
        )
        left, low, width, height = _place(room, look, x, y)
        drawn.text(left + note.get("x", 0.5) * width, low + note.get("y", 0.5) * height, _plain(note["text"]),
                   ha="center", va="bottom", color=look.colours["muted"], size=_TEXT)  # fmt: skip


def _name_lines(axes: Mapping[str, Axes], ends: Sequence[Mapping[str, Any]], look: Look) -> None:
    """Write the names of lines at the ends, moved apart where too near."""
    below = math.inf
    for end in sorted(ends, key=lambda end: -float(end["y"])):
        ax = axes["y"]
        wanted = float(ax.transData.transform((end["x"], end["y"]))[1])
        below = min(wanted, below - _APART)
        ax.annotate(_plain(end["name"]), (end["x"], end["y"]), (7, (below - wanted) * 72 / _DPI), va="center",
                    textcoords="offset points", size=_SMALL, color=look.colours["text"],
                    annotation_clip=False)  # fmt: skip


def _places(axis: Mapping[str, Any], data: Iterable[Mapping[str, Any]]) -> dict[object, float]:
    """Return the places of the values of an axis of categories; empty for numbers."""
    if axis.get("type") != "category":
        return {}
    values = [*axis.get("categoryarray", ()), *(x for trace in data for x in trace["x"])]
    return {value: float(at) for at, value in enumerate(dict.fromkeys(values))}


def _numbers(values: Iterable[object], places: Mapping[object, float]) -> Any:
    return np.array([math.nan if each is None else places.get(each, each) for each in values], np.float64)


def _draw_traces(
    ax: Axes, data: Sequence[Mapping[str, Any]], places: Mapping[object, float], barmode: str | None, look: Look
) -> None:
    groups = list(dict.fromkeys(_group(trace, at) for at, trace in enumerate(data) if trace["type"] == "bar"))
    for at, trace in enumerate(data):
        xs, ys = _numbers(trace["x"], places), _numbers(trace["y"], {})
        group = _group(trace, at)
        if "offset" in trace:
            share = trace["width"]
            xs = xs + np.array(trace["offset"]) + share / 2
        elif group in groups and barmode == "group":
            share = 0.8 / len(groups)
            xs = xs + (groups.index(group) - (len(groups) - 1) / 2) * share
        else:
            share = trace.get("width", 0.8)
        if trace.get("meta", {}).get("heat"):
            _draw_cells(ax, trace, xs, ys, look)
        elif trace["type"] == "bar":
            series = trace.get("meta", {}).get("series", 0)
            colours = [_colour(look, each) for each in (series if isinstance(series, list) else [series] * len(xs))]
            bars = ax.bar(xs, ys, share * 0.94, color=colours, edgecolor=look.colours["surface"], zorder=2)
            for number, bar in enumerate(bars):
                bar.set_hatch(_hatch(trace, number))
            _draw_errors(ax, trace, xs, ys, look.colours["text"])
        else:
            _draw_points(ax, trace, xs, ys, look)


def _group(trace: Mapping[str, Any], at: int) -> str:
    return str(trace.get("offsetgroup", at))


def _draw_errors(ax: Axes, trace: Mapping[str, Any], xs: Any, ys: Any, colour: str) -> None:
    for name in ("error_x", "error_y"):
        if name in trace:
            ends = np.array([_numbers(trace[name][part], {}) for part in ("arrayminus", "array")])
            along = {"xerr" if name == "error_x" else "yerr": np.nan_to_num(ends)}
            ax.errorbar(xs, ys, fmt="none", ecolor=colour, elinewidth=1, capsize=2.5, zorder=3, **along)


def _draw_points(ax: Axes, trace: Mapping[str, Any], xs: Any, ys: Any, look: Look) -> None:
    colour, mode = _trace_colour(trace, look), trace["mode"]
    if "lines" in mode:
        line = trace.get("line", {})
        ax.plot(xs, ys, color=colour, linestyle=_DASHES.get(line.get("dash", "solid"), "-"),
                linewidth=line.get("width", 2) * 0.75, alpha=trace.get("opacity", 1), zorder=2)  # fmt: skip
    _draw_errors(ax, trace, xs, ys, colour)
    if trace.get("marker", {}).get("symbol") == "arrow":
        _draw_arrows(ax, xs, ys, colour)
    elif "markers" in mode:
        size = trace.get("marker", {}).get("size", 8)
        kinds = list(zip(_symbols(trace, len(xs)), size if isinstance(size, list) else [size] * len(xs), strict=True))
        for kind, places in groupby(sorted(range(len(xs)), key=kinds.__getitem__), key=kinds.__getitem__):
            at, (symbol, size) = list(places), kind
            edge = look.colours["text"] if trace.get("meta", {}).get("trials") == "bars" else colour
            fill = "none" if size > 12 else _fill(trace, symbol, look)
            ax.plot(xs[at], ys[at], linestyle="none", marker=_marker(symbol), markersize=size * 0.62,
                    markerfacecolor=fill, markeredgecolor=edge, markeredgewidth=1, zorder=4)  # fmt: skip
    for x, y, text in zip(xs, ys, trace.get("text", ()), strict=False):
        if "text" in mode and text and not (math.isnan(x) or math.isnan(y)):
            ax.annotate(_plain(str(text)), (x, y), (0, 5), textcoords="offset points", ha="center", size=_SMALL,
                        color=look.colours["text"])  # fmt: skip


def _draw_arrows(ax: Axes, xs: Any, ys: Any, colour: str) -> None:
    """Draw a head at the end of each stretch of a path."""
    points = list(zip(xs.tolist(), ys.tolist(), strict=True))
    for start, end in pairwise(points):
        if not any(map(math.isnan, (*start, *end))):
            head = {"arrowstyle": "-|>,head_width=0.25,head_length=0.5", "color": colour, "linewidth": 0, "shrinkB": 4}
            ax.annotate("", end, start, arrowprops=head, zorder=3)


def _draw_cells(ax: Axes, trace: Mapping[str, Any], xs: Any, ys: Any, look: Look) -> None:
    """Draw the cells of a heat map."""
    marker, kind = trace["marker"], trace["meta"]["heat"]
    colours: Any = look.colours["heat-undecided"]
    if kind != "undecided":
        pale = "-pale" if kind == "tentative" else ""
        ends = [look.colours[name] for name in (f"heat-worse{pale}", "heat-none", f"heat-better{pale}")]
        scale = LinearSegmentedColormap.from_list("heat", ends)
        colours = scale(Normalize(marker["cmin"], marker["cmax"])(_numbers(marker["color"], {})))
    base = _numbers(trace["base"], {})
    cells = ax.bar(xs, ys, trace["width"], base, color=colours, edgecolor=look.colours["surface"], linewidth=0)
    for number, cell in enumerate(cells):
        cell.set_hatch(_hatch(trace, number)[:2])
    for x, y, text in zip(xs, base + ys / 2, trace["text"], strict=True):
        ax.text(x, y, _plain(str(text)), ha="center", va="center", size=_SMALL, color=look.colours["text"])


def _style_axis(
    ax: Axes, name: Literal["x", "y"], layout: Mapping[str, Any], places: Mapping[object, float], look: Look
) -> None:
    axis = ax.xaxis if name == "x" else ax.yaxis
    if layout.get("visible") is False:
        ax.set_axis_off()
    if layout.get("type") == "log":
        (ax.set_xscale if name == "x" else ax.set_yscale)("log")
        axis.set_major_formatter(lambda value, _: significant_text(value, 3))
    limits, set_limits = (ax.get_xlim, ax.set_xlim) if name == "x" else (ax.get_ylim, ax.set_ylim)
    if "range" in layout:
        set_limits(*layout["range"])
    elif layout.get("rangemode") == "tozero" and layout.get("type") != "log":
        low, high = limits()
        clip = layout.get("autorangeoptions", {})
        set_limits(
            min(0.0, max(low, clip.get("clipmin", low))) if low < 0 else 0.0, min(high, clip.get("clipmax", high))
        )
    if places:
        axis.set_ticks(
            list(places.values()), ["\n".join(wrap(_plain(str(value)), 16)) or str(value) for value in places]
        )
    elif "tickvals" in layout:
        texts = layout.get("ticktext") or [significant_text(value) for value in layout["tickvals"]]
        axis.set_ticks(layout["tickvals"], [_plain(text) for text in texts])
        axis.minorticks_off()
    ax.tick_params(name, colors=look.colours["muted"], labelsize=_SMALL)
    axis.set_label_text(_plain(layout.get("title", {}).get("text", "")), color=look.colours["muted"], size=_TEXT)
    if layout.get("showgrid", name == "y") is not False:
        axis.grid(visible=True, color=look.colours["line"], linewidth=0.7)
        ax.set_axisbelow(True)
