// <perf-chart data-figure="ID">: draws the figure in the JSON script ID with Plotly. What is drawn was decided on the
// server; how it looks, and where a click leads, stand in the modules beside this one.

import { inLight, neededHeight, styledLayout, styledTrace } from "./chart-style.js";
import { openLines, openPoint } from "./chart-runs.js";

const CONFIG = {
  displaylogo: false,
  responsive: false,
  // A file is saved by the buttons below a figure, in light colours and with its source.
  modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d", "autoScale2d"],
};

const PAPER = 690; // what an upright sheet of A4 holds between its margins, in pixels
const IMAGE = { width: 1100, height: 620 }; // a file's size in pixels; a figure may ask for another height
const IMAGE_LINE = 160; // how many characters of a file's subtitle stand in a line

class PerfChart extends HTMLElement {
  connectedCallback() {
    const source = document.getElementById(this.dataset.figure);
    this.figure = JSON.parse(source.textContent);
    this.setAttribute("role", "figure");
    this.plot = this.appendChild(document.createElement("div"));
    this.plot.className = "plot";
    this.redraw = () => this.draw();
    this.print = () => this.draw(PAPER);
    this.ending = new AbortController();
    const { signal } = this.ending;
    document.addEventListener("perfdb:theme", this.redraw, { signal });
    addEventListener("beforeprint", this.print, { signal });
    addEventListener("afterprint", this.redraw, { signal });
    this.draw().then(() => {
      this.plot.on("plotly_click", (event) => event.points[0] && openPoint(event.points[0]));
      openLines(this.plot, signal);
      this.sizes = new ResizeObserver(() => this.resized());
      this.sizes.observe(this);
      this.dataset.drawn = "";
    });
  }

  disconnectedCallback() {
    this.ending.abort();
    this.sizes?.disconnect();
    window.Plotly.purge(this.plot);
    this.plot.remove();
  }

  resized() {
    // The first report comes at once and says the size that was just drawn for.
    if (this.drawnFor !== this.clientWidth) this.draw();
  }

  traces(width) {
    return this.figure.data.map((trace) => styledTrace(trace, this.figure.layout, width));
  }

  /** Draw for a width in pixels; as wide as there is room unless one is given. */
  draw(width) {
    this.drawnFor = width ?? this.clientWidth;
    const data = this.traces(this.drawnFor);
    const layout = styledLayout(this.figure.layout, this.drawnFor);
    // Other figures are as high as the style sheet says, or as their legends need.
    this.style.height = layout.height ? `${layout.height}px` : "";
    this.style.minHeight = `${layout.height ?? neededHeight(this.figure, this.drawnFor, layout.margin.t)}px`;
    return window.Plotly.react(this.plot, data, width ? { ...layout, autosize: false, width, height: this.clientHeight } : layout, CONFIG);
  }

  /** The figure as a file of this format (png, svg): a data address. It says what it rests on and where it is from. */
  image(format) {
    const { layout } = this.figure;
    const sources = [layout.meta?.sources, location.href].filter(Boolean).join(" · ");
    const lines = sources.match(new RegExp(`.{1,${IMAGE_LINE}}`, "g")) ?? [];
    const size = { ...IMAGE, height: layout.height ?? IMAGE.height };
    const figure = inLight(() => ({
      data: this.traces(size.width),
      layout: { ...styledLayout(layout, size.width, lines), ...size, autosize: false, paper_bgcolor: "#fff" },
    }));
    return window.Plotly.toImage(figure, { ...size, format, scale: 2 });
  }

  /** A name for a file of the figure, of what it shows. */
  get fileName() {
    const { title, xaxis, legend } = this.figure.layout;
    const texts = [title?.text, xaxis?.title?.text && `by ${xaxis.title.text}`, legend?.title?.text, title?.subtitle?.text];
    const words = texts.filter(Boolean).join(" ").normalize("NFKD").toLowerCase();
    return words.replace(/[^a-z0-9.]+/g, "-").replace(/^-+/, "").slice(0, 90).replace(/-+$/, "") || "figure";
  }
}

customElements.define("perf-chart", PerfChart);
