// Filter menus: say what is chosen, close on Escape and on a click elsewhere. They open without this script too.

/** Of fields of one value each: those that were changed from their first option or an empty text. */
function changedText(menu) {
  const changed = [...menu.querySelectorAll("select, input[type=number]")].filter((field) => field.value !== "");
  if (!changed.length) return menu.dataset.none;
  if (changed.length > 2) return `${changed.length} changes`;
  const said = (field) => `${field.labels[0].textContent}: ${field.selectedOptions?.[0].textContent ?? field.value}`;
  return changed.map(said).join(", ");
}

function chosenText(menu) {
  if (!menu.querySelector("input[type=checkbox]")) return changedText(menu);
  const checked = [...menu.querySelectorAll("input:checked")];
  if (checked.length > 2) return `${checked.length} chosen`;
  const texts = checked.map((input) => input.closest("label").textContent.trim());
  return texts.join(", ") || menu.dataset.none;
}

/** Not every menu says what is chosen in it. */
function say(menu) {
  const said = menu.querySelector("[data-chosen]");
  if (said) said.textContent = chosenText(menu);
}

// A dimension stands in one place of a layout: chosen here, it leaves the menu in which it stood.
const LAYOUT = ["rows", "columns", "split"];

function moveHere(input) {
  if (!input.checked || !LAYOUT.includes(input.name)) return;
  for (const other of input.form.querySelectorAll("input:checked")) {
    if (other === input || other.value !== input.value || !LAYOUT.includes(other.name)) continue;
    other.checked = false;
    say(other.closest("[data-menu]"));
  }
}

// On the way down to the form: the question that htmx collects there must be the finished one.
document.addEventListener(
  "change",
  (event) => {
    const menu = event.target.closest("[data-menu]");
    if (!menu) return;
    moveHere(event.target);
    say(menu);
  },
  { capture: true },
);

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.("[data-menu][open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("[data-menu][open]")) if (!menu.contains(event.target)) menu.open = false;
});
