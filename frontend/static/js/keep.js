// What a page offers to do with its question: the link is copied, also with the answer in a sentence; small forms open
// beside their button and close again.

/** Copy the link; where the browser refuses, the field shows what to copy by hand. */
async function copy(button) {
  const part = button.closest("[data-copy]");
  const field = part.querySelector("input");
  button.dataset.name ??= button.textContent;
  try {
    await navigator.clipboard.writeText([button.dataset.text, field.value].filter(Boolean).join(" "));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = button.dataset.name), 2000);
  } catch {
    part.classList.add("by-hand");
    field.select();
  }
}

document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && event.target.closest?.("[data-pop][open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy] button");
  if (button) copy(button);
  for (const pop of document.querySelectorAll("[data-pop][open]")) if (!pop.contains(event.target)) pop.open = false;
});

const TYPED_MS = 400; // after the last key a preview is drawn anew

let typed;

/** Draw the preview of a picture anew, as its form asks for it. */
function preview(form) {
  const asked = new URLSearchParams(new FormData(form));
  form.querySelector("img").src = `${form.action}?${asked}`;
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("[data-picture]");
  if (!form) return;
  clearTimeout(typed);
  typed = setTimeout(() => preview(form), TYPED_MS);
});
