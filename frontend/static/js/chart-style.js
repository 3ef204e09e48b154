// How a figure of the server looks: colours of the style sheet in the theme that is on, fonts, and room for titles.

/** A variable of the style sheet as it is, such as a list of fonts. */
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const probe = document.createElement("span");
probe.hidden = true;
document.documentElement.append(probe);

/** A colour of the style sheet in the theme that is on: a variable itself would still say light-dark(…). */
export function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** What `work` makes in light colours, whatever the page shows: for files, which are pasted onto white. */
export function inLight(work) {
  probe.style.colorScheme = "light";
  try {
    return work();
  } finally {
    probe.style.colorScheme = "";
  }
}

const UPWARDS = 42; // so many characters of a title stand along an upright axis of the usual height

/** The title of an axis; a long one along an upright axis takes two lines, rather than to be cut at both ends. */
function axisTitle(name, title) {
  const text = title?.text;
  return { standoff: 8, ...title, ...(text && name.startsWith("y") && { text: wrapped(text, " ", UPWARDS).join("<br>") }) };
}

function axisStyle(name, axis) {
  return {
    automargin: true,
    gridcolor: colour("--line"),
    linecolor: colour("--line-strong"),
    tickcolor: colour("--line-strong"),
    zeroline: name.startsWith("y"),
    zerolinecolor: colour("--line-strong"),
    ticks: "outside",
    ...axis,
    title: axisTitle(name, axis.title),
  };
}

const CHARACTER = 6.3; // the mean width of a character of the subtitle, in pixels
const TITLE = 44; // the room of the title above the subtitle, in pixels
const TITLE_CHARACTER = 7.8; // the mean width of a character of the title, in pixels
const TITLE_LINE = 18; // the height of a further line of the title, in pixels
const LINE = 15; // the height of a line of the subtitle, in pixels

