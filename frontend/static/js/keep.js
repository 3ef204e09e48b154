// What a page offers to do with its question: the link is copied, small forms open beside their button and close again.

/** Copy the link; where the browser refuses, the field shows what to copy by hand. */
async function copy(button) {
  const part = button.closest("[data-copy]");
  const field = part.querySelector("input");
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy link"), 2000);
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
