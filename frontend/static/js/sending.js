// Sending one large file in pieces: resumed after a break, tried again by itself, can be paused and cancelled.

import { fingerprint, sha256 } from "./files.js";

const PIECE = 8 * 1024 * 1024;
const LONGEST_WAIT_S = 30;

/** What the server says against the file: trying again would not help. */
export class Refused extends Error {}

class Stopped extends Error {}

/** One file on its way. `sent` are bytes that left, `confirmed` those that arrived. `changed` is called whenever there is something new to show. */
export class Sending {
  state = "waiting";
  sent = 0;
  said = "";
  confirmed = 0;
  token = null;

  constructor(path, file, { address, secret, changed }) {
    Object.assign(this, { path, file, address, secret, changed });
  }

  /** Send it until all is there, or somebody pauses or cancels it. Throws Refused. */
  async run() {
    this.#set("sending");
    for (let failures = 0; this.state === "sending"; ) {
      const before = this.confirmed;
      try {
        await this.#go();
      } catch (error) {
        if (error instanceof Stopped) return;
        if (error instanceof Refused) {
          this.#set("failed", error.message);
          throw error;
        }
        failures = this.confirmed > before ? 1 : failures + 1;
        await this.#wait(Math.min(2 ** (failures - 1), LONGEST_WAIT_S), error.message);
      }
    }
  }

  pause() {
    this.#stop("paused");
  }

  /** Let it wait for its turn again, after a pause or a refusal. */
  resume() {
    this.#set("waiting");
  }

  /** Stop, and forget what is at the server. */
  cancel() {
    const forget = this.token && this.state !== "done" ? this.token : null;
    this.#stop("cancelled");
    if (forget) this.#ask("DELETE", `${this.address}${forget}/`).catch(() => {});
  }

  #stop(state) {
    if (this.state === "done") return;
    this.#set(state);
    this.request?.abort();
    this.awake?.();
  }

  async #go() {
    this.print ??= await fingerprint(this.file);
    const about = JSON.stringify({ path: this.path, size: this.file.size, fingerprint: this.print });
    // Beginning again tells where to go on, whatever has become of the last request.
    const begun = await this.#ask("POST", this.address, about, { "Content-Type": "application/json" });
    this.token = begun.token;
    let at = begun.received;
    this.confirmed = at;
    this.#moved(at);
    while (at < this.file.size) at = await this.#piece(at);
    this.#set("done");
  }

  async #piece(at) {
    const bytes = await this.file.slice(at, at + PIECE).arrayBuffer().catch(() => {
      throw new Refused("The file changed or went away while it was sent. Choose it again.");
    });
    const headers = { "Content-Type": "application/octet-stream", "Upload-Offset": String(at) };
    const digest = await sha256(bytes);
    if (digest) headers["Content-Digest"] = `sha-256=:${digest}:`;
    const answer = await this.#ask("PATCH", `${this.address}${this.token}/`, bytes, headers, (loaded) => this.#moved(at + loaded));
    this.confirmed = answer.received;
    this.#moved(answer.received);
    return answer.received;
  }

  #moved(bytes) {
    this.sent = Math.min(bytes, this.file.size);
    this.changed(this);
  }

  #set(state, said = "") {
    Object.assign(this, { state, said });
    this.changed(this);
  }

  /** Wait before trying again; the browser's word that the network is back, or a click, ends it. */
  async #wait(seconds, why) {
    if (this.state !== "sending") return;
    this.sent = this.confirmed;
    this.#set("sending", `${why}; trying again in ${seconds} s`);
    await new Promise((resolve) => {
      this.awake = resolve;
      setTimeout(resolve, seconds * 1000);
      addEventListener("online", resolve, { once: true });
    });
    if (this.state === "sending") this.#set("sending");
  }

  #ask(method, address, body = null, headers = {}, progress = null) {
    if (this.state !== "sending" && method !== "DELETE") throw new Stopped();
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, address);
      const all = { Accept: "application/json", "X-CSRFToken": this.secret(), ...headers };
      for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
      if (progress) request.upload.addEventListener("progress", (event) => progress(event.loaded));
      request.addEventListener("load", () => this.#answered(request, resolve, reject));
      request.addEventListener("error", () => reject(new Error("The connection broke")));
      request.addEventListener("abort", () => reject(new Stopped()));
      if (method !== "DELETE") this.request = request;
      request.send(body);
    });
  }

  #answered(request, resolve, reject) {
    let answer = {};
    try {
      answer = JSON.parse(request.responseText || "{}");
    } catch {
      // Not from perfdb: a proxy, or an error page.
    }
    if (request.status >= 200 && request.status < 300) resolve(answer);
    else if (request.status === 409 && "received" in answer) resolve(answer);
    else if (request.status === 404 || request.status === 409) reject(new Error("The server has begun it anew"));
    else if (request.status === 401 || request.status === 403) reject(new Refused("You are signed out. Sign in in another tab, then press Try again to resume."));
    else if (request.status === 413) reject(new Refused("A server in between takes fewer bytes at once than a piece has."));
    else if (request.status >= 400 && request.status < 500 && !/damaged/.test(answer.detail ?? "")) reject(new Refused(answer.detail ?? `The server answered ${request.status}`));
    else reject(new Error(`The server answered ${request.status}`));
  }
}