/** A text in as many lines as the width asks for, broken at a separator: Plotly would run out of its frame. */
function wrapped(text, separator, characters) {
  const lines = [""];
  for (const part of text.split(separator)) {
    const longer = lines.at(-1) ? `${lines.at(-1)}${separator}${part}` : part;
    if (longer.length <= characters || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

/** The subtitle as an annotation: Plotly's own cannot be placed close to its title. */
function subtitleNote(lines, shift) {
  return {
    text: lines.join("<br>"),
    font: { size: 12, color: colour("--muted") },
    align: "left",
    showarrow: false,
    xref: "paper",
    yref: "paper",
    x: 0,
    y: 1,
    xanchor: "left",
    yanchor: "bottom",
    yshift: 8 + shift,
    xshift: -2,
  };
}

/** What the lines differ in, above them: beside them it would take the room that their names need on a phone. */
function legendTitle(layout) {
  return { ...layout.legend?.title, side: "top", font: { size: 12, color: colour("--muted") } };
}

const NARROW = 640; // below this width small figures stand under each other, in pixels
const FACET = 300; // the height of each then, in pixels

/** Small figures under each other: beside each other on a phone nobody could read them. */
function stacked(layout, count) {
  const moved = { ...layout, height: FACET * count };
  for (const name of Object.keys(layout).filter((each) => /^[xy]axis\d*$/.test(each))) {
    const place = count - Number(name.slice(5) || 1);
    const domain = name.startsWith("x") ? [0, 1] : [(place + 0.12) / count, (place + 0.9) / count];
    moved[name] = { ...layout[name], domain };
    if (name.startsWith("x") && place > 0) moved[name].title = { text: "" };
  }
  return moved;
}

const SPECIMEN = 46; // the width of a line in the legend, in pixels: two dashes of the longest kind
const ENTRY = 78; // the width of an entry of the legend beside its name, in pixels
const ENTRY_LINE = 19; // the height of a line of the legend, in pixels
const LEAST = 190; // the least height of what is drawn itself, in pixels
const AXIS = 90; // the height of the x axis with its title, and of the legend's title, in pixels

const APART = 14; // the least distance of two names at line ends, in pixels
const DRAWN = 260; // about the height of what is drawn, in pixels

/** The ends of lines where their names stand instead of in a legend, if there is room. */
const lineEnds = (layout, width) => (width < NARROW ? undefined : layout.meta?.direct);

/** The names of lines at their ends, moved apart where they would lie over each other. */
function endNotes(layout, { ends, top }) {
  const logs = (name) => layout[name]?.type === "log";
  const along = (name, value) => (logs(name) ? Math.log10(value) : value);
  const low = logs("yaxis") ? Math.min(...ends.map((end) => along("yaxis", end.y))) : 0;
  const span = along("yaxis", top) * 1.05 - low || 1;
  let above = -Infinity;
  return [...ends]
    .sort((one, other) => other.y - one.y)
    .map((end) => {
      const wanted = ((along("yaxis", top) * 1.05 - along("yaxis", end.y)) / span) * DRAWN;
      above = Math.max(wanted, above + APART);
      return {
        text: end.name,
        x: along("xaxis", end.x),
        y: along("yaxis", end.y),
        xanchor: "left",
        yanchor: "middle",
        xshift: 8,
        yshift: wanted - above,
        showarrow: false,
        font: { size: 12, color: colour("--text") },
      };
    });
}

/** How high a figure must be, so that its legend leaves room for what is drawn, in pixels. */
export function neededHeight(figure, width, above) {
  const names = figure.data.filter((trace) => trace.showlegend !== false && trace.name).map((trace) => trace.name.length);
  if (!figure.layout.showlegend || !names.length || lineEnds(figure.layout, width)) return 0;
  const beside = Math.max(1, Math.floor((width - 80) / (Math.max(...names) * CHARACTER + ENTRY)));
  return above + LEAST + AXIS + Math.ceil(names.length / beside) * ENTRY_LINE;
}

const CELL = 68; // below this width a cell's labels do not fit beside each other, in pixels
const UPRIGHT = 70; // the further height that they need upright, in pixels

/** Whether the cells of a heat map are too narrow for what is written at them. */
const tight = (layout, width) => Boolean(layout.meta?.columns) && (width - 120) / layout.meta.columns < CELL;

/** The layout as it suits this width. */
function fitting(given, width) {
  if (given.meta?.facets && width < NARROW) return stacked(given, given.meta.facets);
  return tight(given, width) ? { ...given, height: given.height + UPRIGHT } : given;
}

/** The words above a figure of this width, in lines; `added` stand below the others. */
function heading({ title }, width, added = []) {
  const room = width - 90;
  const said = title?.subtitle?.text;
  return {
    title: title ? wrapped(title.text, " ", room / TITLE_CHARACTER) : [],
    subtitle: [...(said ? wrapped(said, " · ", room / CHARACTER) : []), ...added],
  };
}

/** The room of the words above a figure, in pixels. */
function headroom({ title, subtitle }) {
  return title.length || subtitle.length ? TITLE + Math.max(0, title.length - 1) * TITLE_LINE + subtitle.length * LINE : 0;
}

/** How high the words above a figure are about to be, in pixels. */
export const wordsHeight = (layout, width) => headroom(heading(layout, width));

const TOP = 24; // above what is drawn: half a number of the axis, and the bar of buttons, in pixels

/** The server's layout in this theme's colours, for a drawing of this width; its words stand in the page. */
export function styledLayout(given, width) {
  const layout = fitting(given, width);
  const axes = Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name));
  const direct = lineEnds(layout, width);
  const longest = direct ? Math.max(...direct.ends.map((end) => end.name.length)) : 0;
  return {
    ...layout,
    ...(direct && { showlegend: false }),
    ...Object.fromEntries(axes.map(([name, axis]) => [name, axisStyle(name, axis)])),
    autosize: true,
    // What somebody hid or looks at more closely stays so in another theme or width.
    uirevision: "same",
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: css("--font"), size: 12, color: colour("--text") },
    // Headings of small figures stand above what is drawn.
    margin: { l: 56, r: 16 + longest * CHARACTER, t: TOP + (layout.meta?.facets ? LINE : 0), b: 40 },
    title: undefined,
    annotations: [...(layout.annotations ?? []), ...(direct ? endNotes(layout, direct) : [])],
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0, tracegroupgap: 0, itemwidth: SPECIMEN, ...layout.legend, title: legendTitle(layout) },
    hoverlabel: { bgcolor: colour("--surface"), bordercolor: colour("--line-strong"), font: { color: colour("--text") }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--muted"), activecolor: colour("--accent") },
  };
}

