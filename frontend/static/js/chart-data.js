// A figure as it travelled, put together again: perfdb/analysis/render/packing.py says what stands where.

const NAME = "\u0001"; // stands for the trace's name in what is said of a point

/** The numbers of a column as texts, `count` of them. */
function numbers(column, count) {
  if (column.startsWith("=")) return Array(count).fill(column.slice(1));
  if (!column.startsWith("+")) return column.split(",");
  const colon = column.indexOf(":");
  const width = Number(column.slice(1, colon));
  let at = 0;
  return column.slice(colon + 1).split(",").map((step) => String((at += Number(step))).padStart(width, "0"));
}

/** What is said of each point, by the shapes of the texts and the columns of numbers between them. */
function saidOf({ shapes, of, columns }, count) {
  const shapeOf = numbers(of, count).map(Number);
  const uses = shapes.map((_, shape) => shapeOf.filter((each) => each === shape).length);
  const found = columns.map((each, shape) => each.map((column) => numbers(column, uses[shape])));
  const next = shapes.map(() => 0);
  return shapeOf.map((shape) => {
    const line = next[shape]++;
    return shapes[shape].reduce((said, text, at) => said + found[shape][at - 1][line] + text);
  });
}

/** The runs behind each point, and the line of what is said of it at which they begin. */
function behindOf({ line, count, runs: all }, points) {
  const lines = numbers(line, points).map(Number);
  const counts = numbers(count, points).map(Number);
  const every = numbers(all, counts.reduce((sum, each) => sum + each, 0)).map(Number);
  let at = 0;
  return lines.map((each, point) => ({ line: each, runs: every.slice(at, (at += counts[point])) }));
}

/** The figure with what is said of its points, as Plotly takes it. */
export function unpacked({ data, layout, said, behind }) {
  if (!said) return { data, layout };
  const points = data.reduce((sum, trace) => sum + (trace.points ?? 0), 0);
  const [allSaid, allBehind] = [saidOf(said, points), behindOf(behind, points)];
  let at = 0;
  const whole = data.map(({ points: own, ...trace }) => {
    if (own === undefined) return trace;
    const range = [at, (at += own)];
    const hovertext = allSaid.slice(...range).map((text) => text.replace(NAME, () => trace.name));
    return { ...trace, hovertext, customdata: allBehind.slice(...range) };
  });
  return { data: whole, layout };
}
