// Filter menus: say what is chosen, close on Escape and on a click elsewhere. They open without this script too.

function chosenText(menu) {
  const checked = [...menu.querySelectorAll("input:checked")];
  if (checked.length > 2) return `${checked.length} chosen`;
  const texts = checked.map((input) => input.closest("label").textContent.trim());
  return texts.join(", ") || menu.dataset.none;
}

document.addEventListener("change", (event) => {
  const menu = event.target.closest("[data-menu]");
  if (menu) menu.querySelector("[data-chosen]").textContent = chosenText(menu);
});

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.("[data-menu][open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("[data-menu][open]")) if (!menu.contains(event.target)) menu.open = false;
});
