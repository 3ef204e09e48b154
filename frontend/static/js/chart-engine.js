// Plotly, fetched when the first chart is about to be drawn. It is large: the page is painted before it is read.

let loading;

/** Plotly, as soon as it is there; a page of one file has it inside. */
export function plotly() {
  return (loading ??= window.Plotly ? Promise.resolve(window.Plotly) : painted().then(fetched));
}

/** After the next paint. A page that nobody sees paints nothing, and is not waited for. */
export function painted() {
  if (document.visibilityState === "hidden") return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

function fetched() {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: document.querySelector("meta[name=plotly]").content });
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("Plotly cannot be loaded")));
    document.head.append(script);
  });
}
