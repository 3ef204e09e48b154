// What a file is recognised as before it is sent: the server looks at its beginning, a few files at a time.

const BEGINNING = 256 * 1024;
const AT_ONCE = 2;
const MOST = 200; // of more files the preview tells
const ARCHIVES = /\.(zip|tar|tgz|tar\.(gz|bz2|xz))$/i;

const waiting = [];
let asked = 0;
let working = 0;

/**
 * Say what a file is, as soon as it is known.
 * @param {string} path
 * @param {File} file
 * @param {string} address of who recognises
 * @param {() => string} secret for forms
 * @param {(text: string) => void} say
 */
export function recognise(path, file, address, secret, say) {
  if (ARCHIVES.test(path)) {
    say("an archive; its files are recognised once it is sent");
    return;
  }
  asked += 1;
  if (asked > MOST) return;
  waiting.push({ path, file, address, secret, say });
  work();
}

async function work() {
  if (working >= AT_ONCE || !waiting.length) return;
  working += 1;
  const next = waiting.shift();
  next.say(await answered(next));
  working -= 1;
  work();
}

async function answered({ path, file, address, secret }) {
  try {
    const url = `${address}?name=${encodeURIComponent(path)}`;
    const headers = { "X-CSRFToken": secret(), "Content-Type": "application/octet-stream" };
    const answer = await fetch(url, { method: "POST", headers, body: file.slice(0, BEGINNING) });
    if (!answer.ok) return "";
    const { title } = await answer.json();
    if (title) return title;
    // What was cut off may only be known as a whole.
    return file.size > BEGINNING ? "" : "not recognised: the preview asks for its format";
  } catch {
    return "";
  }
}
