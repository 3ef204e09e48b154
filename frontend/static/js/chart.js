// <perf-chart data-figure="ID">: draws the figure in the JSON script ID with Plotly. What is drawn was decided on the
// server; colours come from the style sheet here, and follow the theme.

/** A variable of the style sheet as it is, such as a list of fonts. */
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const probe = document.createElement("span");
probe.hidden = true;
document.documentElement.append(probe);

/** A colour of the style sheet in the theme that is on: a variable itself would still say light-dark(…). */
function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

const CONFIG = {
  displaylogo: false,
  responsive: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg", filename: "perfdb" },
};

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
    title: { standoff: 8, ...axis.title },
  };
}

const PAPER = 690; // what an upright sheet of A4 holds between its margins, in pixels
const CHARACTER = 6.3; // the mean width of a character of the subtitle, in pixels
const TITLE = 44; // the room of the title above the subtitle, in pixels
const LINE = 15; // the height of a line of the subtitle, in pixels

/** The subtitle in as many lines as the width asks for: Plotly would run out of its frame. */
function wrapped(text, width) {
  const lines = [""];
  for (const part of text.split(" · ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} · ${part}` : part;
    if (longer.length * CHARACTER <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
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

/** The server's layout in this theme's colours, for a drawing of this width. */
function styledLayout(given, width) {
  const layout = given.meta?.facets && width < NARROW ? stacked(given, given.meta.facets) : given;
  const subtitle = layout.title?.subtitle?.text ? wrapped(layout.title.subtitle.text, width - 90) : [];
  const axes = Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name));
  return {
    ...layout,
    ...Object.fromEntries(axes.map(([name, axis]) => [name, axisStyle(name, axis)])),
    autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: css("--font"), size: 12, color: colour("--text") },
    margin: { l: 56, r: 16, t: (layout.title ? TITLE + subtitle.length * LINE : 28) + (layout.meta?.facets ? LINE : 0), b: 40 },
    title: layout.title && {
      text: layout.title.text,
      x: 0,
      xanchor: "left",
      xref: "paper",
      yref: "container",
      y: 1,
      yanchor: "top",
      pad: { t: 14 },
      font: { size: 14, weight: 650 },
    },
    annotations: [...(layout.annotations ?? []), ...(subtitle.length ? [subtitleNote(subtitle, layout.meta?.facets ? LINE : 0)] : [])],
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0, ...layout.legend, title: legendTitle(layout) },
    hoverlabel: { bgcolor: colour("--surface"), bordercolor: colour("--line-strong"), font: { color: colour("--text") }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--muted"), activecolor: colour("--accent") },
  };
}

/** A trace in its series' colour; a second error bar or line of the same colour is told apart by dash and symbol. */
function styledTrace(trace) {
  const color = colour(`--series-${trace.meta?.series ?? 0}`);
  const styled = { ...trace, marker: { size: 8, ...trace.marker, color } };
  if (trace.type === "scatter") styled.line = { width: 2, ...trace.line, color };
  if (trace.type === "bar") styled.marker.pattern = { ...trace.marker?.pattern, fillmode: "overlay", fgcolor: colour("--surface") };
  if (trace.error_y) styled.error_y = { ...trace.error_y, color, thickness: 1.2, width: 3 };
  return styled;
}

class PerfChart extends HTMLElement {
  connectedCallback() {
    const source = document.getElementById(this.dataset.figure);
    this.figure = JSON.parse(source.textContent);
    this.setAttribute("role", "figure");
    this.plot = this.appendChild(document.createElement("div"));
    this.plot.className = "plot";
    this.redraw = () => this.draw();
    this.print = () => this.draw(PAPER);
    document.addEventListener("perfdb:theme", this.redraw);
    addEventListener("beforeprint", this.print);
    addEventListener("afterprint", this.redraw);
    this.draw().then(() => {
      this.plot.on("plotly_click", (event) => this.open(event.points[0]?.customdata ?? []));
      this.sizes = new ResizeObserver(() => this.draw());
      this.sizes.observe(this);
      this.dataset.drawn = "";
    });
  }

  disconnectedCallback() {
    document.removeEventListener("perfdb:theme", this.redraw);
    removeEventListener("beforeprint", this.print);
    removeEventListener("afterprint", this.redraw);
    this.sizes?.disconnect();
    window.Plotly.purge(this.plot);
    this.plot.remove();
  }

  /** Draw for a width in pixels; as wide as there is room unless one is given. */
  draw(width) {
    const data = this.figure.data.map(styledTrace);
    const layout = styledLayout(this.figure.layout, width ?? this.clientWidth);
    // Other figures are as high as the style sheet says.
    if (layout.height) this.style.height = `${layout.height}px`;
    return window.Plotly.react(this.plot, data, width ? { ...layout, autosize: false, width, height: this.clientHeight } : layout, CONFIG);
  }

  /** A point of one run opens it; one of several trials asks which. */
  open(points) {
    // A page that was saved says where its runs are; on the site itself the first page of the navigation does.
    const runs = document.body.dataset.runs ?? document.querySelector(".nav a").pathname;
    const address = (point) => `${runs}${point.run}/`;
    if (points.length === 1) location.assign(address(points[0]));
    if (points.length < 2) return;
    const dialog = Object.assign(document.createElement("dialog"), { className: "small" });
    const list = document.createElement("ul");
    for (const point of points) {
      const link = document.createElement("a");
      link.href = address(point);
      link.textContent = `${point.run_id}, trial ${point.trial}: ${point.printed}`;
      list.appendChild(document.createElement("li")).append(link);
    }
    const heading = Object.assign(document.createElement("h2"), { textContent: "Runs behind this point" });
    const close = Object.assign(document.createElement("button"), { className: "button", textContent: "Close" });
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    const body = Object.assign(document.createElement("div"), { className: "stack" });
    body.append(heading, list, close);
    dialog.append(body);
    document.body.append(dialog);
    dialog.showModal();
  }
}

customElements.define("perf-chart", PerfChart);
