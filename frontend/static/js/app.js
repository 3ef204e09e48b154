// What every page shares: the theme button, keyboard shortcuts, confirmations and tidy addresses of filter forms.

import "./menu.js";

const root = document.documentElement;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

const currentTheme = () => root.dataset.theme || (systemDark.matches ? "dark" : "light");

function announceTheme() {
  document.dispatchEvent(new CustomEvent("perfdb:theme"));
}

function labelToggle(button) {
  const other = currentTheme() === "dark" ? "light" : "dark";
  button.textContent = other === "dark" ? "☾" : "☀";
  button.setAttribute("aria-label", `Switch to the ${other} theme`);
  button.title = `Switch to the ${other} theme`;
}

function setUpTheme() {
  const button = document.querySelector("[data-theme-toggle]");
  button.hidden = false;
  labelToggle(button);
  button.addEventListener("click", () => {
    root.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("perfdb-theme", root.dataset.theme);
    } catch {
      // Without storage the choice holds for this page.
    }
    labelToggle(button);
    announceTheme();
  });
  systemDark.addEventListener("change", () => {
    labelToggle(button);
    announceTheme();
  });
}

// Paper is white: what scripts draw in the theme's colours is drawn in those of the light one meanwhile.
function setUpPrinting() {
  let theme;
  addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  });
}

// Shortcuts lead to links that the page shows anyway, so nothing is reachable by them alone.
const SHORTCUTS = {
  gr: ".nav a[href*='/runs/']",
  gc: ".nav a[href*='/charts/']",
  gv: ".nav a[href*='/compare/']",
  gm: ".nav a[href*='/maximum/']",
  gu: ".nav a[href*='/uploads/']",
  u: ".top a.primary",
};

function setUpKeyboard() {
  let prefix = "";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
    const keys = prefix + event.key;
    prefix = event.key === "g" && !prefix ? "g" : "";
    if (keys === "/") {
      const search = document.querySelector("input[type=search]");
      if (search) search.focus();
      else location.assign(document.querySelector(SHORTCUTS.gr).href);
      event.preventDefault();
    } else if (SHORTCUTS[keys]) {
      document.querySelector(SHORTCUTS[keys])?.click();
    }
  });
}

function setUpConfirmations() {
  document.addEventListener("submit", (event) => {
    const question = (event.submitter ?? event.target).dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });
}

// Blank fields of a filter form stay out of the address.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "get") return;
  const data = event.detail.formData;
  for (const name of new Set(data.keys())) {
    const kept = data.getAll(name).filter((value) => value !== "");
    data.delete(name);
    for (const value of kept) data.append(name, value);
  }
});

setUpTheme();
setUpPrinting();
setUpKeyboard();
setUpConfirmations();
