// The items of a report are put in order by dragging them; places typed in and the arrows do the same without it.

let dragged;

function place(list, line, y) {
  const others = [...list.querySelectorAll("[data-item]")].filter((other) => other !== line);
  const next = others.find((other) => {
    const box = other.getBoundingClientRect();
    return y < box.top + box.height / 2;
  });
  list.insertBefore(line, next ?? null);
}

function number(list) {
  list.querySelectorAll("input[name=place]").forEach((input, index) => (input.value = index + 1));
}

function send(form) {
  form.requestSubmit();
}

function dress(form) {
  for (const grip of form.querySelectorAll("[data-grip]")) grip.hidden = false;
}

document.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest?.("[data-grip]");
  if (!grip || event.button !== 0) return;
  dragged = grip.closest("[data-item]");
  dragged.classList.add("dragged");
  event.preventDefault();
});

document.addEventListener("pointermove", (event) => {
  if (dragged) place(dragged.parentElement, dragged, event.clientY);
});

function drop(keep) {
  if (!dragged) return;
  const list = dragged.parentElement;
  dragged.classList.remove("dragged");
  dragged = undefined;
  if (!keep) return;
  number(list);
  send(list.closest("form"));
}

document.addEventListener("pointerup", () => drop(true));
document.addEventListener("pointercancel", () => drop(true));

const dressAll = () => document.querySelectorAll("[data-sortable]").forEach(dress);
document.addEventListener("htmx:afterSettle", dressAll);
dressAll();
