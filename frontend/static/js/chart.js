// <perf-chart data-figure="ID"> draws the figure in the JSON script ID, <perf-chart data-from="ADDRESS"> one of that
// address, both with Plotly and when somebody is about to see it, the former also when there is nothing else to do. What
// is drawn was decided on the server; how it looks, what it is drawn by, and where a click leads, stand in the modules
// beside this one.

import { painted, plotly } from "./chart-engine.js";
import { inLight, neededHeight, styledLayout, styledTrace, titledLayout, wordsHeight } from "./chart-style.js";
import { wordsOf } from "./chart-words.js";
import { crowded, drawMarks, sparse } from "./chart-points.js";
import { openLines, openPoint } from "./chart-runs.js";
import { drawTrials, isTrials, pointAt, reachAgain, reaching, sayTrials } from "./chart-trials.js";

const CONFIG = {
  displaylogo: false,
  // Nothing leaves this host: Plotly would offer to send the figure, with its data, to its makers.
  showSendToCloud: false,
  plotlyServerURL: "",
  responsive: false,
  // A tip would lie over the legend after each zoom; the toolbar offers the way back.
  showTips: false,
  // A file is saved by the buttons below a figure, in light colours and with its source.
  modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d", "autoScale2d"],
};

const PAPER = 690; // what an upright sheet of A4 holds between its margins, in pixels
const IMAGE = { width: 1100, height: 620 }; // a file's size in pixels; a figure may ask for another height
const SETTLED_MS = 80; // after which a width is taken for the last one
const NEAR = "600px"; // so far from the window a chart is drawn

/** When the browser has nothing else to do. */
const idle = (work) => (window.requestIdleCallback ?? setTimeout)(() => work());

/** Charts that are about to come into sight. */
const coming = new IntersectionObserver(
  (entries) => entries.filter((each) => each.isIntersecting).forEach((each) => each.target.show()),
  { rootMargin: NEAR },
);

