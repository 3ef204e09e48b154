// What a page offers to do with its question: the link is copied, also with the answer in a sentence; small forms open
// beside their button and close again.

/** Put something into the clipboard and say so on the button; where the browser refuses, select the link instead. */
async function copy(button, write) {
  button.dataset.name ??= button.textContent;
  try {
    await write();
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = button.dataset.name), 2000);
  } catch {
    button.closest(".share").querySelector("input").select();
  }
}

function copyLink(button) {
  const { value } = button.closest("[data-copy]").querySelector("input");
  return copy(button, () => navigator.clipboard.writeText([button.dataset.copyText, value].filter(Boolean).join(" ")));
}

/** The image as the form asks for it; browsers want the promise, not what it brings. */
function copyImage(button) {
  const image = () => fetch(addressOf(button.form)).then((answer) => answer.blob());
  return copy(button, () => navigator.clipboard.write([new ClipboardItem({ "image/png": image() })]));
}

document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && event.target.closest?.("[data-pop][open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches("[data-copy-text]")) copyLink(button);
  if (button?.matches("[data-copy-image]")) copyImage(button);
  for (const pop of document.querySelectorAll("[data-pop][open]")) if (!pop.contains(event.target)) pop.open = false;
});

const TYPED_MS = 400; // after the last key a preview is drawn anew

let typed;

const addressOf = (form) => `${form.action}?${new URLSearchParams(new FormData(form))}`;

/** Draw the preview of an image anew, as its form asks for it. */
function preview(form) {
  form.querySelector("img").src = addressOf(form);
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("[data-picture]");
  if (!form) return;
  clearTimeout(typed);
  typed = setTimeout(() => preview(form), TYPED_MS);
});
