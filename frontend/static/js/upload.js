// Collects files by dropping (folders too) or choosing, and sends them with their relative paths and progress.

const form = document.querySelector("[data-upload]");
const input = form.querySelector("#files");
const folder = form.querySelector("#folder");
const status = form.querySelector("[data-chosen-files]");
const none = form.querySelector("[data-none-chosen]");
const errors = document.querySelector("[data-errors]");
const LISTED = 5;

/** @type {Map<string, File>} The files to send by relative path: the same path twice is the same file. */
const chosen = new Map();

function add(entries) {
  for (const [path, file] of entries) chosen.set(path, file);
  const paths = [...chosen.keys()];
  const more = paths.length > LISTED ? ` and ${paths.length - LISTED} more` : "";
  status.textContent = paths.length
    ? `${paths.length} file${paths.length === 1 ? "" : "s"}, ${size(total())}: ${paths.slice(0, LISTED).join(", ")}${more}`
    : "";
  none.hidden = paths.length === 0;
  show(tooMuch());
}

const total = () => [...chosen.values()].reduce((sum, file) => sum + file.size, 0);

/** Why the server would refuse this many files or bytes, said before they are sent. */
function tooMuch() {
  const { mostFiles, mostBytes } = form.dataset;
  const reasons = [];
  if (chosen.size > mostFiles) reasons.push(`These are ${chosen.size} files, and at most ${mostFiles} are taken at once. Pack them into a .zip, or send fewer.`);
  if (total() > mostBytes) reasons.push(`The files have ${size(total())} together, and at most ${size(Number(mostBytes))} are taken at once. Send fewer.`);
  return reasons;
}

function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  let at = 0;
  while (bytes >= 1024 && at < units.length - 1) {
    bytes /= 1024;
    at += 1;
  }
  return `${at ? bytes.toFixed(1) : bytes} ${units[at]}`;
}

/** All files below a dropped entry. readEntries gives a hundred at a time, so it is called until it gives none. */
async function walk(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [[entry.fullPath.replace(/^\//, ""), file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return found;
    for (const child of batch) found.push(...(await walk(child)));
  }
}

async function dropped(event) {
  event.preventDefault();
  document.body.classList.remove("dragging");
  // Entries must be taken before the first await: the list of items is emptied after the event.
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const loose = entries.length ? [] : [...event.dataTransfer.files].map((file) => [file.name, file]);
  try {
    for (const entry of entries) loose.push(...(await walk(entry)));
    add(loose);
  } catch (error) {
    show([`A dropped file could not be read: ${error.message}. Choose it by the button instead.`]);
  }
}

function show(messages) {
  errors.replaceChildren(...messages.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
  errors.hidden = messages.length === 0;
}

function send() {
  const refused = chosen.size ? tooMuch() : ["Choose the files first, or drop them anywhere on this page."];
  if (refused.length) {
    show(refused);
    return;
  }
  const data = new FormData(form);
  data.delete("files");
  for (const [path, file] of chosen) {
    data.append("files", file, file.name);
    data.append("paths", path);
  }
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.upload.addEventListener("progress", (event) => progress(event.loaded, event.total));
  request.addEventListener("load", () => answered(request));
  request.addEventListener("error", () => failed(["The connection broke before all was sent. Nothing was stored; send it again."]));
  show([]);
  busy(true);
  request.send(data);
}

function progress(loaded, total) {
  form.querySelector("#sent").value = total ? loaded / total : 0;
  form.querySelector("[data-sent]").textContent = `${size(loaded)} of ${size(total)}`;
}

function answered(request) {
  let answer = {};
  try {
    answer = JSON.parse(request.responseText);
  } catch {
    // Not from perfdb: a proxy, or an error page.
  }
  if (answer.url) location.assign(answer.url);
  else failed(answer.errors ?? [unexpected(request)]);
}

/** An answer that is none of perfdb's own to this form. */
function unexpected(request) {
  const signedOut = request.status === 403 || (request.status === 200 && request.responseURL !== form.action);
  if (signedOut) return "Nothing was stored: you are signed out, or this page was open for too long. Sign in, then send it again.";
  if (request.status === 413) return "Nothing was stored: a server in between takes fewer bytes at once. Send fewer files, or pack them into a .zip.";
  return `Nothing was stored: the server answered ${request.status}. Reload the page and send it again.`;
}

function failed(messages) {
  busy(false);
  show(messages);
}

function busy(is) {
  form.querySelector("[data-transfer]").hidden = !is;
  form.querySelector("button[type=submit]").disabled = is;
}

function setUp() {
  for (const element of form.querySelectorAll("[data-js]")) element.hidden = false;
  form.classList.add("scripted");
  for (const label of form.querySelectorAll(".choose label")) label.classList.add("button");
  // The script says it when nothing was chosen: files that were dropped are not in the input.
  input.required = false;
  none.addEventListener("click", () => {
    chosen.clear();
    for (const chooser of [input, folder]) chooser.value = "";
    add([]);
    input.focus();
  });
  const choosers = new Map([[input, (file) => file.name], [folder, (file) => file.webkitRelativePath]]);
  for (const [chooser, path] of choosers) {
    const take = () => add([...chooser.files].map((file) => [path(file), file]));
    chooser.addEventListener("change", take);
    // Somebody may have been quicker than this script.
    if (chooser.files.length) take();
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", dropped);
}

setUp();
