// On the list of runs: menus that are open stay open while the list follows what is chosen in them.

const OPEN = "#facets details[open], #result details[open]";
let open = [];

document.addEventListener("htmx:beforeSwap", () => {
  open = [...document.querySelectorAll(OPEN)].map((menu) => [menu.id, menu.lastElementChild.scrollTop]);
});

document.addEventListener("htmx:afterSettle", () => {
  for (const [id, scrolled] of open) {
    const menu = document.getElementById(id);
    if (!menu) continue;
    menu.open = true;
    menu.lastElementChild.scrollTop = scrolled;
  }
  open = [];
});
