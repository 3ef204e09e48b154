// <table-tools> below a table: buttons that save the chart above it as a file and copy the table to the clipboard.
// Within an element with data-tools they are for all charts and tables of it, but not for those of such parts inside.

const CAN = { png: "PNG", svg: "SVG" };
// The forms for further calculation have unrounded numbers.
const FORMS = { markdown: ["Markdown", asMarkdown], csv: ["CSV", asCsv, true], tsv: ["TSV", asTsv, true], latex: ["LaTeX", asLatex] };

class TableTools extends HTMLElement {
  connectedCallback() {
    // Looked up when they are saved: while an answer is exchanged, those of the old one are still there.
    const charts = () => (this.dataset.figure ? document.querySelectorAll(`perf-chart[data-figure="${this.dataset.figure}"]`) : this.own("perf-chart"));
    const tables = this.dataset.figure ? [this.parentElement.querySelector("table")].filter(Boolean) : this.own("table");
    this.said = Object.assign(document.createElement("span"), { className: "muted" });
    this.said.setAttribute("role", "status");
    const rows = [];
    if (charts().length) rows.push(group("Export:", Object.entries(CAN), (format) => this.save(charts(), format)));
    const forms = Object.entries(FORMS).map(([name, [title]]) => [name, title]);
    const texts = (name) => [...tables].map((table) => FORMS[name][1](matrix(table, FORMS[name][2]), captionOf(table))).join("\n");
    if (tables.length) rows.push(group("Copy table:", forms, (name) => this.copy(texts(name), FORMS[name][0])));
    this.replaceChildren(...rows, this.said);
  }

  own(selector) {
    const part = this.closest("[data-tools]");
    return [...part.querySelectorAll(selector)].filter((each) => each.closest("[data-tools]") === part);
  }

  async save(charts, format) {
    for (const chart of charts) {
      const address = await chart.image(format);
      const link = Object.assign(document.createElement("a"), { href: address, download: `${chart.fileName}.${format}` });
      link.click();
      this.said.textContent = `Saved as ${link.download}`;
    }
  }

  async copy(text, title) {
    await intoClipboard(text);
    this.said.textContent = `Copied as ${title}`;
  }
}

function group(title, entries, act) {
  const span = Object.assign(document.createElement("span"), { className: "tool-group" });
  span.setAttribute("role", "group");
  span.setAttribute("aria-label", title.replace(":", ""));
  span.append(Object.assign(document.createElement("span"), { className: "muted", textContent: title }));
  for (const [name, text] of entries) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: text });
    button.addEventListener("click", () => act(name));
    span.append(button);
  }
  return span;
}

/** Into the clipboard, also where a page came by plain HTTP and browsers offer only the old way. */
async function intoClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text, className: "hidden-text" });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** What a cell says, without the marks of its footnotes and the names of dimensions above its headings. */
function textOf(cell) {
  const copy = cell.cloneNode(true);
  for (const each of copy.querySelectorAll("sup, .unit")) each.remove();
  const texts = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  const said = [];
  while (texts.nextNode()) said.push(texts.currentNode.data.trim());
  return said.filter(Boolean).join(" ").replace(/[^\S\u202f]+/g, " ");
}

/** What a table is of: its title, and all that stands above it; null where that stands elsewhere on the page. */
function captionOf({ caption }) {
  return caption && { title: textOf(caption.querySelector("strong") ?? caption), all: textOf(caption) };
}

/** What a heading says by itself: above a bare number, what it is a number of. */
function headingOf(cell) {
  const named = cell.parentElement.querySelector("th.number > .unit:first-child");
  const text = textOf(cell);
  return named && /^\d[\d.]*$/.test(text) ? `${named.textContent} ${text}` : text;
}

/** What a cell says, with its number unrounded and without blanks between thousands. */
function exactOf(cell) {
  const text = textOf(cell).replaceAll("\u202f", "");
  return cell.title ? text.replace(/^\S+/, cell.title) : text;
}

/** The cells of a table as rows of equal length: what spans several places stands in each of them. */
function matrix(table, exact) {
  const rows = [...table.rows].map(() => []);
  [...table.rows].forEach((row, at) => {
    const read = row.parentElement === table.tHead ? headingOf : exact ? exactOf : textOf;
    let column = 0;
    for (const cell of row.cells) {
      while (rows[at][column] !== undefined) column++;
      for (let down = 0; down < cell.rowSpan && at + down < rows.length; down++)
        for (let across = 0; across < cell.colSpan; across++) rows[at + down][column + across] = read(cell);
      column += cell.colSpan;
    }
  });
  return { head: heading(rows.slice(0, table.tHead?.rows.length ?? 0)), body: rows.slice(table.tHead?.rows.length ?? 0) };
}

/** Several lines of headings as one: each column's texts from the top down, said once. */
function heading(lines) {
  const width = Math.max(0, ...lines.map((line) => line.length));
  return Array.from({ length: width }, (_, at) => [...new Set(lines.map((line) => line[at] ?? ""))].filter(Boolean).join(" · "));
}

/** The caption as a paragraph above, its title in bold; signs that mean something to Markdown stand for themselves. */
function inMarkdown({ title, all }) {
  const said = (text) => text.replace(/[\\`*_<|]/g, "\\$&");
  return `**${said(title)}**${said(all.slice(title.length))}\n\n`;
}

function asMarkdown({ head, body }, caption) {
  const above = caption ? inMarkdown(caption) : "";
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const ruled = head.map((_, at) => (isNumbers(body, at) ? "---:" : "---"));
  return above + [line(head), line(ruled), ...body.map(line)].join("\n") + "\n";
}

function isNumbers(body, at) {
  return body.every((row) => /^[^A-Za-z]*\d|^[–-]?$/.test(row[at] ?? ""));
}

function asTsv({ head, body }) {
  return [head, ...body].map((cells) => cells.join("\t")).join("\n") + "\n";
}

function asCsv({ head, body }) {
  const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [head, ...body].map((cells) => cells.map(field).join(",")).join("\n") + "\n";
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--", "\u202f": "\\," };

/** A tabular, with a caption in a table of its own: numbers to the right; signs of LaTeX's stand for themselves. */
function asLatex({ head, body }, caption) {
  const said = (text) => text.replace(/ ?[▲▼]/g, "").replace(/[\\~^–\u202f]|[&%$#_{}]/g, (sign) => LATEX[sign] ?? `\\${sign}`);
  const line = (cells) => `${cells.map(said).join(" & ")} \\\\`;
  const columns = head.map((_, at) => (isNumbers(body, at) ? "r" : "l")).join("");
  const rows = [`\\begin{tabular}{${columns}}`, "\\hline", line(head), "\\hline", ...body.map(line), "\\hline", "\\end{tabular}"];
  const begun = caption ? ["\\begin{table}", "\\centering", `\\caption{${said(caption.all)}}`] : [];
  return [...begun, ...rows, ...(caption ? ["\\end{table}"] : [])].join("\n") + "\n";
}

customElements.define("table-tools", TableTools);