/** The same with its words inside, as files have it; `added` stands below its subtitle. */
export function titledLayout(given, width, added) {
  const layout = styledLayout(given, width);
  const words = heading(given, width, added);
  const between = layout.meta?.facets ? LINE : 0;
  return {
    ...layout,
    margin: { ...layout.margin, t: headroom(words) + between },
    title: {
      text: words.title.join("<br>"),
      x: 0,
      xanchor: "left",
      xref: "paper",
      yref: "container",
      y: 1,
      yanchor: "top",
      pad: { t: 14 },
      font: { size: 14, weight: 650 },
    },
    annotations: [...layout.annotations, ...(words.subtitle.length ? [subtitleNote(words.subtitle, between)] : [])],
  };
}

/** Hollow symbols, of single runs, have the colour of the page inside, so that no line shows through them. */
function filledOrHollow(marker, color) {
  const given = [marker.symbol].flat();
  if (!given.some((symbol) => /^[a-z-]+-open$/.test(symbol) && !symbol.startsWith("line"))) return marker;
  const surface = colour("--surface");
  const fills = given.map((symbol) => (symbol.endsWith("-open") ? surface : color));
  const fill = fills.length > 1 ? fills : fills[0];
  return { ...marker, symbol: given[0].replace("-open", ""), color: fill, line: { width: 1.5, color } };
}

/** A cell's colours in a heat map: from worse over none to better, or grey and hatched where nothing is decided. */
function heatMarker(kind, marker) {
  const pattern = marker.pattern && { ...marker.pattern, fillmode: "overlay", fgcolor: colour("--heat-hatch"), size: 8, solidity: 0.15 };
  if (kind === "undecided") return { ...marker, color: colour("--heat-undecided"), pattern };
  const pale = kind === "tentative" ? "-pale" : "";
  const ends = [colour(`--heat-worse${pale}`), colour("--heat-none"), colour(`--heat-better${pale}`)];
  // Over several colours Plotly draws in a dark one of its own.
  return { ...marker, colorscale: ends.map((each, at) => [at / 2, each]), ...(pattern && { pattern: { ...pattern, fgopacity: 0.2 } }) };
}

/** A series' colour, or one for each of its bars; a neutral one for what belongs to no series. */
function seriesColour(series) {
  if (Array.isArray(series)) return series.map(seriesColour);
  return colour(series === null ? "--muted" : `--series-${series ?? 0}`);
}

/** A trace in its series' colour, a neutral one where it belongs to none. */
export function styledTrace(trace, layout, width) {
  const { series, heat, trials, hollow } = trace.meta ?? {};
  if (heat) return { ...trace, marker: heatMarker(heat, trace.marker), insidetextfont: { size: tight(layout, width) ? 9 : 12, color: colour("--text") } };
  const color = seriesColour(series);
  const styled = { ...trace, marker: { size: 8, ...trace.marker, color } };
  if (trials) {
    // On a bar of its own colour a mark needs an outline of another.
    styled.marker.color = colour("--surface");
    styled.marker.line = { width: 1.5, color: trials === "bars" ? colour("--text") : color };
  }
  if (hollow) {
    styled.marker.color = colour("--surface");
    styled.marker.line = { width: 2, color };
  }
  if (trace.type === "scatter" && !trials && !hollow) styled.marker = filledOrHollow(styled.marker, color);
  if (trace.type === "scatter") styled.line = { width: 2, ...trace.line, color };
  if (trace.text) styled.textfont = { size: 11, color: colour("--text") };
  if (trace.type === "bar") styled.marker.pattern = { ...trace.marker?.pattern, fillmode: "overlay", fgcolor: colour("--surface"), size: 8, solidity: 0.2 };
  for (const name of ["error_x", "error_y"]) {
    if (trace[name]) styled[name] = { ...trace[name], color: Array.isArray(color) ? colour("--text") : color, thickness: 1.2, width: 3 };
  }
  return styled;
}
