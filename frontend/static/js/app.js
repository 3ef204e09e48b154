// What every page shares: the theme button, search, keyboard shortcuts, confirmations and tidy addresses of filter forms.

import { setUpFind } from "./find.js";
import { setUpKeys } from "./keys.js";
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
setUpFind();
setUpKeys();
setUpConfirmations();
