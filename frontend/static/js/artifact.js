// On the page of a file: a click on a line's number marks the line, with the shift key all lines from the marked one.

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.line-number");
  const marked = document.querySelector(".log > .marked");
  if (!link || !event.shiftKey || !marked) return;
  event.preventDefault();
  const [from, to] = [marked, link.parentElement].map((line) => Number(line.id.slice(1))).sort((a, b) => a - b);
  location.assign(`?line=${from}-${to}#L${from}`);
});
