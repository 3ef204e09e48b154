// The search box in the header: a combobox whose list of suggestions the server sends while one types.

const box = document.querySelector("#find");
const list = document.querySelector("#found");
const status = document.querySelector("[data-found-status]");

const options = () => [...list.querySelectorAll("[role=option]")];
const active = () => document.getElementById(box.getAttribute("aria-activedescendant"));

function open() {
  list.hidden = false;
  box.setAttribute("aria-expanded", "true");
}

function close() {
  list.hidden = true;
  box.setAttribute("aria-expanded", "false");
  activate(null);
}

function activate(option) {
  active()?.setAttribute("aria-selected", "false");
  if (!option) {
    box.removeAttribute("aria-activedescendant");
    return;
  }
  option.setAttribute("aria-selected", "true");
  box.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

/** One option further or back; beyond the last and before the first comes the box itself. */
function step(by) {
  const all = options();
  const at = all.indexOf(active());
  const next = by > 0 ? at + 1 : (at < 0 ? all.length : at) - 1;
  activate(all[next] ?? null);
}

function arrived() {
  const all = options();
  for (const [number, option] of all.entries()) {
    option.id = `found-${number}`;
    option.setAttribute("aria-selected", "false");
  }
  // The answer may come when one has gone elsewhere.
  if (all.length && document.activeElement === box) open();
  else close();
  // The last one leads to the page of all results.
  status.textContent = box.value.trim() ? `${Math.max(0, all.length - 1)} suggestions` : "";
}

function pressed(event) {
  if (event.isComposing) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (!options().length) return;
    open();
    step(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && active()) {
    location.assign(active().dataset.href);
  } else if (event.key === "Escape") {
    if (list.hidden) {
      box.value = "";
      list.replaceChildren();
      box.blur();
    }
    close();
  } else {
    return;
  }
  event.preventDefault();
}

export function setUpFind() {
  box.addEventListener("keydown", pressed);
  box.addEventListener("focus", () => options().length && open());
  box.addEventListener("blur", close);
  list.addEventListener("htmx:afterSwap", arrived);
  // The box keeps the focus while one clicks into its list.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    if (event.ctrlKey || event.metaKey) window.open(option.dataset.href);
    else location.assign(option.dataset.href);
  });
}
