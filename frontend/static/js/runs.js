// On the list of runs: menus that are open stay open while the list follows what is chosen in them.

const OPEN = "#facets details[open], #result details[open]";
let open = [];
let focused = "";

document.addEventListener("htmx:beforeSwap", () => {
  focused = document.activeElement?.id ?? "";
  open = [...document.querySelectorAll(OPEN)].map((menu) => [menu.id, menu.lastElementChild.scrollTop]);
});

/** Open the menus again that were open, and give the focus back: what had it was replaced by its equal. */
function restore() {
  for (const [id, scrolled] of open) {
    const menu = document.getElementById(id);
    if (!menu) continue;
    menu.open = true;
    menu.lastElementChild.scrollTop = scrolled;
  }
  if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus({ preventScroll: true });
}

// At once, so that no key goes astray; and once more when htmx has set the attributes of what is new.
document.addEventListener("htmx:afterSwap", restore);
document.addEventListener("htmx:afterSettle", () => {
  restore();
  open = [];
});

// Who closes a menu while its answer arrives wants it closed.
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.("#facets details");
  if (!menu) return;
  open = [];
  focused = menu.querySelector("summary").id;
});

// The list follows the search field while one types; when it is left there is nothing more to ask.
document.addEventListener("change", (event) => event.target.id === "q" && event.stopPropagation(), { capture: true });

// The field stands outside of what is swapped, and follows the address where that changed without it.
document.addEventListener("htmx:afterSettle", () => {
  const field = document.getElementById("q");
  if (field !== document.activeElement) field.value = new URLSearchParams(location.search).get("q") ?? "";
});

// Choosing: a click with the shift key takes all rows from the last one clicked, and the bar says how many are chosen.

const boxes = () => [...document.querySelectorAll(".run-list tbody input[name=run]")];
let last = null;

function say() {
  const form = document.getElementById("chosen");
  if (!form) return;
  const all = form.elements.all?.checked;
  const chosen = boxes().filter((box) => box.checked);
  for (const box of boxes()) box.closest("tr").classList.toggle("picked", box.checked || all);
  form.querySelector("[data-number]").textContent = all ? "All chosen" : `${chosen.length} chosen`;
  form.classList.toggle("nothing", !all && !chosen.length);
  for (const button of form.querySelectorAll("[data-choose]")) button.hidden = false;
  for (const button of form.querySelectorAll("button[name=act]")) button.disabled = !all && !chosen.length;
}

document.addEventListener("click", (event) => {
  const box = event.target.closest(".run-list tbody input[name=run]");
  if (box) {
    const all = boxes();
    if (event.shiftKey && last && all.includes(last)) {
      const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
      for (const each of all.slice(from, to + 1)) each.checked = box.checked;
    }
    last = box;
    say();
  }
  const choose = event.target.closest("[data-choose]");
  if (choose) {
    for (const each of boxes()) each.checked = choose.dataset.choose === "page";
    if (choose.dataset.choose === "none" && choose.form.elements.all) choose.form.elements.all.checked = false;
    say();
  }
});

document.addEventListener("change", (event) => {
  if (event.target.name === "all" && event.target.form?.id === "chosen") say();
});

// What changes runs is sent in place, so that one stays where one was; a page without this script sends the form.
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (event.target.id !== "chosen" || !button?.hasAttribute("data-done")) return;
  event.preventDefault();
  const values = Object.fromEntries([...new FormData(event.target, button)].map(([name]) => [name, new FormData(event.target, button).getAll(name)]));
  window.htmx.ajax("POST", event.target.action, { source: "#result", values, target: "#result", select: "#result", swap: "outerHTML show:none" });
});

// Enter in a field of the form does what the button beside it says, and not what the first button does.
document.addEventListener("keydown", (event) => {
  const field = event.key === "Enter" && event.target.closest?.("#chosen input[type=text]");
  if (!field) return;
  event.preventDefault();
  field.closest(".field-row, .menu-panel").querySelector("button[name=act]").click();
});

document.addEventListener("htmx:afterSettle", say);
addEventListener("pageshow", say);
say();