class PerfChart extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "figure");
    this.ending = new AbortController();
    const { signal } = this.ending;
    // The page shows that it was heard first.
    document.addEventListener("perfdb:theme", () => painted().then(() => this.plot && this.draw()), { signal });
    addEventListener("beforeprint", () => this.drawForPaper(), { signal });
    addEventListener("afterprint", () => this.drawForScreen(), { signal });
    const source = document.getElementById(this.dataset.figure);
    if (source) {
      this.take(JSON.parse(source.textContent));
      // Whoever prints the page has not seen all of it.
      idle(() => this.show());
    }
    coming.observe(this);
  }

  disconnectedCallback() {
    coming.unobserve(this);
    this.ending.abort();
    this.sizes?.disconnect();
    if (this.plot) window.Plotly.purge(this.plot);
    this.plot?.remove();
    // Whoever moves it to another place has it drawn there.
    this.plot = this.showing = undefined;
    delete this.dataset.drawn;
  }

  /** Have this figure, keep room for it, and say what it is of. */
  take(figure) {
    this.figure = figure;
    this.fit(this.clientWidth);
    this.replaceChildren(...wordsOf(figure.layout));
  }

  /** Draw for the first time; further calls wait for the same. */
  show() {
    if (!this.isConnected) return undefined;
    coming.unobserve(this);
    return (this.showing ??= this.begin());
  }

  async begin() {
    const there = plotly();
    if (!this.figure) {
      const answer = await fetch(this.dataset.from);
      if (!answer.ok) return this.fail(await answer.json().catch(() => ({})));
      this.take(await answer.json());
    }
    await there;
    // Words and tables first; and each chart is drawn by itself, so that somebody's input comes between two.
    await painted();
    if (this.isConnected) await this.start();
  }

  /** Say why there is nothing to see. */
  fail({ detail = "the server did not answer" }) {
    this.append(Object.assign(document.createElement("p"), { className: "muted", textContent: `Chart failed: ${detail}.` }));
  }

  async start() {
    if (this.plot) return;
    this.plot = document.createElement("div");
    this.plot.className = "plot";
    this.append(this.plot);
    const drawn = this.draw();
    this.plot.on("plotly_afterplot", () => this.mark());
    await drawn;
    this.mark();
    const { signal } = this.ending;
    this.plot.on("plotly_click", (event) => event.points[0] && openPoint(event.points[0]));
    this.plot.on("plotly_restyle", () => painted().then(() => this.plot && reachAgain(this.plot, this.trials)));
    openLines(this.plot, signal, (event) => pointAt(this.plot, this.trials, event));
    sayTrials(this.plot, () => this.trials, signal);
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this);
    this.dataset.drawn = "";
  }

  /**
   * Paper is white, and nobody scrolls on it: what was not drawn yet is drawn at once, where that needs nothing from the
   * server. Colours are still those of the screen when a browser says that it will print.
   */
  drawForPaper() {
    this.onPaper = true;
    if (!this.plot && this.figure && window.Plotly) this.start();
    if (this.plot) inLight(() => this.draw(PAPER));
  }

  drawForScreen() {
    this.onPaper = false;
    if (this.plot) this.draw();
  }

  resized() {
    clearTimeout(this.settling);
    if (this.onPaper) return;
    // The first report comes at once and says the size that was just drawn for; of many only the last counts.
    if (this.drawnFor !== this.clientWidth) this.settling = setTimeout(() => this.plot && this.draw(), SETTLED_MS);
  }

  traces(width) {
    return this.figure.data.map((trace) => styledTrace(trace, this.figure.layout, width));
  }

  /** As high as the figure, or what its legend needs, asks for: before anything is drawn, so that nothing jumps. */
  fit(width) {
    const { height, ...layout } = styledLayout(this.figure.layout, width);
    const above = wordsHeight(this.figure.layout, width) + layout.margin.t;
    // Other figures are as high as the style sheet says, or as their legends need.
    this.style.height = height ? `${height}px` : "";
    this.style.minHeight = `${height ?? neededHeight(this.figure, width, above)}px`;
    return layout;
  }

  /** Draw what is not left to Plotly, where it has just put the axes. */
  mark() {
    drawMarks(this.plot);
    drawTrials(this.plot, this.trials);
  }

  /** Draw for a width in pixels; as wide as there is room unless one is given. */
  draw(width) {
    this.drawnFor = width ?? this.clientWidth;
    const layout = this.fit(this.drawnFor);
    // The words above take more lines on a narrow sheet than they do now.
    const height = this.clientHeight - wordsHeight(this.figure.layout, this.drawnFor);
    const size = width ? { autosize: false, width, height } : {};
    const traces = this.traces(this.drawnFor);
    this.trials = crowded(traces) ? traces.filter(isTrials) : [];
    const others = traces.filter((trace) => !this.trials.includes(trace));
    const reached = reaching(layout, this.plot, this.trials);
    return window.Plotly.react(this.plot, crowded(others) ? sparse(others) : others, { ...reached, ...size }, CONFIG);
  }

  /** The figure as a file of this format (png, svg): a data address. It says what it rests on and where it is from. */
  async image(format) {
    await this.show();
    const { layout } = this.figure;
    const lines = [[layout.meta?.sources, "perfdb", new Date().toISOString().slice(0, 10)].filter(Boolean).join(" · ")];
    const size = { ...IMAGE, height: layout.height ?? IMAGE.height };
    const figure = inLight(() => ({
      data: this.traces(size.width),
      layout: { ...titledLayout(layout, size.width, lines), ...size, autosize: false, paper_bgcolor: "#fff" },
    }));
    return window.Plotly.toImage(figure, { ...size, format, scale: 2 });
  }

  /** A name for a file of the figure, of what it shows. */
  get fileName() {
    const { title, xaxis, legend } = this.figure.layout;
    const texts = [title?.text, xaxis?.title?.text && `by ${xaxis.title.text}`, legend?.title?.text, title?.subtitle?.text];
    const words = texts.filter(Boolean).join(" ").normalize("NFKD").toLowerCase();
    const joined = words.replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "");
    // Cut between words: half a word names nothing.
    return (joined.length > 90 ? joined.slice(0, 91).replace(/-[^-]*$/, "") : joined) || "figure";
  }
}

customElements.define("perf-chart", PerfChart);
