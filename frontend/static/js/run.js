// On the page of a run a number opens where it comes from in a dialog, beside what one was reading. Without this
// script the same link leads to the same text further down the page.

const dialog = document.getElementById("provenance-dialog");

function show(link) {
  const body = document.querySelector(link.hash);
  if (!body) return false;
  const copy = body.cloneNode(true);
  copy.removeAttribute("id");
  dialog.querySelector("#provenance-title").textContent = body.closest("details").querySelector("summary").textContent;
  dialog.querySelector("[data-body]").replaceChildren(copy);
  dialog.showModal();
  return true;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.figure-link[href^='#figure-']");
  if (link && !event.ctrlKey && !event.metaKey && show(link)) event.preventDefault();
});

// Where the browser does not open a <details> that holds the target of the address, do it here.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  for (let around = target; around; around = around.parentElement) if (around.matches("details")) around.open = true;
}

addEventListener("hashchange", openTarget);
openTarget();

// A click on the ground beside the dialog closes it, as people expect.
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
