// The single trials of a figure of many points, which Plotly would take up one by one at every step: they are drawn as
// one path a series and found below the pointer here. Plotly knows only how far its axes have to reach for them.

import { marksOf } from "./chart-points.js";
import { plain } from "./chart-words.js";

const NEAR = 7; // how far from a mark the pointer still means it, in pixels
const ROOM = 0.04; // above the highest mark, as a part of the height of all
const BESIDE = 14; // between the pointer and what is said of a mark, in pixels

/** Whether a trace is of trials over the points of a line; those on bars stand where only Plotly knows. */
export const isTrials = (trace) => trace.meta?.trials === "lines";

const axisOf = (trace, name) => `${name}axis${(trace[`${name}axis`] ?? name).slice(1)}`;

/** Whether the series that a trace belongs to is shown. */
function shown(plot, trace) {
  const series = plot._fullData?.filter((each) => each.legendgroup === trace.legendgroup) ?? [];
  return !series.length || series.some((each) => each.visible === true);
}

/** By the name of each y axis, the lowest of the trials and a little more than the highest. */
function extents(trials) {
  const found = {};
  for (const name of new Set(trials.map((trace) => axisOf(trace, "y")))) {
    const heights = trials.filter((trace) => axisOf(trace, "y") === name).flatMap((trace) => trace.y);
    const [low, high] = heights.reduce(([least, most], y) => [Math.min(least, y), Math.max(most, y)], [Infinity, -Infinity]);
    if (heights.length) found[name] = [low, high + ROOM * (high - low)];
  }
  return found;
}

/** The layout with axes that reach to those of these trials that are shown. */
export function reaching(layout, plot, trials) {
  const reached = Object.entries(extents(trials.filter((trace) => shown(plot, trace)))).map(([name, include]) => [name, { ...layout[name], autorangeoptions: { ...layout[name].autorangeoptions, include } }]);
  return { ...layout, ...Object.fromEntries(reached) };
}

/** Let the axes reach to the trials of the series that are shown, and no further; an axis that somebody set stays. */
export function reachAgain(plot, trials) {
  const found = extents(trials.filter((trace) => shown(plot, trace)));
  const names = new Set(trials.map((trace) => axisOf(trace, "y")));
  const changed = [...names].filter((name) => {
    const axis = plot._fullLayout[name];
    return axis.autorange && String(axis.autorangeoptions?.include ?? "") !== String(found[name] ?? "");
  });
  if (changed.length) window.Plotly.relayout(plot, Object.fromEntries(changed.map((name) => [`${name}.autorangeoptions.include`, found[name] ?? null])));
}

/** Draw the trials of the series that are shown, below their lines. */
export function drawTrials(plot, trials) {
  for (const trace of trials.filter((each) => shown(plot, each))) {
    const place = plot._fullLayout._plots[(trace.xaxis ?? "x") + (trace.yaxis ?? "y")];
    const points = trace.x.map((x, at) => ({ x: place.xaxis.d2c(x), y: place.yaxis.d2c(trace.y[at]) }));
    place.plot.node().prepend(marksOf(points, trace, place.xaxis, place.yaxis));
  }
}

/** The mark nearest to a place on the screen: its trace, its number, where it is in the plot, and how far away. */
function trialAt(plot, trials, { clientX, clientY }) {
  const frame = plot.getBoundingClientRect();
  const [left, top] = [clientX - frame.left, clientY - frame.top];
  let found = { far: NEAR };
  for (const trace of trials.filter((each) => shown(plot, each))) {
    const [across, up] = [plot._fullLayout[axisOf(trace, "x")], plot._fullLayout[axisOf(trace, "y")]];
    for (let at = 0; at < trace.x.length; at++) {
      const x = across._offset + across.d2p(trace.x[at]);
      if (Math.abs(x - left) > found.far) continue;
      const y = up._offset + up.d2p(trace.y[at]);
      const far = Math.hypot(x - left, y - top);
      if (far < found.far) found = { trace, at, x, y, far };
    }
  }
  return found.trace && found;
}

/** The trial at a place on the screen, as a point that leads to its run. */
export function pointAt(plot, trials, event) {
  const near = trialAt(plot, trials, event);
  return near && { data: near.trace, pointNumber: near.at, customdata: near.trace.customdata[near.at], hovertext: near.trace.hovertext[near.at] };
}

/** How far the nearest point that Plotly drew is, in pixels. */
function cellFar(plot, { clientX, clientY }) {
  const frame = plot.getBoundingClientRect();
  const far = (plot._fullData ?? []).filter((trace) => trace.visible === true && trace.type === "scatter").flatMap((trace) => {
    const [across, up] = [plot._fullLayout[axisOf(trace, "x")], plot._fullLayout[axisOf(trace, "y")]];
    return trace.x.map((x, at) => Math.hypot(across._offset + across.d2p(x) - clientX + frame.left, up._offset + up.d2p(trace.y[at]) - clientY + frame.top));
  });
  return far.reduce((least, each) => Math.min(least, Number.isFinite(each) ? each : Infinity), Infinity);
}

/** Say of a mark what is known of it while the pointer is over it; `trials` answers those that are drawn. */
export function sayTrials(plot, trials, signal) {
  const tip = Object.assign(document.createElement("p"), { className: "chart-tip", hidden: true });
  plot.append(tip);
  const hide = () => (tip.hidden = true);
  plot.on("plotly_beforehover", (event) => {
    const near = trials().length && event.clientX !== undefined ? trialAt(plot, trials(), event) : undefined;
    if (!near || cellFar(plot, event) <= near.far) {
      hide();
      return true;
    }
    say(tip, plot, near);
    window.Plotly.Fx.unhover(plot);
    return false;
  });
  plot.addEventListener("pointerleave", hide, { signal });
  plot.on("plotly_relayouting", hide);
}

function say(tip, plot, { trace, at, x, y }) {
  tip.textContent = trace.hovertext[at].split("<br>").map(plain).join("\n");
  tip.hidden = false;
  const left = x > plot.clientWidth / 2 ? x - BESIDE - tip.offsetWidth : x + BESIDE;
  const top = Math.min(Math.max(0, y - tip.offsetHeight / 2), plot.clientHeight - tip.offsetHeight);
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}
