// What stands above a figure, in the page itself: it is there before Plotly is, and Plotly need not draw it.

/** A text of which Plotly takes marks for markup, as it was. */
export const plain = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

const line = (className, text) => Object.assign(document.createElement("p"), { className, textContent: plain(text) });

/** The title of a figure and what holds for all of it, as elements. */
export function wordsOf({ title }) {
  if (!title) return [];
  const said = title.subtitle?.text;
  return [line("chart-title", title.text), ...(said ? [line("chart-subtitle", said)] : [])];
}
