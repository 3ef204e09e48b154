// The editor of a report: parts are dragged or moved by arrows, edited in place, and pasted links become charts. Without
// this script the same forms work, a page at a time.

const items = document.getElementById("items");
let dragged;

const parts = () => [...items.querySelectorAll("[data-item]")];

/** Move a part, with the line before it that adds parts, before another one or to the end. */
function place(part, next) {
  const line = part.previousElementSibling;
  const before = next ? next.previousElementSibling : items.lastElementChild;
  if (next === part || before === line) return;
  items.insertBefore(line, before);
  items.insertBefore(part, before);
}

function renumber() {
  parts().forEach((part, index, all) => {
    part.querySelector("input[name=place]").value = index + 1;
    part.querySelector("[data-move='-1']").disabled = index === 0;
    part.querySelector("[data-move='1']").disabled = index === all.length - 1;
  });
}

function send() {
  renumber();
  document.getElementById("order").requestSubmit();
}

function drag(y) {
  const others = parts().filter((part) => part !== dragged);
  const next = others.find((part) => {
    const box = part.getBoundingClientRect();
    return y < box.top + box.height / 2;
  });
  place(dragged, next);
}

function drop(keep) {
  if (!dragged) return;
  dragged.classList.remove("dragged");
  items.classList.remove("dragging");
  dragged = undefined;
  if (keep) send();
}

document.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest?.("[data-grip]");
  if (!grip || event.button !== 0) return;
  dragged = grip.closest("[data-item]");
  dragged.classList.add("dragged");
  // Long parts fold while one is dragged, so that all places are in reach.
  items.classList.add("dragging");
  event.preventDefault();
});
document.addEventListener("pointermove", (event) => dragged && drag(event.clientY));
document.addEventListener("pointerup", () => drop(true));
document.addEventListener("pointercancel", () => drop(true));

/** Put a part one place up or down, and keep the focus on its button. */
function step(button) {
  const all = parts();
  const part = button.closest("[data-item]");
  const at = all.indexOf(part) + Number(button.dataset.move);
  place(part, button.dataset.move === "1" ? all[at + 1] : all[at]);
  send();
  (button.disabled ? part.querySelector("[data-move]:not(:disabled)") : button).focus();
}

document.addEventListener("click", (event) => {
  const move = event.target.closest("[data-move]");
  if (move) {
    event.preventDefault();
    step(move);
  } else if (event.target.closest("[data-embed]")) embed(event.target.closest("[data-embed]"));
  // A click on a part's text edits it.
  else if (!event.target.closest("a, button, input, textarea, summary, perf-chart, table, form"))
    event.target.closest("[data-body]")?.parentElement.querySelector("[data-edit]").click();
});

// Undo puts the texts back that were there when the form was opened, and saves them.
document.addEventListener("reset", ({ target }) => {
  if (target.matches(".item-form")) setTimeout(() => target.dispatchEvent(new Event("input", { bubbles: true })));
});

let pasted;

function isQuestion(text) {
  if (!URL.canParse(text) || new URL(text).origin !== location.origin) return false;
  return /^\/(charts|compare|ranking)\/$/.test(new URL(text).pathname);
}

document.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain").trim() ?? "";
  if (!event.target.matches("[data-prose]")) return;
  const offer = event.target.closest(".field").querySelector("[data-offer]");
  offer.hidden = !isQuestion(text);
  pasted = text;
});

function embed(button) {
  const field = button.closest(".field");
  const prose = field.querySelector("[data-prose]");
  const address = new URL(pasted);
  const block = `\n\n\`\`\`${button.dataset.embed}\n${address.pathname}${address.search}\n\`\`\`\n\n`;
  prose.value = prose.value.replace(pasted, () => block).trim();
  field.querySelector("[data-offer]").hidden = true;
  prose.dispatchEvent(new Event("input", { bubbles: true }));
  prose.focus();
}

function dress() {
  for (const grip of items?.querySelectorAll("[data-grip]") ?? []) grip.hidden = false;
}

dress();
// The places are typed where there is no script.
items?.classList.add("scripted");
// A form that comes in place begins with its first field.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  dress();
  const form = target.matches?.(".item-form") ? target : target.querySelector?.(":scope > .item-form");
  form?.querySelector("[data-first]")?.focus();
});
