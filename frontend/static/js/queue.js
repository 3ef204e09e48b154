// The list of files to send: a row each, with its size, how far it is, and buttons to pause, remove or try again.

import { size } from "./files.js";

const WORDS = { waiting: "", sending: "", paused: "paused", done: "sent", failed: "" };

/** One file of the queue; `sending` is there once it goes in pieces. */
class Row {
  constructor(path, file, acts) {
    Object.assign(this, { path, file, acts, sending: null, state: "waiting", sent: 0, said: "" });
    this.element = document.createElement("li");
    this.progress = Object.assign(document.createElement("progress"), { max: Math.max(1, file.size), value: 0, hidden: true });
    this.progress.setAttribute("aria-label", `${path} sent`);
    this.words = Object.assign(document.createElement("span"), { className: "queue-said" });
    this.pause = this.#button("Pause", () => acts.pause(this));
    this.remove = this.#button("Remove", () => acts.remove(this));
    const name = Object.assign(document.createElement("span"), { className: "queue-name" });
    const kind = Object.assign(document.createElement("span"), { className: "queue-kind" });
    name.append(Object.assign(document.createElement("span"), { className: "mono path", textContent: path }), kind);
    acts.recognise(path, file, (text) => (kind.textContent = text));
    const bytes = Object.assign(document.createElement("span"), { className: "number muted", textContent: size(file.size) });
    this.element.append(name, bytes, this.progress, this.words, this.pause, this.remove);
    this.show();
  }

  #button(text, act) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button small", textContent: text });
    button.append(Object.assign(document.createElement("span"), { className: "hidden-text", textContent: ` ${this.path}` }));
    button.addEventListener("click", act);
    return button;
  }

  /** Take over how far it is, and show it. */
  show({ state, sent, said } = this.sending ?? this) {
    Object.assign(this, { state, sent, said });
    this.element.dataset.state = state;
    this.progress.hidden = state === "waiting" && !sent;
    this.progress.value = this.file.size ? sent : Number(state === "done");
    const far = sent && state !== "done" ? `${size(sent)} of ${size(this.file.size)}` : "";
    this.words.textContent = [far, WORDS[state], said].filter(Boolean).join(" · ");
    this.words.classList.toggle("error", state === "failed");
    this.pause.hidden = !this.sending || state === "done";
    this.pause.firstChild.data = { paused: "Resume", failed: "Try again" }[state] ?? "Pause";
    this.remove.hidden = this.acts.locked(this);
  }
}

/** All files to send, by relative path. Another file of a path that is taken goes to a folder `2`, `3` …: none is lost. */
export class Queue {
  #rows = new Map();

  constructor(list, acts) {
    Object.assign(this, { list, acts });
  }

  get rows() {
    return [...this.#rows.values()];
  }

  get bytes() {
    return this.rows.reduce((sum, row) => sum + row.file.size, 0);
  }

  add(files) {
    const fresh = document.createDocumentFragment();
    for (const [name, file] of files) {
      const path = this.#place(name, file);
      const known = this.#rows.get(path);
      if (known && (known.state === "done" || known.state === "sending")) continue;
      if (known) this.remove(known);
      const row = new Row(path, file, this.acts);
      this.#rows.set(path, row);
      fresh.append(row.element);
    }
    this.list.append(fresh);
    this.list.hidden = this.#rows.size === 0;
  }

  /** The path for a file: its own, unless another file has it. A failed one gives way to its new version. */
  #place(name, file) {
    const fits = (row) => !row || row.state === "failed" || (row.file.size === file.size && row.file.lastModified === file.lastModified);
    let path = name;
    for (let folder = 2; !fits(this.#rows.get(path)); folder += 1) path = `${folder}/${name}`;
    return path;
  }

  remove(row) {
    row.sending?.cancel();
    this.#rows.delete(row.path);
    row.element.remove();
    this.list.hidden = this.#rows.size === 0;
  }

  clear() {
    for (const row of this.rows) this.remove(row);
  }
}
