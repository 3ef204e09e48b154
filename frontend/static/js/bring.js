// On every page: files that are dropped or pasted anywhere go to the upload form, which opens with them in place.

import { filesIn } from "./files.js";
import { park, unpark, waits } from "./parked.js";

const veil = document.createElement("div");
const uploadLink = () => document.querySelector(".top a.primary[href*='/uploads/new/']");
const signInLink = () => document.querySelector(".top .side a[href*='/sign-in/']");
const form = () => document.querySelector("[data-upload]");
let depth = 0;

function setUp() {
  veil.className = "veil";
  veil.hidden = true;
  veil.append(Object.assign(document.createElement("p"), { textContent: lead() }));
  document.body.append(veil);
  document.addEventListener("dragenter", (event) => moved(event, 1));
  document.addEventListener("dragleave", (event) => moved(event, -1));
  document.addEventListener("dragover", (event) => {
    if (concernsUs(event)) event.preventDefault();
  });
  document.addEventListener("drop", dropped);
  document.addEventListener("paste", pasted);
  if (waits() && uploadLink()) unpark().then(bring);
}

function lead() {
  if (uploadLink()) return "Drop files, folders or a .zip to upload them";
  return "Drop files to upload them: you will be asked to sign in, and they wait here meanwhile";
}

/** Files, and not onto a field that takes them itself. */
function concernsUs(event) {
  const own = event.target instanceof Element && event.target.closest("input[type=file]:not([data-upload] *)");
  return event.dataTransfer?.types.includes("Files") && !own && (uploadLink() || signInLink());
}

/** Entering a child comes before leaving its parent: the drag has left when as many were left as entered. */
function moved(event, step) {
  if (!event.dataTransfer?.types.includes("Files") || !(uploadLink() || signInLink())) return;
  depth = Math.max(0, depth + step);
  veil.hidden = depth === 0;
}

async function dropped(event) {
  depth = 0;
  veil.hidden = true;
  if (!concernsUs(event)) return;
  event.preventDefault();
  try {
    await bring(await filesIn(event.dataTransfer));
  } catch (error) {
    notify(`A dropped file could not be read: ${error.message}. Choose it by the button of the upload page instead.`);
  }
}

/** Text of one line is what people paste by mistake: it is no log. */
const isLog = (text) => /\S.*\n.*\S/s.test(text);

async function pasted(event) {
  const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
  if (typing || !(uploadLink() || signInLink())) return;
  const text = event.clipboardData.getData("text/plain");
  if (event.clipboardData.files.length) {
    event.preventDefault();
    await bring(await filesIn(event.clipboardData));
  } else if (isLog(text)) {
    event.preventDefault();
    const name = await nameOf(text);
    await bring([[name, new File([text], name, { type: "text/plain" })]]);
  }
}

/** A name by what the text is recognised as, and by the time: two pastes are two files. */
async function nameOf(text) {
  const at = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString();
  const moment = at.slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  return `${(await recognised(text)) || "pasted"}-${moment}.txt`;
}

async function recognised(text) {
  const link = uploadLink();
  const token = document.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!link || !token) return "";
  try {
    const address = new URL("../recognise/", link.href);
    const answer = await fetch(address, { method: "POST", headers: { "X-CSRFToken": token, "Content-Type": "text/plain" }, body: text });
    return answer.ok ? (await answer.json()).format : "";
  } catch {
    return "";
  }
}

/** Hand files ([path, file]) to the upload form, opening its page where this is another one. */
async function bring(files) {
  if (!files.length) {
    notify("There was no file in what was dropped.");
    return;
  }
  if (!uploadLink()) {
    await askToSignIn(files);
    return;
  }
  if (!form() && !(await openForm())) {
    await askToSignIn(files);
    return;
  }
  form().dispatchEvent(new CustomEvent("perfdb:files", { detail: files }));
}

/** Exchange the content of this page for the upload form: a new page would know nothing of the files. */
async function openForm() {
  const answer = await fetch(uploadLink().href).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!page || !page.querySelector("[data-upload]")) return false;
  const { setUpForm } = await import("./upload.js");
  document.querySelector("#content").replaceWith(document.adoptNode(page.querySelector("#content")));
  document.querySelector(".top .nav").replaceWith(document.adoptNode(page.querySelector(".top .nav")));
  document.title = page.title;
  history.pushState({ perfdbUpload: true }, "", uploadLink().href);
  // Going back shows the page that was there.
  addEventListener("popstate", () => location.reload(), { once: true });
  setUpForm(form());
  document.querySelector("#content").focus();
  scrollTo(0, 0);
  return true;
}

async function askToSignIn(files) {
  const names = files.length === 1 ? files[0][0] : `${files.length} files`;
  const kept = await park(files);
  const link = signInLink();
  const address = link?.href ?? "/sign-in/";
  notify(
    kept ? `Uploading needs somebody who signed in. ${names} will wait in this browser until then.` : `Uploading needs somebody who signed in, and ${names} cannot be kept until then: sign in first, then drop again.`,
    Object.assign(document.createElement("a"), { href: address, textContent: "Sign in", className: "button primary" }),
  );
}

/** Say something at the top of the content. */
function notify(text, ...more) {
  const notice = document.createElement("div");
  notice.className = "notice warn brought";
  notice.setAttribute("role", "alert");
  notice.append(Object.assign(document.createElement("p"), { textContent: text }), ...more);
  document.querySelector(".brought")?.remove();
  document.querySelector("#content").prepend(notice);
  notice.scrollIntoView({ block: "nearest" });
}

setUp();
