// Where a point or line of a figure leads: the run behind it, or the list of its runs.

import { plain } from "./chart-words.js";

const REACH = 7; // how far from a line a click still means it, in pixels
const DOUBLE_MS = 300; // in which a second click makes a double one, as Plotly has it
const MOST = 4000; // points beyond which nobody aims at a line

/** The list of runs: a page that was saved says where it is; on the site itself its navigation does. */
const runs = () => document.body.dataset.runs ?? document.querySelector(".nav a[href$='/runs/']").pathname;
const addressOf = (run) => `${runs()}${run}/`;

/** The list of the runs of a series, or of what a point adds to its question. */
function listOf(asked, added) {
  const question = new URLSearchParams(asked);
  const more = [...new URLSearchParams(added ?? "")];
  for (const [name] of more) question.delete(name);
  for (const [name, value] of more) question.append(name, value);
  question.set("status", "complete");
  return `${runs()}?${question}`;
}

/** A point of one run opens it; one of several trials asks which, in the words that its hover names them by. */
export function openPoint(point) {
  const { line, runs: behind } = point.customdata ?? { line: 0, runs: [] };
  const { runs: asked, at } = point.data.meta ?? {};
  const added = at?.[point.pointNumber];
  const names = point.hovertext?.split("<br>").slice(line).map(plain);
  if (behind.length === 1) location.assign(addressOf(behind[0]));
  else if (behind.length) ask(behind, names, asked !== undefined && added !== undefined ? listOf(asked, added) : "");
}

function ask(behind, names, list) {
  const dialog = Object.assign(document.createElement("dialog"), { className: "small" });
  const links = document.createElement("ul");
  const add = (address, text) => {
    const link = Object.assign(document.createElement("a"), { href: address, textContent: text });
    links.appendChild(document.createElement("li")).append(link);
  };
  behind.forEach((run, at) => add(addressOf(run), names[at]));
  if (list) add(list, "all of them as a list of runs");
  const heading = Object.assign(document.createElement("h2"), { textContent: "Runs in this point" });
  const close = Object.assign(document.createElement("button"), { className: "button", textContent: "Close" });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  const body = Object.assign(document.createElement("div"), { className: "stack" });
  body.append(heading, links, close);
  dialog.append(body);
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * A click on a line between its points opens the list of all its runs, until the signal says that all is over; one on a
 * mark that Plotly knows nothing of, where `markAt` finds one, what that leads to.
 */
export function openLines(plot, signal, markAt) {
  let pressed = null;
  let hit = false;
  let leading;
  plot.on("plotly_click", () => (hit = true));
  plot.addEventListener("pointerdown", (event) => {
    clearTimeout(leading);
    [pressed, hit] = [event, false];
  }, { capture: true, signal });
  const released = (event) => {
    const start = pressed;
    pressed = null;
    const still = start && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < 3;
    if (!still || !start.target.closest(".nsewdrag")) return;
    // Plotly says first whether a point was meant; a second click means the whole range again, and no line.
    leading = setTimeout(() => {
      const mark = hit ? undefined : markAt(event);
      const asked = hit || mark ? undefined : lineAt(plot, event)?.meta?.runs;
      if (mark) openPoint(mark);
      if (asked !== undefined) location.assign(listOf(asked));
    }, DOUBLE_MS);
  };
  // While the mouse is down Plotly lays a cover over the whole page.
  document.addEventListener("pointerup", released, { capture: true, signal });
}

/** The trace whose line passes there. */
function lineAt(plot, { clientX, clientY }) {
  const frame = plot.getBoundingClientRect();
  const here = [clientX - frame.left, clientY - frame.top];
  const lines = plot._fullData.filter((trace) => trace.visible === true && trace.mode?.includes("lines") && trace.x.length <= MOST);
  const far = lines.map((trace) => [distance(places(plot, trace), here), trace]).sort((one, other) => one[0] - other[0]);
  return far[0]?.[0] <= REACH ? far[0][1] : undefined;
}

/** Where the points of a trace are, in pixels of the plot. */
function places(plot, trace) {
  const axis = (name) => plot._fullLayout[`${name[0]}axis${name.slice(1)}`];
  const [across, up] = [axis(trace.xaxis), axis(trace.yaxis)];
  return trace.x.map((x, at) => [across._offset + across.d2p(x), up._offset + up.d2p(trace.y[at])]);
}

function distance(points, [x, y]) {
  let least = Infinity;
  for (let at = 1; at < points.length; at++) {
    const [[ax, ay], [bx, by]] = [points[at - 1], points[at]];
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    least = Math.min(least, Math.hypot(ax + along * dx - x, ay + along * dy - y) || least);
  }
  return least;
}
