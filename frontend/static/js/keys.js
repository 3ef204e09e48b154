// Keyboard shortcuts. An element says by data-keys which keys lead to it ("/", "g r"): a field gets the focus, anything
// else is clicked. So nothing is reachable by keys alone, and the help lists just what the page at hand has.

const STORED = "perfdb-keys";
// After a first key so many milliseconds are left for the second.
const PATIENCE = 1500;
const TYPING = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=submit], [type=button])";

const help = document.querySelector("#keys-help");
let begun = "";
let timer;

/** Elements with shortcuts that can be seen, by their keys; the first of several counts. */
function shortcuts() {
  const found = new Map();
  for (const element of document.querySelectorAll("[data-keys]")) {
    if (element.checkVisibility() && !found.has(element.dataset.keys)) found.set(element.dataset.keys, element);
  }
  return found;
}

function switchedOn() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}

function remember(on) {
  try {
    localStorage.setItem(STORED, on ? "on" : "off");
  } catch {
    // Without storage shortcuts stay on.
  }
}

function lead(element) {
  if (!element.matches("input")) {
    element.click();
    return;
  }
  element.focus();
  element.select();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (event.target.matches(TYPING) || document.querySelector("dialog[open]") || !switchedOn()) return;
  const found = shortcuts();
  const keys = begun ? `${begun} ${event.key}` : event.key;
  begun = "";
  clearTimeout(timer);
  if (found.has(keys)) {
    event.preventDefault();
    lead(found.get(keys));
  } else if ([...found.keys()].some((each) => each.startsWith(`${keys} `))) {
    begun = keys;
    timer = setTimeout(() => (begun = ""), PATIENCE);
  }
}

function described(keys, element) {
  const row = document.createElement("div");
  const term = document.createElement("dt");
  for (const key of keys.split(" ")) term.append(Object.assign(document.createElement("kbd"), { textContent: key }), " ");
  const what = element.dataset.keysName ?? element.textContent.trim();
  row.append(term, Object.assign(document.createElement("dd"), { textContent: what }));
  return row;
}

function showHelp() {
  help.querySelector("[data-keys-list]").replaceChildren(...[...shortcuts()].map(([keys, element]) => described(keys, element)));
  help.showModal();
}

export function setUpKeys() {
  const button = document.querySelector("[data-keys-help]");
  button.hidden = false;
  button.addEventListener("click", showHelp);
  const choice = help.querySelector("[data-keys-on]");
  choice.checked = switchedOn();
  choice.addEventListener("change", () => remember(choice.checked));
  document.addEventListener("keydown", pressed);
}
