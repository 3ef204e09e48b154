// The upload form: collects files, sends large ones in pieces and the others with the form, and says how far it is.

import { duration, size } from "./files.js";
import { Queue } from "./queue.js";
import { recognise } from "./recognise.js";
import { Sending } from "./sending.js";

// What goes with the form itself; the smallest files first. Beyond that a break must not cost all that was sent.
const WITH_FORM = 16 * 1024 * 1024;
const SPEED_OVER_MS = 5000;
const LONGEST_WAIT_S = 30;

class UploadForm {
  #busy = false;
  #marks = [];
  #poke = () => {};

  constructor(form) {
    this.form = form;
    this.errors = document.querySelector("[data-errors]");
    this.status = form.querySelector("[data-chosen-files]");
    this.none = form.querySelector("[data-none-chosen]");
    this.input = form.querySelector("#files");
    this.folder = form.querySelector("#folder");
    this.queue = new Queue(form.querySelector("[data-queue]"), {
      pause: (row) => this.#pause(row),
      remove: (row) => this.#remove(row),
      locked: (row) => this.#busy && !row.sending,
      recognise: (path, file, say) => recognise(path, file, form.dataset.recognise, () => this.#secret(), say),
    });
    this.#listen();
  }

  #listen() {
    for (const element of document.querySelectorAll("#content [data-js]")) element.hidden = false;
    this.form.classList.add("scripted");
    for (const label of this.form.querySelectorAll(".choose label")) label.classList.add("button");
    // The script says it when nothing was chosen: files that were dropped are not in the input.
    this.input.required = false;
    const choosers = new Map([[this.input, (file) => file.name], [this.folder, (file) => file.webkitRelativePath]]);
    for (const [chooser, path] of choosers) {
      const take = () => {
        this.add([...chooser.files].map((file) => [path(file), file]));
        chooser.value = "";
      };
      chooser.addEventListener("change", take);
      // Somebody may have been quicker than this script.
      if (chooser.files.length) take();
    }
    this.none.addEventListener("click", () => {
      this.queue.clear();
      this.add([]);
      this.input.focus();
    });
    this.form.addEventListener("perfdb:files", (event) => this.add(event.detail));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.#busy) this.#send();
    });
    addEventListener("beforeunload", (event) => {
      if (this.#busy) event.preventDefault();
    });
    for (const button of document.querySelectorAll("[data-forget]")) button.addEventListener("click", () => this.#forget(button));
  }

  add(files) {
    this.queue.add(files);
    const { rows, bytes } = this.queue;
    this.status.textContent = rows.length ? `${rows.length} file${rows.length === 1 ? "" : "s"}, ${size(bytes)}` : "";
    this.none.hidden = rows.length === 0 || this.#busy;
    if (this.#busy) this.#poke();
    else this.#show(this.#tooMuch());
  }

  /** Why the server would refuse this many files or bytes, said before they are sent. */
  #tooMuch() {
    const { mostFiles, mostBytes } = this.form.dataset;
    const { rows, bytes } = this.queue;
    const reasons = [];
    if (rows.length > mostFiles) reasons.push(`These are ${rows.length} files, and at most ${mostFiles} are taken at once. Pack them into a .zip, or send fewer.`);
    if (bytes > mostBytes) reasons.push(`The files have ${size(bytes)} together, and at most ${size(Number(mostBytes))} are taken at once. Send fewer.`);
    return reasons;
  }

  async #pause(row) {
    if (row.sending.state === "failed") await this.#renewSecret();
    if (["paused", "failed"].includes(row.sending.state)) row.sending.resume();
    else row.sending.pause();
    this.#poke();
    if (!this.#busy && row.sending.state === "waiting") this.#send();
  }

  #remove(row) {
    this.queue.remove(row);
    this.add([]);
  }

  async #forget(button) {
    const headers = { "X-CSRFToken": this.#secret() };
    const answer = await fetch(button.dataset.forget, { method: "DELETE", headers }).catch(() => null);
    if (answer?.ok || answer?.status === 404) button.closest("li").remove();
    else this.#show(["It could not be discarded; reload the page and try again."]);
  }

  #secret() {
    return this.form.querySelector("[name=csrfmiddlewaretoken]").value;
  }

  /** Who signs in again gets another secret for forms. */
  async #renewSecret() {
    const answer = await fetch(location.href).catch(() => null);
    const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page && page.querySelector("[data-upload] [name=csrfmiddlewaretoken]");
    if (fresh) this.form.querySelector("[name=csrfmiddlewaretoken]").value = fresh.value;
  }

  async #send() {
    const refused = this.queue.rows.length ? this.#tooMuch() : ["Choose the files first, or drop them anywhere on this page."];
    this.#show(refused);
    if (refused.length) return;
    this.#setBusy(true);
    this.#marks = [];
    await this.#sendLarge();
    const failed = this.queue.rows.filter((row) => row.sending?.state === "failed");
    if (!this.queue.rows.length) this.#failed([]);
    else if (failed.length) this.#failed(failed.map((row) => `${row.path} was not sent: ${row.said} Try it again, or remove it to send the others.`));
    else await this.#sendForm();
  }

  /** One after the other; files that are added meanwhile come in turn, and paused ones are waited for. */
  async #sendLarge() {
    for (;;) {
      this.#divide();
      const large = this.queue.rows.filter((row) => row.sending);
      const next = large.find((row) => row.sending.state === "waiting");
      if (next) await next.sending.run().catch(() => {});
      else if (large.some((row) => row.sending.state === "paused")) {
        await new Promise((resolve) => {
          this.#poke = resolve;
        });
      } else return;
    }
  }

  #divide() {
    let room = WITH_FORM;
    for (const row of this.queue.rows.sort((one, other) => one.file.size - other.file.size)) {
      room -= row.file.size;
      if (room >= 0 || row.sending) continue;
      row.sending = new Sending(row.path, row.file, {
        address: this.form.dataset.pieces,
        secret: () => this.#secret(),
        changed: () => this.#moved(row),
      });
      row.show();
    }
  }

  #moved(row) {
    row.show();
    this.#progress();
  }

  /** Send the form with the small files; again by itself when the connection breaks. */
  async #sendForm() {
    for (let failures = 1; ; failures += 1) {
      const request = await this.#posted();
      if (request.status) {
        this.#answered(request);
        return;
      }
      const seconds = Math.min(2 ** (failures - 1), LONGEST_WAIT_S);
      this.#say(`The connection broke; trying again in ${seconds} s`);
      await new Promise((resolve) => {
        setTimeout(resolve, seconds * 1000);
        addEventListener("online", resolve, { once: true });
      });
    }
  }

  #posted() {
    const data = new FormData(this.form);
    data.delete("files");
    const small = this.queue.rows.filter((row) => !row.sending);
    for (const row of small) {
      data.append("files", row.file, row.file.name);
      data.append("paths", row.path);
    }
    for (const row of this.queue.rows) if (row.sending) data.append("pieces", row.sending.token);
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open("POST", this.form.action);
      request.setRequestHeader("Accept", "application/json");
      request.upload.addEventListener("progress", (event) => this.#spread(small, event.loaded / event.total));
      request.addEventListener("loadend", () => resolve(request));
      request.send(data);
    });
  }

  /** The part of the form that has left, over its files: they go one after the other. */
  #spread(small, part) {
    let left = part * small.reduce((sum, row) => sum + row.file.size, 0);
    for (const row of small) {
      const sent = Math.max(0, Math.min(row.file.size, Math.round(left)));
      left -= row.file.size;
      const state = part >= 1 || left >= 0 ? "done" : "sending";
      if (row.sent !== sent || row.state !== state) row.show({ state, sent, said: "" });
    }
    this.#progress();
  }

  #progress() {
    const rows = this.queue.rows;
    const sent = rows.reduce((sum, row) => sum + row.sent, 0);
    const total = this.queue.bytes;
    this.form.querySelector("#sent").value = total ? sent / total : 1;
    const stopped = rows.some((row) => row.said);
    if (stopped) this.#marks = [];
    const rest = sent < total ? this.#speed(sent, total) : ", all sent: the server puts it away";
    this.#say(`${size(sent)} of ${size(total)}${stopped ? "" : rest}`);
  }

  /** How fast it was in the last seconds, and how long the rest takes at that speed. */
  #speed(sent, total) {
    const now = performance.now();
    this.#marks = [...this.#marks.filter(([at, bytes]) => now - at < SPEED_OVER_MS && bytes <= sent), [now, sent]];
    const [first, bytes] = this.#marks[0];
    const perSecond = ((sent - bytes) / (now - first)) * 1000;
    if (!(now - first > 500 && perSecond > 0)) return "";
    return `, ${size(Math.round(perSecond))}/s, ${duration((total - sent) / perSecond)} left`;
  }

  #say(text) {
    this.form.querySelector("[data-sent]").textContent = text;
  }

  #answered(request) {
    let answer = {};
    try {
      answer = JSON.parse(request.responseText);
    } catch {
      // Not from perfdb: a proxy, or an error page.
    }
    if (!answer.url) {
      this.#failed(answer.errors ?? [this.#unexpected(request)]);
      return;
    }
    this.#busy = false;
    location.assign(answer.url);
  }

  /** An answer that is none of perfdb's own to this form. */
  #unexpected(request) {
    const signedOut = request.status === 403 || (request.status === 200 && request.responseURL !== this.form.action);
    if (signedOut) return "Nothing was stored: you are signed out, or this page was open for too long. Sign in in another tab, then send it again.";
    if (request.status === 413) return "Nothing was stored: a server in between takes fewer bytes at once. Send fewer files, or pack them into a .zip.";
    return `Nothing was stored: the server answered ${request.status}. Send it again.`;
  }

  #failed(messages) {
    this.#setBusy(false);
    for (const row of this.queue.rows) if (!row.sending) row.show({ state: "waiting", sent: 0, said: "" });
    this.add([]);
    this.#show(messages);
    this.#renewSecret();
  }

  #show(messages) {
    this.errors.replaceChildren(...messages.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    this.errors.hidden = messages.length === 0;
  }

  #setBusy(is) {
    this.#busy = is;
    this.form.querySelector("[data-transfer]").hidden = !is;
    this.form.querySelector("button[type=submit]").disabled = is;
    this.none.hidden = is || this.queue.rows.length === 0;
    for (const row of this.queue.rows) row.show();
  }
}

/** Bring a form to life that has come onto the page. */
export function setUpForm(form) {
  return new UploadForm(form);
}

const present = document.querySelector("[data-upload]");
if (present) setUpForm(present);
