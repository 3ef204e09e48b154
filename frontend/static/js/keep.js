// What a page offers to do with its question: the link is copied, small forms open beside their button and close again.

/** With this script the button copies; where the browser refuses, the field shows what to copy by hand. */
function prepare(part) {
  const field = part.querySelector("input");
  const button = part.querySelector("button");
  field.hidden = true;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy link"), 2000);
    } catch {
      button.hidden = true;
      field.hidden = false;
      field.select();
    }
  });
}

const prepareAll = (root) => root.querySelectorAll("[data-copy]").forEach(prepare);

document.addEventListener("htmx:load", (event) => {
  // The first load is of the whole body, which was prepared already.
  if (event.detail.elt !== document.body) prepareAll(event.detail.elt);
});
prepareAll(document);

document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && event.target.closest?.("[data-pop][open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  for (const pop of document.querySelectorAll("[data-pop][open]")) if (!pop.contains(event.target)) pop.open = false;
});
