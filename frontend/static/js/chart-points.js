// Figures of many points: each trace's symbols and its error bars as few paths, where Plotly would make, style and move
// an element for every single one. Lines, axes, legend and hover stay Plotly's; files are drawn by Plotly alone.

const MANY = 400; // symbols and error bars from which a figure is drawn like this
const CAP = 3; // half the width of the ends of error bars, in pixels
const BAND = 96; // what stands in so many pixels of the width is one path
const SVG = "http://www.w3.org/2000/svg";

// The corners of symbols around their middle, for a radius of 1, as Plotly draws them; all others are circles.
const [ACROSS, DOWN] = [2 / Math.sqrt(3), 0.5];
const CORNERS = {
  square: [[1, 1], [-1, 1], [-1, -1], [1, -1]],
  diamond: [[1.3, 0], [0, 1.3], [-1.3, 0], [0, -1.3]],
  cross: [[1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4], [-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4]],
  x: [[0, 0.57], [0.57, 1.13], [1.13, 0.57], [0.57, 0], [1.13, -0.57], [0.57, -1.13], [0, -0.57], [-0.57, -1.13], [-1.13, -0.57], [-0.57, 0], [-1.13, 0.57], [-0.57, 1.13]],
  "triangle-up": [[-ACROSS, DOWN], [ACROSS, DOWN], [0, -1]],
  "triangle-down": [[-ACROSS, -DOWN], [ACROSS, -DOWN], [0, 1]],
  star: [[0.32, -0.43], [1.33, -0.43], [0.51, 0.17], [0.82, 1.13], [0, 0.53], [-0.82, 1.13], [-0.51, 0.17], [-1.33, -0.43], [-0.32, -0.43], [0, -1.4]],
};

/** Whether the symbols of a trace can be drawn as one path: all alike, and nothing written at them. */
const plain = (trace) => trace.type === "scatter" && /^(lines\+)?markers$/.test(trace.mode) && !Array.isArray(trace.marker.size) && !trace.marker.angleref;

const elements = (trace) => trace.x.length * (trace.error_y || trace.error_x ? 2 : 1);

/** Whether a figure of these traces has more points than Plotly draws quickly. */
export const crowded = (traces) => traces.filter(plain).reduce((sum, trace) => sum + elements(trace), 0) > MANY;

/** The traces, of whose points Plotly draws one each: for the legend, the axes and hovers they are all there. */
export function sparse(traces) {
  return traces.map((trace) => {
    if (!plain(trace)) return trace;
    const { marker, error_x, error_y } = trace;
    return { ...trace, marker: { ...marker, maxdisplayed: 1 }, meta: { ...trace.meta, marks: { marker, error_x, error_y } } };
  });
}

/** Draw what `sparse` left out, where Plotly has just put the axes. */
export function drawMarks(plot) {
  for (const each of plot.querySelectorAll("g.marks")) each.remove();
  for (const points of plot.calcdata ?? []) {
    const trace = points[0]?.trace;
    if (!trace?.meta?.marks || trace.visible !== true) continue;
    const place = plot._fullLayout._plots[trace.xaxis + trace.yaxis];
    place.plot.node().append(marksOf(points, trace.meta.marks, place.xaxis, place.yaxis));
  }
}

/** The symbols and error bars of points, as a group of few paths. */
export function marksOf(points, { marker, error_x, error_y }, across, up) {
  const there = points
    .map((point, at) => [across.c2p(point.x), up.c2p(point.y), at])
    .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  const bars = [...(error_y ? barsOf(there, points, error_y, up, false) : []), ...(error_x ? barsOf(there, points, error_x, across, true) : [])];
  const group = document.createElementNS(SVG, "g");
  group.setAttribute("class", "marks");
  group.append(...bars, ...symbols(there, marker));
  return group;
}

const short = (number) => Math.round(number * 10) / 10;

/** Paths of parts that begin at these places: a browser draws in tiles, and goes through all of a path for each. */
function banded(parts, attributes) {
  const bands = new Map();
  for (const [x, part] of parts) {
    const band = Math.floor(x / BAND);
    bands.set(band, (bands.get(band) ?? "") + part);
  }
  return [...bands.values()].filter(Boolean).map((d) => path(d, attributes));
}

function path(d, attributes) {
  const made = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({ d, ...attributes })) made.setAttribute(name, value);
  return made;
}

/** All symbols; of those at the same place one. */
function symbols(there, marker) {
  if (!Array.isArray(marker.color)) return alike(there, marker);
  // Repeated values are filled, and single runs hollow.
  const fills = [...new Set(marker.color)];
  return fills.flatMap((color) => alike(there.filter(([, , at]) => marker.color[at] === color), { ...marker, color }));
}

function alike(there, { symbol, size, color, line }) {
  const [, shape, open] = /^(.*?)(-open)?$/.exec(symbol);
  const one = outline(shape, size / 2);
  const places = new Map(there.map(([x, y]) => [`M${short(x)},${short(y)}`, x]));
  const stroke = { stroke: line?.color ?? color, "stroke-width": line?.width ?? (open ? 1 : 0) };
  return banded([...places].map(([place, x]) => [x, place + one]), { fill: open ? "none" : color, ...stroke });
}

/** A symbol as a path relative to its middle. */
function outline(shape, radius) {
  const corners = CORNERS[shape];
  if (!corners) return `m${-radius},0a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0z`;
  const steps = corners.map(([x, y], at) => [x - (corners[at - 1]?.[0] ?? 0), y - (corners[at - 1]?.[1] ?? 0)]);
  const [first, ...rest] = steps.map(([x, y]) => `${(x * radius).toFixed(2)},${(y * radius).toFixed(2)}`);
  return `m${first}l${rest.join(" ")}z`;
}

/** All error bars along an axis, with ends across them. */
function barsOf(there, points, error, axis, lying) {
  const parts = there.map(([x, y, at]) => {
    const value = lying ? points[at].x : points[at].y;
    const [above, below] = [error.array[at], error.arrayminus[at]];
    if (!above && !below) return [x, ""];
    const [low, high] = [value - below, value + above].map((end) => short(axis.c2p(end)));
    if (!Number.isFinite(low) || !Number.isFinite(high)) return [x, ""];
    if (lying) return [x, `M${low},${short(y)}H${high}M${low},${short(y - CAP)}v${2 * CAP}M${high},${short(y - CAP)}v${2 * CAP}`];
    return [x, `M${short(x)},${low}V${high}M${short(x - CAP)},${low}h${2 * CAP}M${short(x - CAP)},${high}h${2 * CAP}`];
  });
  return banded(parts, { fill: "none", stroke: error.color, "stroke-width": error.thickness });
}
