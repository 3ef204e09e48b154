// The preview of an upload: all its runs can be chosen at once. The table is exchanged while its upload is worked on.

document.addEventListener("change", ({ target }) => {
  const one = "input[name=run][form=correct]";
  if (target.matches("[data-choose-all]")) for (const box of document.querySelectorAll(one)) box.checked = target.checked;
  else if (target.matches(one)) tell();
});

function tell() {
  const all = document.querySelector("[data-choose-all]");
  const boxes = [...document.querySelectorAll("input[name=run][form=correct]")];
  if (!all) return;
  all.hidden = false;
  all.checked = boxes.every((box) => box.checked);
  all.indeterminate = !all.checked && boxes.some((box) => box.checked);
}

document.addEventListener("htmx:afterSettle", tell);
tell();
